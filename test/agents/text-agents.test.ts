import { describe, expect, it } from 'vitest';
import { artifactSchema } from '../../src/contract/index.ts';
import { compileSchema } from '../../src/engine/graph/json-schema.ts';
import type { JsonObject } from '../../src/kernel/index.ts';
import { readSlides } from '../functions/read-pptx.ts';
import { advice, bad, context, designRules, draft, fusion, good, intent, outline, page, structure } from './answers.ts';
import { definitions, redLines } from './shipped.ts';
import { type Call, openStudio, type Reply } from './studio.ts';

const says = (call: Call, words: string): boolean => call.system.includes(words);
type Odd = (call: Call) => Reply | undefined;

function writer(odd: Odd = () => undefined) {
  return openStudio(
    (call) => {
      const strange = odd(call);
      if (strange !== undefined) return strange;
      if (says(call, '主编助理')) return intent();
      if (says(call, '内容策划')) return context;
      if (says(call, '资料编辑')) return fusion;
      return says(call, '质检编辑') ? good : draft;
    },
    () =>
      Promise.resolve([
        { source: '面料手册.md', text: '# 真丝衬衫\n面料为桑蚕丝，可机洗，洗护请用洗衣袋。\n# 羊毛大衣\n不可水洗。' },
      ]),
  );
}

describe('content', () => {
  it('goes intent → retrieval beside context → fusion → generation → gate', async () => {
    const run = await writer().run('content', { request: '给真丝衬衫写一篇种草笔记' });
    expect(run.status).toBe('succeeded');
    expect(run.output['text']).toBe(draft);
    expect(run.calls).toHaveLength(5);
    const fused = run.calls.find((call) => says(call, '资料编辑'))!;
    expect(fused.prompt).toContain('面料为桑蚕丝');
    expect(fused.prompt).not.toContain('不可水洗');
    for (const rule of redLines.rules) expect(run.calls.find((call) => says(call, '撰稿人'))?.system).toContain(rule);
  });

  it('worst day: fenced JSON, a chat answer for a section form, a draft that the gate refuses', async () => {
    const seen: string[] = [];
    const studio = writer((call) => {
      const role = /你是(.*?)[。，]/.exec(call.system)?.[1] ?? '';
      seen.push(role);
      const isFirst = seen.filter((each) => each === role).length === 1;
      if (!isFirst) return undefined;
      if (says(call, '主编助理')) return `<THINK>{"clear":false}</THINK>\n\`\`\`json\n${intent()}\n\`\`\``;
      if (says(call, '资料编辑')) return '好的，请把资料发给我。';
      if (says(call, '撰稿人')) return `${draft}全网第一。`;
      return says(call, '质检编辑') ? bad('出现「第一」这样的绝对化用语') : undefined;
    });
    const run = await studio.run('content', { request: '给真丝衬衫写一篇种草笔记' });
    expect(run.status).toBe('succeeded');
    const drafts = run.calls.filter((call) => says(call, '撰稿人'));
    expect(drafts).toHaveLength(2);
    expect(drafts[1]?.prompt).toContain('绝对化用语');
    expect(run.calls.filter((call) => says(call, '资料编辑'))).toHaveLength(2);
    expect(run.calls.filter((call) => says(call, '主编助理'))).toHaveLength(1);
  });

  it('worst day: the gate is down, so the draft is delivered with a mark', async () => {
    const run = await writer((call) => (says(call, '质检编辑') ? { fails: 'unavailable' } : undefined)).run('content', {
      request: '写公告一则',
    });
    expect(run.status).toBe('succeeded');
    expect(run.marks.some((mark) => mark.kind === 'degraded')).toBe(true);
  });

  it('asks when it cannot know what to write', async () => {
    const run = await writer((call) =>
      says(call, '主编助理') ? intent({ clear: false, question: '要写哪一款产品？' }) : undefined,
    ).run('content', { request: '随便写点' });
    expect(run).toMatchObject({ status: 'failed', failure: { advice: '要写哪一款产品？' } });
    expect(run.calls).toHaveLength(1);
  });
});

