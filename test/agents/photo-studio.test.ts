import { describe, expect, it } from 'vitest';
import { analysis, bad, good, json } from './answers.ts';
import { definitions, redLines } from './shipped.ts';
import { type Call, openStudio, type Reply, type Studio } from './studio.ts';

const seen = '图1：一只白色马克杯放在木桌上，左侧自然光，整体偏暗，背景是米色墙面，杯口有一处反光。';
const isJudge = (call: Call): boolean => call.system.includes('质检员');
const isPlanner = (call: Call): boolean => call.system.includes('派单员');

function studioWith(odd: (call: Call) => Promise<Reply | undefined> | Reply | undefined = () => undefined): Studio {
  let drawings = 0;
  const studio: Studio = openStudio(async (call) => {
    const strange = await odd(call);
    if (strange !== undefined) return strange;
    if (isPlanner(call)) return json({ workflow: 'photo-style', reason: '换画风' });
    if (call.capability === 'text.generate') return analysis();
    if (call.capability === 'image.analyze') return isJudge(call) ? good : seen;
    drawings += 1;
    return { pictures: [await studio.picture(`result-${drawings}`)] };
  });
  return studio;
}

const five = ['photo-retouch', 'photo-generate', 'photo-fusion', 'photo-style', 'photo-cartoon'];

