import { describe, expect, it } from 'vitest';
import { parseAnswer } from '../../src/engine/skill/parse-answer.ts';
import { renderTemplate, renderValue } from '../../src/engine/skill/render.ts';
import { readJson } from '../../src/engine/skill/repair-json.ts';

const json = (text: string, finish = 'stop'): unknown => {
  const parsed = parseAnswer({ as: 'json' }, text, finish);
  return parsed.ok ? parsed.value : parsed.failure[0];
};

describe('a model’s JSON', () => {
  it('P126 an outer fence is stripped; back-ticks inside a string are content', () => {
    expect(json('```json\n{"a":1}\n```')).toEqual({ a: 1 });
    expect(json('{"a":"use `x` and ```y```"}')).toEqual({ a: 'use `x` and ```y```' });
    expect(json('Here you are:\n```\n{"a":1}\n```\nEnjoy.')).toEqual({ a: 1 });
    expect(json('```\n```')).toContain('prose');
    expect(json('```json\n```')).toContain('prose');
  });

  it('P127 thinking in front is dropped, in any case of letters, braces inside or not; unclosed it is truncation', () => {
    expect(json('<think>maybe {"a":2}?</think>{"a":1}')).toEqual({ a: 1 });
    expect(json('<THINK>x</THINK>\n{"a":1}')).toEqual({ a: 1 });
    expect(json('no opening tag</think>{"a":1}')).toEqual({ a: 1 });
    expect(json('<think>I wonder {"a":1}')).toContain('cut off while still thinking');
  });

  it('P129 full-width and curly punctuation as structure is repaired when unambiguous', () => {
    expect(json('{“scenes”：[1，2]}')).toEqual({ scenes: [1, 2] });
    expect(json('{“镜头”：1，“描述”：“他说“走””}')).toEqual({ 镜头: 1, 描述: '他说“走”' });
    expect(json('{"title": ""国内用户", "n": 1,}')).toEqual({ title: '国内用户', n: 1 });
    expect(json('{"a":"他说“好”，走了"}')).toEqual({ a: '他说“好”，走了' });
  });

  it('never makes a shorter list of an answer that was cut short', () => {
    expect(json('{"shots":[{"n":1},{"n":2}')).toContain('no complete JSON');
    expect(json('{"shots":[1,2]}', 'length')).toContain('cut off at the length limit');
  });

  it('P131 P114 prose, emptiness and nothing but thinking are failures', () => {
    expect(json('Please paste the text you want me to use.')).toContain('prose');
    expect(json('"just a string"')).toContain('prose');
    expect(json('\n')).toContain('empty');
    expect(json('<think>only this</think>')).toContain('empty');
  });

  it('a list on top becomes `items`', () => {
    expect(json('[1,2]')).toEqual({ items: [1, 2] });
    expect(readJson('x [1] y')).toEqual({ ok: true, value: [1] });
  });
});

describe('marked sections', () => {
  const parse = {
    as: 'sections' as const,
    sections: { script: { mark: '[[SCRIPT]]', min_chars: 4 }, keywords: { mark: '[[KEYWORDS]]' } },
  };

  it('are taken up to their close or to the next mark, whatever brackets the model made of them', () => {
    const wanted = { script: '第一镜：走来', keywords: 'red, silk' };
    for (const text of [
      '[[SCRIPT]]\n第一镜：走来\n[[/SCRIPT]]\n[[KEYWORDS]]\nred, silk\n[[/KEYWORDS]]',
      '**[[SCRIPT]]**\n第一镜：走来\n\n**【KEYWORDS】**：\nred, silk',
      'Sure!\n【【SCRIPT】】第一镜：走来【【/SCRIPT】】 [[ keywords ]] red, silk',
    ]) {
      expect(parseAnswer(parse, text, 'stop')).toEqual({ ok: true, value: wanted });
    }
  });

  it('missing, empty and too short ones are named, all at once', () => {
    expect(parseAnswer(parse, '[[SCRIPT]]\n走\n', 'stop')).toEqual({
      ok: false,
      failure: ['section [[SCRIPT]] is too short (1 characters, at least 4)', 'section [[KEYWORDS]] is missing'],
    });
  });
});

describe('templates', () => {
  it('fill variables and keep blocks only where there is something', () => {
    const template = 'A {{x}}{{#y}}, with {{y}}{{/y}}{{#list}}\n{{list}}{{/list}}.';
    expect(renderTemplate(template, { x: 'cat' })).toBe('A cat.');
    expect(renderTemplate(template, { x: 'cat', y: ' ', list: ['a', 'b'] })).toBe('A cat\na\nb.');
    expect(renderTemplate('{{#a}}{{#b}}both{{/b}}{{/a}}', { a: 1, b: true })).toBe('both');
  });

  it('what staff type is never read as a template', () => {
    expect(renderTemplate('{{x}} {{y}}', { x: '{{y}} {{#y}}!{{/y}}', y: 'secret' })).toBe('{{y}} {{#y}}!{{/y}} secret');
  });

  it('a degraded output takes whole values and texts', () => {
    expect(renderValue({ images: '{{images}}', text: 'for {{name}}', n: 1 }, { images: [1], name: 'x' })).toEqual({
      images: [1],
      text: 'for x',
      n: 1,
    });
  });
});
