import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  createFolderKnowledge,
  createFunctions,
  createSharpPictureWorker,
  type Knowledge,
} from '../../src/functions/index.ts';
import type { JsonObject } from '../../src/kernel/index.ts';
import { createMemorySpool } from '../../src/media/index.ts';

async function search(knowledge: Knowledge | undefined, query: string, limit?: number): Promise<JsonObject> {
  const functions = createFunctions({
    redLines: { rules: [], avoid: [] },
    pictures: createSharpPictureWorker(),
    media: createMemorySpool(),
    ...(knowledge === undefined ? {} : { knowledge }),
  });
  const made = await functions.get('knowledge.search')!(
    { query, ...(limit === undefined ? {} : { limit }) },
    new AbortController().signal,
  );
  if (!made.ok) throw new Error(made.failure.message);
  return made.value;
}

const titles = (found: JsonObject): unknown[] => (found['hits'] as JsonObject[]).map((hit) => hit['title']);
const shop: Knowledge = () =>
  Promise.resolve([
    { source: 'a.md', text: '# 真丝\n桑蚕丝，可机洗。\n# 牛仔\n会有浮色。\n## Denim care\nwash inside out' },
    { source: 'b.md', text: '没有标题的一段，讲真皮护理。' },
  ]);

describe('knowledge.search', () => {
  it('finds the part that speaks of it, in Chinese and English, and names its source', async () => {
    expect(titles(await search(shop, '真丝 洗护'))[0]).toBe('真丝');
    expect(titles(await search(shop, 'denim wash'))[0]).toBe('Denim care');
    const found = await search(shop, '真皮护理');
    expect(found['hits']).toMatchObject([{ source: 'b.md', title: 'b.md' }]);
    expect(found['text']).toContain('[1] b.md（b.md）');
  });

  it('finds nothing where there is nothing, and no more than asked for', async () => {
    expect((await search(shop, '潜水艇'))['hits']).toEqual([]);
    expect((await search(undefined, '真丝'))['text']).toBe('');
    expect((await search(shop, '真丝 牛仔 真皮', 1))['hits']).toHaveLength(1);
  });

  it('finds words of two characters, which full-text indices by three would miss', async () => {
    const texts = ['羊毛', '真丝', '浮色', '机洗'].map((word) => ({
      source: `${word}.md`,
      text: `我们的${word}产品说明。`,
    }));
    for (const word of ['羊毛', '真丝', '浮色', '机洗'])
      expect((await search(() => Promise.resolve(texts), word))['hits']).toMatchObject([{ source: `${word}.md` }]);
  });

  it('finds what was edited between two searches, and no longer what it was before', async () => {
    let text = '# 羊毛\n不可水洗。';
    const functions = createFunctions({
      redLines: { rules: [], avoid: [] },
      pictures: createSharpPictureWorker(),
      media: createMemorySpool(),
      knowledge: () =>
        Promise.resolve([
          { source: 'a.md', text },
          { source: 'b.md', text: '牛仔会有浮色。' },
        ]),
    });
    const find = async (query: string): Promise<unknown> => {
      const made = await functions.get('knowledge.search')!({ query }, new AbortController().signal);
      return made.ok ? made.value['text'] : made.failure.message;
    };
    expect(await find('羊毛')).toContain('不可水洗');
    text = '# 羊绒\n只能干洗。';
    expect(await find('羊绒')).toContain('只能干洗');
    expect(await find('不可水洗')).toBe('');
    expect(await find('浮色')).toContain('牛仔');
  });

  it('fails in words for staff when the documents cannot be read', async () => {
    const functions = createFunctions({
      redLines: { rules: [], avoid: [] },
      pictures: createSharpPictureWorker(),
      media: createMemorySpool(),
      knowledge: () => Promise.reject(new Error('1254302')),
    });
    const made = await functions.get('knowledge.search')!({ query: '羊毛' }, new AbortController().signal);
    expect(made).toMatchObject({
      ok: false,
      failure: { kind: 'unavailable', message: '1254302', advice: expect.stringContaining('知识库') as unknown },
    });
  });

  it('reads a folder anew each time; no folder is no documents', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gridloom-knowledge-'));
    try {
      const knowledge = createFolderKnowledge(folder);
      expect(await knowledge()).toEqual([]);
      await writeFile(join(folder, '面料.md'), '# 羊毛\n不可水洗。');
      await writeFile(join(folder, 'picture.png'), 'x');
      expect(titles(await search(knowledge, '羊毛'))).toEqual(['羊毛']);
      expect(await createFolderKnowledge(join(folder, 'none'))()).toEqual([]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