describe('screenshot-review', () => {
  const reviewer = (odd: Odd = () => undefined) =>
    openStudio(
      (call) =>
        odd(call) ??
        (call.capability === 'image.analyze' ? structure : says(call, '体验设计师') ? advice : designRules),
    );

  it('gives suggestions, issues, rules, and a plugin configuration that is valid against its schema', async () => {
    const studio = reviewer();
    const run = await studio.run('screenshot-review', { screenshots: [await studio.picture('screen')] });
    expect(run.failure).toBeUndefined();
    expect(run.status).toBe('succeeded');
    expect(run.output['suggestions']).toContain('1. 主按钮：底色加深到 #2F6FED');
    expect(run.output['issues']).toBe('1. 【高】主按钮：对比度不足');
    expect(run.output['rules']).toContain('间距取 4 的倍数');
    const file = artifactSchema.parse(run.output['plugin_config']);
    expect(file).toMatchObject({ mime: 'application/json', name: '插件配置.json' });
    const value = JSON.parse(new TextDecoder().decode(await studio.bytesOf(file))) as JsonObject;
    const node = definitions.workflows.get('screenshot-review')!.nodes['plugin'];
    const check = compileSchema((node?.kind === 'function' ? node.input?.['schema'] : {}) as JsonObject);
    expect(check.ok && check.value(value)).toEqual({ ok: true, value: undefined });
    expect(check.ok && check.value({ ...value, tokens: {} }).ok).toBe(false);
  });

  it('worst day: no model sees, so a preset stands in and the result says so', async () => {
    const studio = reviewer((call) => (call.capability === 'image.analyze' ? { fails: 'unavailable' } : undefined));
    const run = await studio.run('screenshot-review', { screenshots: [await studio.picture('screen')] });
    expect(run.status).toBe('succeeded');
    expect(run.output['suggestions']).toContain('未能识别');
    expect(run.marks.some((mark) => mark.kind === 'degraded')).toBe(true);
    expect(artifactSchema.parse(run.output['plugin_config']).sizeBytes).toBeGreaterThan(100);
  });

  it('worst day: a colour in words, full-width JSON, severity outside the list, are each asked again', async () => {
    let rules = 0;
    let advised = 0;
    const studio = reviewer((call) => {
      if (says(call, '设计系统工程师')) {
        rules += 1;
        return rules === 1 ? designRules.replace('"#2F6FED"', '"蓝色"') : undefined;
      }
      if (!says(call, '体验设计师')) return undefined;
      advised += 1;
      return advised === 1 ? advice.replace('"高"', '"严重"') : advice.replace('{"issues":', '{“issues”：');
    });
    const run = await studio.run('screenshot-review', { screenshots: [await studio.picture('screen')] });
    expect(run.status).toBe('succeeded');
    expect([rules, advised]).toEqual([2, 2]);
  });
});

describe('deck', () => {
  const speaker = (odd: Odd = () => undefined) =>
    openStudio(
      (call) =>
        odd(call) ?? (says(call, '咨询顾问') ? outline(3) : page(/本页是第 (\d+) 页/.exec(call.prompt)?.[0] ?? '')),
    );
  const edited = '第1页：员工改过的标题\n- 甲\n\n第2页：二\n- 乙\n- 丙';

  it('writes an outline of exactly the pages asked for', async () => {
    let asked = 0;
    const studio = speaker((call) => {
      if (!says(call, '咨询顾问')) return undefined;
      asked += 1;
      return asked === 1 ? outline(5) : `\`\`\`json\n${outline(3)}\n\`\`\``;
    });
    const run = await studio.run('deck-outline', { topic: '季度总结', page_count: 3 });
    expect(run.status).toBe('succeeded');
    expect(asked).toBe(2);
    expect(run.calls[1]?.prompt).toContain('页数与要求不一致');
    expect(JSON.stringify(run.output['outline']).match(/第\d+页/g)).toHaveLength(3);
  });

  it('makes a .pptx from the outline as staff left it, pages in parallel', async () => {
    const studio = speaker();
    const run = await studio.run('deck-slides', { topic: '季度总结', outline: edited });
    expect(run.status).toBe('succeeded');
    const file = artifactSchema.parse(run.output['deck']);
    const slides = await readSlides(await studio.bytesOf(file));
    expect(slides).toHaveLength(3);
    expect(slides[0]?.texts).toContain('季度总结');
    expect(slides[1]?.notes).toContain('大家好');
    expect(run.calls).toHaveLength(2);
    expect(run.calls[0]?.prompt).toContain('员工改过的标题');
  });

  it('worst day: one page fails, its outline stands in, the row is partial, and the next try makes that page alone', async () => {
    let isBroken = true;
    const studio = speaker((call) =>
      isBroken && call.prompt.includes('本页是第 2 页') ? '这一页我写不了。' : undefined,
    );
    const first = await studio.run('deck-slides', { topic: '季度总结', outline: edited });
    expect(first.status).toBe('partial');
    const slides = await readSlides(await studio.bytesOf(first.output['deck']));
    expect(slides[2]?.texts).toEqual(['二', '乙', '丙', '2 / 2']);
    isBroken = false;
    const second = await studio.run('deck-slides', { topic: '季度总结', outline: edited });
    expect(second.status).toBe('succeeded');
    expect(second.calls).toHaveLength(1);
  });

  it('refuses a page count and an outline that cannot be, for free', async () => {
    const studio = speaker();
    expect(await studio.run('deck-outline', { topic: '季度总结', page_count: 99 })).toMatchObject({
      status: 'failed',
      calls: [],
    });
    expect(await studio.run('deck-slides', { topic: 'x', outline: '随便' })).toMatchObject({
      status: 'failed',
      calls: [],
    });
  });
});
