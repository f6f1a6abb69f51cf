import { describe, expect, it } from 'vitest';
import type { Artifact } from '../../src/contract/index.ts';
import type { Collector, ExecutionRecord } from '../../src/engine/ports/index.ts';
import { createVirtualClock } from '../../src/kernel/index.ts';
import { define } from './support/definitions.ts';
import { createScriptedVendor } from './support/vendor.ts';
import { createWorld, instantCollector } from './support/world.ts';

interface Asked {
  readonly durationS: number;
  readonly audio: boolean;
}

/** One film from a vendor that delivers `film`, and what became of it. */
async function filmed(
  asked: Asked,
  film: Artifact['film'],
  verify: readonly object[] = [],
): Promise<{ readonly done: ExecutionRecord; readonly bought: number }> {
  const clock = createVirtualClock();
  const acme = createScriptedVendor({ clock, name: 'acme' });
  const collector: Collector = {
    collect: async (remote, name, signal) => {
      const kept = await instantCollector.collect(remote, name, signal);
      return kept.ok && film !== undefined ? { ok: true, value: { ...kept.value, film } } : kept;
    },
  };
  const world = await createWorld({
    clock,
    definitions: define({
      workflows: [
        {
          workflow: 'film',
          input: { type: 'object' },
          nodes: { shoot: { kind: 'skill', title: '出视频', skill: 'camera' } },
          output: { videos: '$.nodes.shoot.output.videos' },
        },
      ],
      skills: [
        {
          skill: 'camera',
          capability: 'video.generate',
          input: { type: 'object' },
          defaults: { prompt: 'x', ...asked },
          candidates: [{ provider: 'acme', model: 'video' }],
          ...(verify.length === 0 ? {} : { verify }),
        },
      ],
    }),
    providers: new Map([['acme', acme.provider]]),
    deps: { collector },
  });
  const id = await world.submit({ workflow: 'film', input: {} });
  return { done: await world.settle(id), bought: acme.arrivals.length };
}

describe('P087 a finished film that is not what was asked', () => {
  it('is used, once bought, and staff are told that it is too short and silent', async () => {
    const { done, bought } = await filmed({ durationS: 8, audio: true }, { durationMs: 3_040, hasSound: false });
    expect(done.status).toBe('succeeded');
    expect(bought).toBe(1);
    expect(done.marks.map((mark) => mark.text)).toEqual([
      '「出视频」成片只有 3 秒，要的是 8 秒',
      '「出视频」要求有声，成片没有声音',
    ]);
  });

  it.each([
    ['as asked', { durationS: 8, audio: true }, { durationMs: 8_040, hasSound: true }],
    ['a little short', { durationS: 8, audio: false }, { durationMs: 7_500, hasSound: false }],
    ['longer', { durationS: 1, audio: false }, { durationMs: 3_000, hasSound: true }],
    ['of unknown length', { durationS: 8, audio: false }, { hasSound: false }],
    ['that says nothing', { durationS: 8, audio: true }, undefined],
  ])('twin: nothing is said of one %s', async (_what, asked, film) => {
    const { done } = await filmed(asked, film);
    expect(done).toMatchObject({ status: 'succeeded', marks: [] });
  });

  it('is refused where the skill’s own check will not have it', async () => {
    const rule = { cel: 'output.videos[0].film.durationMs >= input.durationS * 900', reason: '成片太短' };
    const film = { durationMs: 3_000, hasSound: true };
    const { done, bought } = await filmed({ durationS: 8, audio: true }, film, [rule]);
    expect(done.status).toBe('failed');
    expect(bought).toBeGreaterThan(1);
  });
});
