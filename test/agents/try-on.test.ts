import { describe, expect, it } from 'vitest';
import type { Artifact } from '../../src/contract/index.ts';
import { redLines } from './shipped.ts';
import { type Call, openStudio, type Reply, type Studio } from './studio.ts';

const imagePrompt =
  'Full-body photograph of an adult model wearing the red floral dress exactly as in the reference, standing in soft daylight on a plain cream background, 50mm lens, eye level, sharp focus.';
const keywords = '{角色}：adult woman, oval face, black bob\n{产品}：red floral midi dress, white collar';
const script = [1, 2, 3, 4]
  .map((number) => `镜头${number}（2秒）：全景。{角色}走动，展示{产品}；固定机位。`)
  .join('\n');
const creation = `[[IMAGE_PROMPT]]\n${imagePrompt}\n[[/IMAGE_PROMPT]]\n[[KEYWORDS]]\n${keywords}\n[[/KEYWORDS]]\n[[SCRIPT]]\n${script}\n[[/SCRIPT]]`;
const shotsOf = (count: number, from = 1): string =>
  JSON.stringify({
    shots: Array.from({ length: count }, (_, index) => ({
      number: from + index,
      picture: `Wide shot ${from + index}, {角色} walks through the studio and shows {产品}.`,
    })),
  });

async function drawn(studio: () => Studio, name: string): Promise<Reply> {
  return { pictures: [await studio().picture(name)] };
}

/** A vendor that behaves; `odd` may answer first. */
function studioWith(odd: (call: Call, count: number) => Reply | undefined | Promise<Reply | undefined>): Studio {
  let count = 0;
  let drawings = 0;
  const studio: Studio = openStudio(async (call) => {
    count += 1;
    const strange = await odd(call, count);
    if (strange !== undefined) return strange;
    if (call.capability === 'image.analyze') return creation;
    if (call.capability === 'text.generate') return call.prompt.includes('Script (approved') ? shotsOf(4) : creation;
    drawings += 1;
    return await drawn(() => studio, `drawing-${drawings}`);
  });
  return studio;
}

const product = async (studio: Studio): Promise<{ product_images: Artifact[] }> => ({
  product_images: [await studio.picture('product')],
});
const board = async (studio: Studio, text = script) => ({
  portrait: [await studio.picture('portrait')],
  product_images: [await studio.picture('product')],
  script: text,
  keywords,
});

