import { describe, expect, it } from 'vitest';
import { parseAnswer } from '../../src/engine/skill/parse-answer.ts';

const json = (text: string, finish = 'stop'): unknown => {
  const read = parseAnswer({ as: 'json' }, text, finish);
  return read.ok ? read.value : read.failure.join('; ');
};
const fence = '```';

describe('P126 fences', () => {
  it.each([
    ['back-ticks inside a string', '{"a":"use `x`"}', { a: 'use `x`' }],
    ['a fence inside a string', `{"a":"${fence}js\\ncode\\n${fence}"}`, { a: `${fence}js\ncode\n${fence}` }],
    ['an outer fence', `${fence}json\n{"a":1}\n${fence}`, { a: 1 }],
    ['an outer fence around back-ticks', `${fence}json\n{"a":"use \`x\`"}\n${fence}`, { a: 'use `x`' }],
    ['an outer fence around a fence', `${fence}\n{"a":"${fence}"}\n${fence}`, { a: fence }],
    ['prose around a fence', `好的：\n${fence}json\n{"a":1}\n${fence}\n请查收。`, { a: 1 }],
    ['a fence that is never closed', `${fence}json\n{"a":1}`, { a: 1 }],
  ])('P126 %s is read as it stands', (_what, text, wanted) => {
    expect(json(text)).toEqual(wanted);
  });

  it.each([
    ['an empty fence', `${fence}json\n${fence}`],
    ['a fence that holds prose', `${fence}\n我还需要更多信息。\n${fence}`],
  ])('P126 %s is refused in words', (_what, text) => {
    expect(json(text)).toContain('prose, not JSON');
  });

  it('P126 text answers keep their back-ticks', () => {
    expect(parseAnswer({ as: 'text' }, 'use `x` and `y`', 'stop')).toEqual({
      ok: true,
      value: { text: 'use `x` and `y`' },
    });
  });
});

describe('P127 thinking in front of the answer', () => {
  it.each([
    ['closed', '<think>let me see</think>{"a":1}'],
    ['upper case', '<THINK>let me see</THINK>\n{"a":1}'],
    ['braces inside', '<think>perhaps {"a":2}? or [3]</think>{"a":1}'],
    ['twice', '<think>{</think>\n<think>}</think>{"a":1}'],
    ['opened by the template, only closed here', 'perhaps {"a":2}</think>{"a":1}'],
    ['another word for it', '<thinking>hm</thinking>{"a":1}'],
  ])('P127 %s: the answer is what follows', (_what, text) => {
    expect(json(text)).toEqual({ a: 1 });
  });

  it.each([
    ['cut off inside', '<think>perhaps {"a":1}', 'stop'],
    ['cut off by the limit', '<think>perhaps {"a":1}', 'length'],
    ['a second one that is never closed', '<think>x</think><think>{"a":1}', 'stop'],
  ])('P127 %s: no answer came, and braces of the thinking are not taken for one', (_what, text, finish) => {
    expect(json(text, finish)).toContain('cut off');
  });

  it('P127 nothing but thinking is an empty answer', () => {
    expect(json('<think>all of it</think>\n')).toBe('the answer is empty');
  });
});

describe('P129 full-width and curly punctuation as structure', () => {
  it.each([
    ['full-width structure', '｛“镜头”：1，“描述”：“走”｝', { 镜头: 1, 描述: '走' }],
    ['curly quotes, ASCII brackets', '{“scenes”：[1，2]}', { scenes: [1, 2] }],
    ['quoted speech inside', '{“镜头”：1，“描述”：“他说“走””}', { 镜头: 1, 描述: '他说“走”' }],
    ['a doubled opening quote', '{"title": ""国内用户…"}', { title: '国内用户…' }],
    ['full-width punctuation as content stays', '{"a":"一，二：“三”"}', { a: '一，二：“三”' }],
    ['an empty text is no doubled quote', '{“a”：“”，“b”：1}', { a: '', b: 1 }],
    ['a trailing comma', '{"a":[1,2,],}', { a: [1, 2] }],
  ])('P129 %s is repaired', (_what, text, wanted) => {
    expect(json(text)).toEqual(wanted);
  });

  it('P129 never fewer scenes: a list cut short is refused, not shortened', () => {
    const scenes = '{“scenes”：[{“n”：1}，{“n”：2}，{“n”：3}，{“n”：4';
    expect(json(scenes)).toContain('no complete JSON');
    expect(json(`${scenes}}]}`)).toEqual({ scenes: [{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }] });
  });
});
