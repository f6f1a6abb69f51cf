import { describe, expect, it, vi } from 'vitest';
import { artifactSchema } from '../../src/contract/index.ts';
import { createFunctions, createSharpPictureWorker } from '../../src/functions/index.ts';
import type { JsonObject } from '../../src/kernel/index.ts';
import { createMemorySpool } from '../../src/media/index.ts';
import { readSlides } from './read-pptx.ts';

const spool = createMemorySpool();
const functions = createFunctions({
  redLines: { rules: [], avoid: [] },
  pictures: createSharpPictureWorker(),
  media: spool,
});
const signal = new AbortController().signal;
const run = async (name: string, input: JsonObject): Promise<JsonObject> => {
  const made = await functions.get(name)!(input, signal);
  if (!made.ok) throw new Error(made.failure.advice ?? made.failure.message);
  return made.value;
};

describe('outlines', () => {
  it('are written for people and read back as they were', async () => {
    const pages = [
      { title: '为什么', points: ['甲', '乙'] },
      { title: '怎么做', points: ['丙'] },
    ];
    const { text } = await run('outline.write', { pages });
    expect(text).toBe('第1页：为什么\n- 甲\n- 乙\n\n第2页：怎么做\n- 丙');
    const read = await run('outline.read', { text: text! });
    expect(read).toEqual({ pages: pages.map((page, index) => ({ number: index + 1, ...page })), count: 2 });
  });

  it('are read as staff left them: pages deleted, marks changed, numbers wrong', async () => {
    const text = '第3页 结论\n• 甲\n\n5. 附录\n乙\nSlide 9: End\n';
    expect((await run('outline.read', { text }))['pages']).toEqual([
      { number: 1, title: '结论', points: ['甲'] },
      { number: 2, title: '附录', points: ['乙'] },
      { number: 3, title: 'End', points: [] },
    ]);
  });

  it('without pages, or with too many, are sent back with what to write', async () => {
    await expect(run('outline.read', { text: '随便写点' })).rejects.toThrow(/第1页：标题/);
    const long = Array.from({ length: 31 }, (_, index) => `第${index + 1}页：甲`).join('\n');
    await expect(run('outline.read', { text: long })).rejects.toThrow(/31 页，最多 30 页/);
  });

  it.each([
    [null, 8],
    ['', 8],
    ['12', 12],
    [3, 3],
  ])('take %j pages as %i', async (value, wanted) => {
    expect(await run('number.whole', { value, preset: 8, min: 3, max: 30, name: '页数' })).toEqual({ value: wanted });
  });

  it.each([2, 31, 4.5, '许多'])('refuse %j pages', async (value) => {
    await expect(run('number.whole', { value, preset: 8, min: 3, max: 30, name: '页数' })).rejects.toThrow(/3 到 30/);
  });
});

describe('the deck', () => {
  it('is a real .pptx: a title slide and one slide a page, with notes', async () => {
    const outline = [
      { number: 1, title: '一', points: ['甲'] },
      { number: 2, title: '二', points: ['乙', '丙'] },
    ];
    const made = await run('deck.pptx', {
      topic: '季度 <总结> & "展望"',
      outline,
      pages: [{ title: '第一', bullets: ['要点 A', '要点 B'], notes: '开场白' }, null],
      name: '演示.pptx',
    });
    const file = artifactSchema.parse(made['file']);
    expect(file.name).toMatch(/\.pptx$/);
    expect(file.mime).toContain('presentationml');
    const bytes = await spool.read(file, signal);
    const slides = await readSlides(bytes.ok ? bytes.value : new Uint8Array());
    expect(slides.map((slide) => slide.texts)).toEqual([
      ['季度 <总结> & "展望"', '共 2 页'],
      ['第一', '要点 A', '要点 B', '1 / 2'],
      ['二', '乙', '丙', '2 / 2'],
    ]);
    expect(slides[1]?.notes).toContain('开场白');
    expect(made).toMatchObject({ pages: 2, from_outline: [2] });
  });

  it('is the same file to the byte, whenever it is drawn', async () => {
    const draw = async (now: string): Promise<string> => {
      vi.useFakeTimers({ toFake: ['Date'], now: new Date(now) });
      try {
        const made = await run('deck.pptx', { topic: '甲', outline: [{ number: 1, title: '一', points: ['乙'] }] });
        return artifactSchema.parse(made['file']).hash;
      } finally {
        vi.useRealTimers();
      }
    };
    expect(await draw('2027-03-05T10:11:12Z')).toBe(await draw('2026-11-30T23:59:58Z'));
  });
});
