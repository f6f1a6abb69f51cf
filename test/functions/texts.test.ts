import { describe, expect, it } from 'vitest';
import { createFunctions, splitShots } from '../../src/functions/index.ts';
import type { Failure } from '../../src/contract/index.ts';
import type { JsonObject } from '../../src/kernel/index.ts';
import { createSharpPictureWorker } from '../../src/functions/index.ts';
import { createMemorySpool } from '../../src/media/index.ts';

const redLines = { rules: ['不得裸露。', '人物必须成年。'], avoid: ['nudity', 'minors'] };
const functions = createFunctions({ redLines, pictures: createSharpPictureWorker(), media: createMemorySpool() });

async function run(name: string, input: JsonObject): Promise<JsonObject> {
  const made = await functions.get(name)!(input, new AbortController().signal);
  if (!made.ok) throw new Error(`${made.failure.kind}: ${made.failure.advice ?? made.failure.message}`);
  return made.value;
}

async function failureOf(name: string, input: JsonObject): Promise<Failure> {
  const made = await functions.get(name)!(input, new AbortController().signal);
  if (made.ok) throw new Error('it went well');
  return made.failure;
}

describe('text functions', () => {
  it('append the red lines to whatever a model or a person wrote, once', async () => {
    const english = await run('text.red-lines', { text: 'a dress', language: 'en' });
    expect(english['text']).toBe('a dress\nMust not appear: nudity; minors.');
    expect(await run('text.red-lines', { text: english['text'], language: 'en' })).toEqual(english);
    expect((await run('text.red-lines', { text: '镜头1', language: 'zh' }))['text']).toBe(
      '镜头1\n红线（必须遵守）：不得裸露。人物必须成年。',
    );
  });

  it('fill placeholders, full-width braces included, and refuse a name without a value', async () => {
    const values = { 角色: 'a woman', 产品: 'a red dress' };
    expect(await run('text.fill-placeholders', { text: '{角色}穿着｛产品｝', values })).toEqual({
      text: 'a woman穿着a red dress',
    });
    const failure = await failureOf('text.fill-placeholders', { text: '{道具}', values });
    expect(failure).toMatchObject({ kind: 'invalid-input', advice: expect.stringContaining('{道具}') as unknown });
  });

  it.each(['', '   ', '？！', '🙂', '\u200b', null])('P131 text.require ends the run for free on %j', async (text) => {
    const failure = await failureOf('text.require', { text, advice: '请填写「需求」。' });
    expect(failure).toMatchObject({ kind: 'invalid-input', advice: '请填写「需求」。' });
  });

  it('text.require lets a real text through, trimmed', async () => {
    expect(await run('text.require', { text: '  再亮一点 ', advice: 'x' })).toEqual({ text: '再亮一点' });
  });

  it('flow.refuse puts its question before staff', async () => {
    expect(await failureOf('flow.refuse', { reason: '要横版还是竖版？' })).toMatchObject({
      kind: 'invalid-input',
      advice: '要横版还是竖版？',
    });
  });

  it('joins, takes and repeats', async () => {
    expect(await run('text.join', { parts: ['a', '', null, ' b '], prefix: '{n}. ' })).toEqual({
      text: '1. a\n2. b',
      count: 2,
    });
    expect(await run('list.take', { items: [1, 2, 3], from: 1, count: 1 })).toEqual({ items: [2], count: 1 });
    expect(await run('list.concat', { lists: [[1], 2, null, [3, 4]], max: 3 })).toEqual({ items: [1, 2, 3], count: 3 });
    expect(await run('list.repeat', { value: 'x', count: 2 })).toMatchObject({
      items: [{ number: 1, value: 'x' }, { number: 2 }],
    });
  });
});

describe('script functions', () => {
  it.each([
    ['镜头1（2秒）：全景。\n镜头2（2秒）：近景。', ['（2秒）：全景。', '（2秒）：近景。']],
    ['镜头一：全景\n补充一行\n\n镜头二: 近景', ['全景 补充一行', '近景']],
    ['第1镜 全景\n第2镜 近景', ['全景', '近景']],
    ['1. 全景\n2、近景\n3）特写', ['全景', '近景', '特写']],
    ['Shot 1: wide\nshot 2: close', ['wide', 'close']],
    ['- 镜头3：只剩这一个', ['只剩这一个']],
    ['全景\n近景', ['全景', '近景']],
    ['', []],
  ])('reads the shots that staff left in %j', (script, pictures) => {
    expect(splitShots(script).map((shot) => shot.picture)).toEqual(pictures);
    expect(splitShots(script).map((shot) => shot.number)).toEqual(pictures.map((_, index) => index + 1));
  });

  it('P134 never agrees to more shots than the limit, and says so before anything is bought', async () => {
    const script = Array.from({ length: 14 }, (_, index) => `镜头${index + 1}：走动`).join('\n');
    expect(await failureOf('script.shots', { script })).toMatchObject({
      kind: 'invalid-input',
      advice: expect.stringContaining('14 个镜头，最多 9 个') as unknown,
    });
    expect(await failureOf('script.shots', { script: '\n ' })).toMatchObject({ kind: 'invalid-input' });
  });

  it('puts the keywords’ own words into every shot, in order', async () => {
    const filled = await run('script.fill-shots', {
      shots: [
        { number: 2, picture: 'Close: {产品}' },
        { number: 1, picture: 'Wide: {角色} in {产品}' },
      ],
      keywords: '{角色}：young woman, black hair\n{产品}: red dress',
    });
    const bare = await run('script.fill-shots', {
      shots: [{ number: 1, picture: '{角色} with {产品}' }],
      keywords: '',
    });
    expect(bare['panels']).toBe('Panel 1: the model with the product');
    expect(filled['panels']).toBe('Panel 1: Wide: young woman, black hair in red dress\nPanel 2: Close: red dress');
  });
});