describe('try-on ① portrait', () => {
  it('creates from the picture, guards the prompt by code, and draws with the product attached', async () => {
    const studio = studioWith(() => undefined);
    const input = { ...(await product(studio)), product_notes: '真丝' };
    const run = await studio.run('try-on-portrait', input);
    expect(run.status).toBe('succeeded');
    expect(run.output).toMatchObject({ script, keywords });
    expect(run.calls.map((call) => `${call.provider}/${call.model}`)).toEqual([
      'llm-primary/vision',
      'kie/nano-banana-pro',
    ]);
    const draw = run.calls[1]!;
    expect(draw.images).toHaveLength(1);
    expect(draw.input).toMatchObject({ ratio: '3:4' });
    for (const phrase of redLines.avoid) {
      expect(draw.prompt).toContain(phrase);
      expect(draw.avoid).toContain(phrase);
    }
    expect(run.marks.filter((mark) => mark.kind !== 'estimated')).toEqual([]);
  });

  it('worst day: fences and thinking around the sections, then an empty section, are mended within the tries', async () => {
    const studio = studioWith((call, count) => {
      if (call.capability !== 'image.analyze') return undefined;
      if (count === 1) return `<think>[[SCRIPT]] let me see</think>\n${creation.replace(script, '  ')}`;
      expect(call.prompt).toContain('SCRIPT');
      return `<think>again</think>好的，以下是方案：\n\`\`\`\n${creation}\n\`\`\``;
    });
    const run = await studio.run('try-on-portrait', await product(studio));
    expect(run.status).toBe('succeeded');
    expect(run.count('image.analyze')).toBe(2);
    expect(run.output['script']).toBe(script);
  });

  it('worst day: the primary is down, so the backup creates, and the switch is told', async () => {
    const studio = studioWith((call) => (call.provider === 'llm-primary' ? { fails: 'unavailable' } : undefined));
    const run = await studio.run('try-on-portrait', await product(studio));
    expect(run.status).toBe('succeeded');
    expect(run.calls.some((call) => call.provider === 'llm-backup')).toBe(true);
    expect(run.marks.map((mark) => mark.kind)).toContain('switched');
  });

  it('worst day: no model sees, so one that only reads writes, and the result is marked degraded', async () => {
    const studio = studioWith((call) => (call.capability === 'image.analyze' ? { fails: 'unavailable' } : undefined));
    const run = await studio.run('try-on-portrait', { ...(await product(studio)), product_notes: '红色碎花连衣裙' });
    expect(run.status).toBe('succeeded');
    expect(run.calls.at(-2)?.provider).toBe('llm-third');
    expect(run.calls.at(-2)?.prompt).toContain('红色碎花连衣裙');
    expect(run.marks.map((mark) => mark.kind)).toContain('degraded');
  });

  it('worst day: every language model refuses in prose, so the fixed prompt draws, marked, with the red lines', async () => {
    const studio = studioWith((call) =>
      call.capability === 'image.generate' ? undefined : '抱歉，我无法协助处理这个请求。',
    );
    const run = await studio.run('try-on-portrait', { ...(await product(studio)), model_notes: 'short hair' });
    expect(run.status).toBe('succeeded');
    const draw = run.calls.at(-1)!;
    expect(draw.prompt).toContain('exactly the product shown in the reference');
    expect(draw.prompt).toContain('Model: short hair.');
    for (const phrase of redLines.avoid) expect(draw.prompt).toContain(phrase);
    expect(run.output['script']).toContain('{角色}');
    expect(run.marks.some((mark) => mark.kind === 'degraded' && mark.text.includes('固定提示词'))).toBe(true);
  });

  it('gives the note of 打回 to the creator', async () => {
    const studio = studioWith(() => undefined);
    const run = await studio.run('try-on-portrait', { ...(await product(studio)), staff_note: '模特换成短发' });
    expect(run.calls[0]?.prompt).toContain('模特换成短发');
  });
});

