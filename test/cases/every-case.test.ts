import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectDirectory } from '../support/outside.ts';

/** The cases from the field, by number: public reports of how other tools of this kind broke. */
const cases = `
001 002 004 006 007 009 011 012 014 016 017 019 021 022 024 026 027 029 031 032 034 036 037 039 041
042 044 046 047 049 051 052 054 056 057 059 061 062 064 066 067 069 071 072 074 076 077 079 081 082
084 086 087 089 091 092 094 096 097 099 101 102 104 106 107 109 111 112 114 116 117 119 121 122 124
126 127 129 131 132 134 136 137 139 141 142 144 146 147 149 151 152 154 156 157 159 161 162 164 166
167 169 171 172 174 176 177
`
  .trim()
  .split(/\s+/)
  .map((number) => `P${number}`);

it('every case from the field stands in the title of a test', () => {
  const folder = join(projectDirectory, 'test');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.test.ts'));
  const titles = files
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .flatMap((text) => text.match(/(?<=['"`][^'"`\n]*)P\d{3}\b/g) ?? []);
  const found = new Set(titles);
  expect(cases.filter((each) => !found.has(each))).toEqual([]);
  expect(cases).toHaveLength(107);
});
