import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPlainPainter } from '../../src/sandbox/index.ts';
import { openOutside, projectDirectory, type Outside } from '../support/outside.ts';
import { inProcess } from './kit.ts';

/** Two versions of a prompt on the same input, with the price told before anything is bought. */
describe('compare', () => {
  let outside: Outside;
  let args: readonly string[];
  let page: string;
  beforeEach(async () => {
    outside = await openOutside();
    const inDirectory = (name: string): string => join(outside.dataDir, name);
    const text = await readFile(join(projectDirectory, 'config', 'prompts', 'element-extractor.md'), 'utf8');
    await writeFile(inDirectory('draft.md'), text.replace(/^version: .*$/m, 'version: 99'));
    await writeFile(inDirectory('shirt.png'), await createPlainPainter().draw('<svg/>', 64));
    await writeFile(inDirectory('shirt.yaml'), 'motif: a fox <b>\nground: white\nimages:\n  - file: shirt.png\n');
    page = inDirectory('page.html');
    args = ['compare', 'element-extractor', '--with', inDirectory('draft.md'), '--input', inDirectory('shirt.yaml')];
  });
  afterEach(async () => await outside.close());

  const paidCalls = (): number => outside.sandbox.books.calls()['kie.createTask'] ?? 0;

  it('without --yes it tells the most paid calls and the cost, and calls nobody', async () => {
    const ran = await inProcess([...args, '--out', page], outside.env);
    expect(ran.code, ran.err).toBe(0);
    expect(ran.out).toMatch(/at most 6 paid calls, \d+\.\d{4} CNY; estimated \d+\.\d{4} CNY/);
    expect(ran.out).toContain('add --yes');
    expect(outside.sandbox.books.calls()).toEqual({});
    await expect(readFile(page)).rejects.toThrow('ENOENT');
  });

  it('with --yes each version is bought once, and one page shows both; an equal comparison buys nothing', async () => {
    const first = await inProcess([...args, '--yes', '--out', page], outside.env);
    expect(first.code, first.err).toBe(0);
    expect(paidCalls()).toBe(2);
    const html = await readFile(page, 'utf8');
    expect(html.match(/data:image\/png;base64,/g)).toHaveLength(2);
    expect(html).toContain('element-extractor v99');
    expect(html).toContain('a fox &lt;b&gt;');
    const again = await inProcess([...args, '--yes', '--out', page], outside.env);
    expect(again.code, again.err).toBe(0);
    expect(paidCalls()).toBe(2);
  });

  it('a version of another prompt, and a skill that is not there, are told before the price', async () => {
    for (const [skill, words] of [
      ['element-describer', 'this is a version of "element-extractor"'],
      ['nobody', 'no skill "nobody"'],
    ] as const) {
      const ran = await inProcess(['compare', skill, ...args.slice(2)], outside.env);
      expect([ran.code, ran.err]).toEqual([2, expect.stringContaining(words)]);
    }
  });
});
