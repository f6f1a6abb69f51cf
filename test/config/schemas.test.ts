import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { createDirectoryFiles, renderSchemas } from '../../src/config/index.ts';
import { root } from './installation.ts';

const files = createDirectoryFiles(root);
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
const validators = new Map([...renderSchemas()].map(([name, text]) => [name, ajv.compile(JSON.parse(text) as object)]));

/** What an editor sees: the file's own schema, and its value (of a prompt: the front matter). */
async function read(file: string): Promise<{ schema: string; value: unknown }> {
  const text = (await files.read(file)) ?? '';
  const schema = /\$schema=\S*\/([a-z-]+\.json)$/m.exec(text)?.[1] ?? '';
  const yaml = file.endsWith('.md') ? (text.split('---')[1] ?? '') : text;
  return { schema, value: parse(yaml, { merge: true }) };
}

describe('published schemas, as an editor applies them', () => {
  it('take every shipped file', async () => {
    for (const file of [...(await files.list('config', '.yaml')), ...(await files.list('config/prompts', '.md'))]) {
      const { schema, value } = await read(file);
      const validate = validators.get(schema)!;
      expect(validate(value), `${file}: ${ajv.errorsText(validate.errors)}`).toBe(true);
    }
  });

  it.each([
    ['workflow.json', { workflow: 'w', input: {}, nodes: { a: { kind: 'loop' } }, output: {} }],
    ['workflow.json', { workflow: 'w', input: {}, nodes: { a: { kind: 'skill', skil: 'x' } }, output: {} }],
    ['skill.json', { skill: 's', capability: 'text.generate', input: {}, candidates: [] }],
    ['agent.json', { agent: 'a', title: 'A', table_env: 'lower', inputs: {}, stages: [] }],
    ['red-lines.json', { red_lines: [{ rule: '不得裸露', avoid: 'nudity, blood' }] }],
    ['settings.json', { poll: { interval: 30 } }],
  ])('refuse what the loader refuses: %s', (schema, value) => {
    expect(validators.get(schema)!(value)).toBe(false);
  });
});
