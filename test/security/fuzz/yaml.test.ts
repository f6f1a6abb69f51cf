import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryFiles, formatFault, loadConfig } from '../../../src/config/index.ts';
import { projectDirectory } from '../../support/outside.ts';
import { fuzzRuns } from '../../providers/fuzz-runs.ts';

const read = (file: string): string => readFileSync(join(projectDirectory, file), 'utf8');
const listed = ['agents', 'workflows', 'skills', 'prompts'].flatMap((folder) =>
  readdirSync(join(projectDirectory, 'config', folder)).map((name) => `config/${folder}/${name}`),
);
const always = ['config/gridloom.yaml', 'config/prompts/red-lines.yaml'];
const all = [...new Set([...always, 'config/providers.yaml', ...listed])];
const texts = new Map(all.map((file) => [file, read(file)]));
const textOf = (file: string): string => texts.get(file) ?? '';

/** What a hand, an editor or a merge makes of a file. */
const edit = fc.oneof(
  fc.record({
    kind: fc.constant('insert' as const),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    text: fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.constantFrom(
        '\t',
        ': ',
        '- ',
        '{',
        '}',
        '[',
        '"',
        "'",
        '|',
        '&a ',
        '*a',
        '<<: *a',
        '!!binary x',
        '---\n',
        '%YAML',
        '\n\n  ',
        '{{',
        '}}',
        '{{#x}}',
        '\u0000',
        '\ufeff',
        '__proto__: 1\n',
        'constructor: {}\n',
        '1e999',
        '-1',
        '0x',
        '.nan',
        '~',
        '<<<<<<< HEAD\n',
        '！',
        '：',
      ),
    ),
  }),
  fc.record({
    kind: fc.constant('drop' as const),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.integer({ min: 1, max: 80 }),
  }),
  fc.record({
    kind: fc.constant('double' as const),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.integer({ min: 1, max: 80 }),
  }),
);
type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never;

function apply(text: string, change: Edit): string {
  const at = Math.floor(change.at * text.length);
  switch (change.kind) {
    case 'insert':
      return `${text.slice(0, at)}${change.text}${text.slice(at)}`;
    case 'drop':
      return `${text.slice(0, at)}${text.slice(at + change.length)}`;
    case 'double':
      return `${text.slice(0, at + change.length)}${text.slice(at)}`;
  }
}

/** A small installation: the files that must be there, and the one that was edited. */
async function load(file: string, text: string): Promise<Awaited<ReturnType<typeof loadConfig>>> {
  const files = Object.fromEntries([...always.map((each) => [each, textOf(each)]), [file, text]]) as Record<
    string,
    string
  >;
  return await loadConfig({ files: createMemoryFiles(files), env: {}, sandbox: {} });
}

function expectClear(loaded: Awaited<ReturnType<typeof loadConfig>>): void {
  if (loaded.ok) return;
  expect(loaded.failure.length).toBeGreaterThan(0);
  for (const fault of loaded.failure) {
    expect(formatFault(fault)).toMatch(/^[^\n]+:\d+:\d+\s+\S/);
    expect(fault.line).toBeGreaterThanOrEqual(1);
    expect(fault.column).toBeGreaterThanOrEqual(1);
    expect(fault.what.length).toBeGreaterThan(3);
  }
}

describe('fuzz: YAML and prompts', () => {
  it('edited in any way load, or are refused with place and words', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...all), fc.array(edit, { minLength: 1, maxLength: 4 }), async (file, edits) => {
        expectClear(await load(file, edits.reduce(apply, textOf(file))));
      }),
      fuzzRuns(200),
    );
  });

  it('that hold any value at all where another is wanted are refused in words', async () => {
    const value = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom('30s', '0', '-1s', 'PT1H', '九', '1e400'));
    const key = fc.constantFrom(
      'poll',
      'retry',
      'limits',
      'money',
      'balance',
      'timeouts',
      'transfer',
      '__proto__',
      'toString',
    );
    await fc.assert(
      fc.asyncProperty(key, value, async (name, given) => {
        const text = textOf('config/gridloom.yaml').replace(new RegExp(`^${name}:[\\s\\S]*?(?=^\\S)`, 'm'), '');
        expectClear(await load('config/gridloom.yaml', `${text}\n${name}: ${JSON.stringify(given)}\n`));
      }),
      fuzzRuns(100),
    );
  });

  const laughs = Array.from({ length: 12 }, (_, at) => `l${at + 1}: &l${at + 1} [${`*l${at}, `.repeat(9)}*l${at}]`);
  it.each([
    ['aliases that multiply', ['l0: &l0 x', ...laughs, 'poll: *l12'].join('\n')],
    ['an alias to itself', 'poll: &a [*a]'],
    ['endless nesting', `poll: ${'['.repeat(20_000)}${']'.repeat(20_000)}`],
    ['endless maps', Array.from({ length: 3_000 }, (_, at) => `${' '.repeat(at)}a:`).join('\n')],
    ['a million dashes', `poll: ${'-'.repeat(1_000_000)}`],
    ['a tag that makes objects', 'poll: !!js/function "function () { process.exit() }"'],
    ['keys of prototypes', '__proto__: { polluted: yes }\nconstructor: { prototype: { polluted: yes } }'],
  ])('%s are refused, in time', async (_what, text) => {
    const startedMs = performance.now();
    const loaded = await load('config/gridloom.yaml', text);
    expect(loaded.ok).toBe(false);
    expectClear(loaded);
    expect(performance.now() - startedMs).toBeLessThan(5_000);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});
