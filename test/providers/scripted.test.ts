import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { adapterOf, png, providerWith, signal, prepared } from './provider-world.ts';

const directory = await mkdtemp(join(tmpdir(), 'gridloom-scripted-'));
afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

describe('scripted', () => {
  const file = join(directory, 'answers.yaml');
  const ask = async (prompt: string): Promise<unknown> => {
    const world = providerWith('scripted');
    return await adapterOf(world, 'scripted').submit(
      await prepared(world, 'scripted', { prompt }, { fixed: { file } }),
      signal,
    );
  };

  it('gives the first answer that fits: text, files, failures', async () => {
    await writeFile(join(directory, 'coat.png'), png());
    await writeFile(
      file,
      'answers:\n  - { when: 大衣, text: 一件红色大衣 }\n  - { when: picture, images: [coat.png] }\n  - { when: busy, fail: { kind: overload, message: later } }\n',
    );
    expect(await ask('描述大衣')).toMatchObject({
      kind: 'completed',
      output: { text: '一件红色大衣', finish: 'stop' },
    });
    expect(await ask('a picture')).toMatchObject({
      kind: 'completed',
      output: { images: [{ kind: 'artifact', mime: 'image/png' }] },
    });
    expect(await ask('busy?')).toMatchObject({ kind: 'failed', failure: { kind: 'overload' } });
    expect(await ask('anything else')).toMatchObject({ kind: 'refused', failure: { kind: 'configuration' } });
  });

  it.each([
    ['a kind that does not exist', 'answers: [{ fail: { kind: nonsense, message: x } }]'],
    ['an answer that is two', 'answers: [{ text: a, images: [b.png] }]'],
    ['no YAML', '{{{'],
    ['a missing picture', 'answers: [{ images: [none.png] }]'],
  ])('says what is wrong with the file: %s', async (_what, content) => {
    await writeFile(file, content);
    expect(await ask('x')).toMatchObject({ kind: 'refused', failure: { kind: 'configuration' } });
  });
});