describe('try-on ② storyboard', () => {
  it('draws each shot with the keywords’ own words and the red lines, and a contact sheet first', async () => {
    const studio = studioWith(() => undefined);
    const run = await studio.run('try-on-storyboard', await board(studio));
    expect(run.status).toBe('succeeded');
    expect(run.output['storyboard']).toHaveLength(5);
    const draws = run.calls.filter((call) => call.capability === 'image.generate');
    expect(draws).toHaveLength(4);
    for (const draw of draws) {
      expect(draw.prompt).toContain('adult woman, oval face, black bob');
      expect(draw.prompt).not.toMatch(/[{}]/);
      expect(draw.images).toHaveLength(2);
      for (const phrase of redLines.avoid) expect(draw.prompt).toContain(phrase);
    }
    expect(run.calls[0]).toMatchObject({ capability: 'text.generate' });
    expect(run.calls[0]?.system).toContain('You are a transcriber, not an author');
  });

  it('P134 refuses 14 shots for 4 and buys no more than were agreed', async () => {
    let asked = 0;
    const studio = studioWith((call) => {
      if (call.capability !== 'text.generate') return undefined;
      asked += 1;
      return asked === 1 ? shotsOf(14) : asked === 2 ? `\`\`\`json\n${shotsOf(4, 2)}\n\`\`\`` : shotsOf(4);
    });
    const run = await studio.run('try-on-storyboard', await board(studio));
    expect(run.status).toBe('succeeded');
    expect(run.count('text.generate')).toBe(3);
    expect(run.count('image.generate')).toBe(4);
  });

  it('uses the script’s own lines when nobody can transcribe, marked degraded', async () => {
    const studio = studioWith((call) => (call.capability === 'text.generate' ? '我先帮您优化一下剧情……' : undefined));
    const run = await studio.run('try-on-storyboard', await board(studio));
    expect(run.status).toBe('succeeded');
    const draws = run.calls.filter((call) => call.capability === 'image.generate');
    expect(draws[0]?.prompt).toContain('全景');
    expect(draws[0]?.prompt).toContain('red floral midi dress');
    expect(run.marks.map((mark) => mark.kind)).toContain('degraded');
  });

  it('reads the script as staff left it', async () => {
    const studio = studioWith((call) => (call.capability === 'text.generate' ? shotsOf(2) : undefined));
    const run = await studio.run('try-on-storyboard', await board(studio, '镜头1：{角色}站着。\n镜头4：{产品}特写。'));
    expect(run.output['storyboard']).toHaveLength(3);
    expect(run.calls[0]?.prompt).toContain('Write exactly 2 shots');
  });

  it('P119 keeps the good shots when one fails, and makes that one alone the next time', async () => {
    let isBroken = true;
    const studio = studioWith((call) =>
      isBroken && call.prompt.includes('Wide shot 3') ? { fails: 'generation-failed' } : undefined,
    );
    const input = await board(studio);
    const first = await studio.run('try-on-storyboard', input);
    expect(first.status).toBe('partial');
    expect(first.output['storyboard']).toHaveLength(4);
    expect(first.marks.some((mark) => mark.kind === 'partial' && mark.text.includes('第 3 项'))).toBe(true);
    isBroken = false;
    const second = await studio.run('try-on-storyboard', input);
    expect(second.status).toBe('succeeded');
    expect(second.calls.map((call) => call.capability)).toEqual(['image.generate']);
    expect(second.output['storyboard']).toHaveLength(5);
  });

  it('costs nothing when the script has no shots', async () => {
    const studio = studioWith(() => undefined);
    const run = await studio.run('try-on-storyboard', await board(studio, ' '));
    expect(run).toMatchObject({ status: 'failed', failure: { kind: 'invalid-input' } });
    expect(run.calls).toEqual([]);
    expect(run.failure?.advice).toContain('镜头1');
  });
});

describe('try-on ③ film', () => {
  it('passes the script verbatim, silent, with portrait and sheet as references and the red lines behind it', async () => {
    const studio = studioWith(async (call) =>
      call.capability === 'video.generate' ? { film: await studio.picture('film') } : undefined,
    );
    const run = await studio.run('try-on-film', {
      portrait: [await studio.picture('portrait')],
      storyboard: [await studio.picture('sheet'), await studio.picture('shot-1')],
      script,
      keywords,
      staff_note: '慢一点',
    });
    expect(run.status).toBe('succeeded');
    const call = run.calls[0]!;
    expect(`${call.provider}/${call.model}`).toBe('kie/seedance-2');
    expect(call.prompt).toContain(script);
    expect(call.prompt).toContain(keywords);
    expect(call.prompt).toContain('慢一点');
    for (const rule of redLines.rules) expect(call.prompt).toContain(rule);
    expect(call.input).toMatchObject({ audio: false, durationS: 8, ratio: '9:16' });
    expect(call.images).toHaveLength(2);
  });

  it('goes to the next vendor when the first is busy, and stops at a refused content', async () => {
    const busy = studioWith(async (call) =>
      call.provider === 'kie' ? { fails: 'overload' } : { film: await busy.picture('film') },
    );
    const input = { portrait: [await busy.picture('a')], storyboard: [await busy.picture('b')], script, keywords };
    const run = await busy.run('try-on-film', input);
    expect(run.status).toBe('succeeded');
    expect(run.calls.at(-1)).toMatchObject({ provider: 'toapis', model: 'seedance-2' });
    const refused = studioWith(() => ({ fails: 'content-policy' }));
    const stopped = await refused.run('try-on-film', input);
    expect(stopped).toMatchObject({ status: 'failed', failure: { kind: 'content-policy' } });
    expect(stopped.calls).toHaveLength(1);
  });
});