describe('photo-studio', () => {
  it.each(five)('%s looks, analyses, draws behind the red lines, and is judged', async (workflow) => {
    const studio = studioWith();
    const run = await studio.run(workflow, {
      request: '提亮一点',
      originals: [await studio.picture('a'), await studio.picture('b')],
    });
    expect(run.failure).toBeUndefined();
    expect(run.status).toBe('succeeded');
    expect(run.calls.map((call) => call.capability)).toEqual([
      'image.analyze',
      'text.generate',
      'image.generate',
      'image.analyze',
    ]);
    const draw = run.calls[2]!;
    expect(draw.images).toHaveLength(2);
    for (const phrase of redLines.avoid) expect(draw.prompt).toContain(phrase);
    expect(run.calls[1]?.prompt).toContain(seen);
    expect(run.output).toMatchObject({ plan: '整体提亮一档，保持人物与背景不变。' });
  });

  it.each(['photo-generate', 'photo-cartoon'])('%s works from words alone', async (workflow) => {
    const studio = studioWith();
    const run = await studio.run(workflow, { request: '一只在月球上喝茶的猫' });
    expect(run.status).toBe('succeeded');
    expect(run.calls[0]?.prompt).toContain('没有附图');
    expect(run.calls.find((call) => call.capability === 'image.generate')?.images).toHaveLength(0);
  });

  it.each([
    ['photo-retouch', 0],
    ['photo-fusion', 1],
    ['photo-style', 0],
    ['photo-select', 1],
  ])('%s with %i pictures ends for free with what to upload', async (workflow, count) => {
    const studio = studioWith();
    const originals = await Promise.all(Array.from({ length: count }, (_, index) => studio.picture(`p${index}`)));
    const run = await studio.run(workflow, { request: '提亮一点', originals });
    expect(run).toMatchObject({ status: 'failed', failure: { kind: 'invalid-input' } });
    expect(run.failure?.advice).toContain('「原图」');
    expect(run.calls).toEqual([]);
  });

  it('ends an unclear requirement with the question, before anything is drawn', async () => {
    const studio = studioWith((call) =>
      call.capability === 'text.generate'
        ? analysis({ clear: false, question: '要换成什么颜色的背景？', prompt: '', plan: '' })
        : undefined,
    );
    const run = await studio.run('photo-retouch', { request: '换个背景', originals: [await studio.picture('a')] });
    expect(run).toMatchObject({
      status: 'failed',
      failure: { kind: 'invalid-input', advice: '要换成什么颜色的背景？' },
    });
    expect(run.count('image.generate')).toBe(0);
  });

  it('worst day: a rejected result is drawn once more with the reasons, and stays within the paid calls', async () => {
    let judged = 0;
    const studio = studioWith((call) => {
      if (!isJudge(call)) return undefined;
      judged += 1;
      return judged === 1 ? `<think>hmm</think>\`\`\`json\n${bad('左手多一根手指')}\n\`\`\`` : good;
    });
    const run = await studio.run('photo-retouch', { request: '提亮一点', originals: [await studio.picture('a')] });
    expect(run.status).toBe('succeeded');
    const draws = run.calls.filter((call) => call.capability === 'image.generate');
    expect(draws).toHaveLength(2);
    expect(draws[1]?.prompt).toContain('左手多一根手指');
  });

  it('worst day: always rejected, it stops at the limit and says why', async () => {
    const studio = studioWith((call) => (isJudge(call) ? bad('人物换了脸') : undefined));
    const run = await studio.run('photo-retouch', { request: '提亮一点', originals: [await studio.picture('a')] });
    expect(run).toMatchObject({ status: 'failed', failure: { kind: 'output-invalid' } });
    expect(run.count('image.generate')).toBeLessThanOrEqual(3);
  });

  it('lets the planner choose when the scene is empty, and falls back to retouching when nobody can', async () => {
    const names = [...five, 'photo-select'];
    const studio = studioWith();
    const input = { request: '改成水彩画', originals: [await studio.picture('a')] };
    const chosen = await studio.run(names, input, { planner: 'photo-planner' });
    expect(chosen.status).toBe('succeeded');
    expect(chosen.calls[2]?.system).toContain('只换画风');
    const silent = studioWith((call) => (isPlanner(call) ? { fails: 'unavailable' } : undefined));
    const fallback = await silent.run(
      names,
      { ...input, originals: [await silent.picture('a')] },
      { planner: 'photo-planner' },
    );
    expect(fallback.status).toBe('succeeded');
    expect(fallback.marks.some((mark) => mark.text.includes('智能修图'))).toBe(true);
    expect(definitions.agents.get('photo-studio')?.stages[0]?.planner).toBe('photo-planner');
  });

  it.each(['再亮一点', '基于刚才的结果把杯子换成蓝色', '有点太暗了', '在上一版的基础上去掉反光'])(
    'goes on from the last result for %j',
    async (request) => {
      const studio = studioWith();
      const [original, previous] = [await studio.picture('original'), await studio.picture('previous')];
      const run = await studio.run('photo-retouch', { request, originals: [original], previous: [previous] });
      expect(run.calls.find((call) => call.capability === 'image.generate')?.images.map((image) => image.hash)).toEqual(
        [previous.hash],
      );
      expect(run.calls.find((call) => call.capability === 'text.generate')?.prompt).toContain('在上一版结果上继续修改');
    },
  );

  it.each(['把背景换成海边', '更换背景为太空', '再来一张竖版的', '用原图重新做'])(
    'begins at the original again for %j',
    async (request) => {
      const studio = studioWith();
      const [original, previous] = [await studio.picture('original'), await studio.picture('previous')];
      const run = await studio.run('photo-retouch', { request, originals: [original], previous: [previous] });
      expect(run.calls.find((call) => call.capability === 'image.generate')?.images[0]?.hash).toBe(original.hash);
    },
  );

  it('select hands back the chosen originals in their order, and draws nothing', async () => {
    const picks = [
      { number: 3, reason: '表情自然' },
      { number: 1, reason: '产品清楚' },
    ];
    let asked = 0;
    const studio = studioWith((call) => {
      if (call.capability !== 'image.analyze') return undefined;
      asked += 1;
      return json({ clear: true, question: '', picks: asked === 1 ? [{ number: 7, reason: '不存在' }] : picks });
    });
    const originals = [await studio.picture('1'), await studio.picture('2'), await studio.picture('3')];
    const run = await studio.run('photo-select', { request: '选两张做主图', originals });
    expect(run.status).toBe('succeeded');
    expect((run.output['images'] as { hash: string }[]).map((image) => image.hash)).toEqual([
      originals[2]?.hash,
      originals[0]?.hash,
    ]);
    expect(run.output['plan']).toContain('第1名：图3，表情自然');
    expect(run.count('image.generate')).toBe(0);
    expect(asked).toBe(2);
  });

  it('P131 an empty requirement costs nothing', async () => {
    const studio = studioWith();
    const run = await studio.run('photo-generate', { request: ' ？ ' });
    expect(run).toMatchObject({ status: 'failed', calls: [] });
    expect(run.failure?.advice).toContain('「需求」');
  });
});
