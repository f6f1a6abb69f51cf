import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { bad, good, json, motif } from './answers.ts';
import { redLines } from './shipped.ts';
import { type Call, openStudio, type Reply, type Studio } from './studio.ts';

const isJudge = (call: Call): boolean => call.images.length === 2 && call.capability === 'image.analyze';
const busyGround =
  '<linearGradient id="g"><stop offset="0" stop-color="#102030"/><stop offset="1" stop-color="#f0e0d0"/></linearGradient><rect width="1024" height="1024" fill="url(#g)"/>';

function studioWith(odd: (call: Call, drawings: number) => Promise<Reply | undefined> | Reply | undefined): Studio {
  let drawings = 0;
  const studio: Studio = openStudio(async (call) => {
    if (call.capability === 'image.generate') drawings += 1;
    const strange = await odd(call, drawings);
    if (strange !== undefined) return strange;
    if (call.capability === 'image.analyze') return isJudge(call) ? good : motif;
    return { pictures: [await studio.picture(`motif-${drawings}`)] };
  });
  return studio;
}

const garment = async (studio: Studio) => ({
  garment_images: [await studio.picture('garment')],
  request: '胸前圆形图案',
});

describe('element-extraction', () => {
  it('gives a transparent cut-out at print size, the flat original, and words for staff', async () => {
    const studio = studioWith(() => undefined);
    const run = await studio.run('element-extraction', await garment(studio));
    expect(run.failure).toBeUndefined();
    expect(run.status).toBe('succeeded');
    const [print, plain] = run.output['elements'] as unknown[];
    const facts = await sharp(await studio.bytesOf(print)).metadata();
    expect(facts).toMatchObject({ width: 4096, height: 4096, hasAlpha: true, density: 300 });
    expect((await sharp(await studio.bytesOf(plain)).metadata()).width).toBe(1024);
    expect(run.output['description']).toContain('圆环徽章图案');
    expect(run.output['description']).toContain('均通过');
    const draw = run.calls.find((call) => call.capability === 'image.generate')!;
    expect(draw.prompt).toContain('one perfectly even pure white');
    for (const phrase of redLines.avoid) expect(draw.prompt).toContain(phrase);
    expect(run.count('image.generate')).toBe(1);
  });

  it('worst day: a busy ground is measured by code, and the second round is told why', async () => {
    const studio = studioWith(async (call, drawings) =>
      call.capability === 'image.generate' && drawings === 1
        ? { pictures: [await studio.picture('busy', busyGround)] }
        : undefined,
    );
    const run = await studio.run('element-extraction', await garment(studio));
    expect(run.status).toBe('succeeded');
    const draws = run.calls.filter((call) => call.capability === 'image.generate');
    expect(draws).toHaveLength(2);
    expect(draws[1]?.prompt).toContain('背景不干净');
    expect(run.output['description']).toContain('均通过');
  });

  it('worst day: two bad rounds are delivered all the same, marked, with what is wrong', async () => {
    const studio = studioWith((call) => (isJudge(call) ? bad('字母 E 拼错') : undefined));
    const run = await studio.run('element-extraction', await garment(studio));
    expect(run.status).toBe('succeeded');
    expect(run.count('image.generate')).toBe(2);
    expect(run.output['description']).toContain('质检提醒：字母 E 拼错');
    expect(run.marks.some((mark) => mark.kind === 'degraded')).toBe(true);
  });

  it('worst day: the second round fails at the vendor, and the first is delivered', async () => {
    const studio = studioWith((call, drawings) =>
      isJudge(call) && drawings === 1
        ? bad('偏色')
        : call.capability === 'image.generate' && drawings > 1
          ? { fails: 'content-policy' }
          : undefined,
    );
    const run = await studio.run('element-extraction', await garment(studio));
    expect(run.status).toBe('succeeded');
    expect(run.output['description']).toContain('偏色');
    expect(run.output['elements']).toHaveLength(2);
  });

  it('worst day: the judge is down, and the measured result passes with a mark', async () => {
    const studio = studioWith((call) => (isJudge(call) ? { fails: 'unavailable' } : undefined));
    const run = await studio.run('element-extraction', await garment(studio));
    expect(run.status).toBe('succeeded');
    expect(run.marks.some((mark) => mark.kind === 'degraded')).toBe(true);
  });

  it('draws nothing for a garment without a motif, and says what to upload', async () => {
    const none = json({ has_motif: false, motif_prompt: '', ground: 'pure white', description: '' });
    const studio = studioWith((call) => (call.capability === 'image.analyze' ? none : undefined));
    const run = await studio.run('element-extraction', await garment(studio));
    expect(run).toMatchObject({ status: 'failed', failure: { kind: 'invalid-input' } });
    expect(run.failure?.advice).toContain('没有在「服装图」上认出');
    expect(run.count('image.generate')).toBe(0);
  });
});
