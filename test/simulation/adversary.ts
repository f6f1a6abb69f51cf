import { type Json, type Random, randomInt } from '../../src/kernel/index.ts';
import type { FaultAction, TaskFate } from '../../src/sandbox/index.ts';
import type { SimWorld } from './world.ts';

/** One kind of trouble: where it strikes, and what it is, drawn anew each time. */
interface Trouble {
  readonly endpoint: string;
  readonly draw: (random: Random) => FaultAction;
  /** Chance on each call. */
  readonly chance: number;
  /** Strikes only calls whose body contains this. */
  readonly bodyIncludes?: string;
}

const span = (random: Random, fromMs: number, toMs: number): number => fromMs + randomInt(random, toMs - fromMs);
const fate =
  (draw: (random: Random) => TaskFate): Trouble['draw'] =>
  (random) => ({ kind: 'fate', fate: draw(random) });
const answer = (status: number, body?: Json, headers?: Record<string, string>): FaultAction => ({
  kind: 'answer',
  status,
  ...(body === undefined ? {} : { body }),
  ...(headers === undefined ? {} : { headers }),
});

/** Paid submits of vendors of pictures and films. */
const submits = ['kie.createTask', 'kie.veo.generate', 'toapis.images.create', 'toapis.videos.create'];
const checks = ['kie.recordInfo', 'kie.veo.recordInfo', 'toapis.images.get', 'toapis.videos.get'];

const submitTroubles: readonly Omit<Trouble, 'endpoint'>[] = [
  { chance: 0.03, draw: () => answer(200, { code: 429, msg: 'too many requests', data: null }) },
  { chance: 0.02, draw: () => answer(429, { error: { message: 'slow down' } }, { 'retry-after': '20' }) },
  { chance: 0.02, draw: () => answer(503, 'upstream busy') },
  { chance: 0.02, draw: () => ({ kind: 'answer-after', status: 502, body: '<html>bad gateway</html>' }) },
  { chance: 0.02, draw: () => ({ kind: 'hang' }) },
  { chance: 0.02, draw: () => ({ kind: 'hang-after' }) },
  { chance: 0.02, draw: () => ({ kind: 'drop-before' }) },
  { chance: 0.03, draw: () => ({ kind: 'drop-after' }) },
  { chance: 0.02, draw: () => ({ kind: 'refuse' }) },
  { chance: 0.02, draw: () => ({ kind: 'cut', afterBytes: 12 }) },
  { chance: 0.03, draw: (random) => ({ kind: 'delay-answer', delayMs: span(random, 1_000, 170_000) }) },
  { chance: 0.01, draw: () => ({ kind: 'double' }) },
  { chance: 0.05, draw: fate(() => ({ outcome: 'fail', failCode: '500', failMessage: 'generation failed' })) },
  {
    chance: 0.02,
    draw: fate(() => ({ outcome: 'fail', failCode: '500', failMessage: 'generation failed', billFailure: true })),
  },
  {
    chance: 0.03,
    draw: fate(() => ({ outcome: 'fail', failCode: '400', failMessage: 'content policy violation: unsafe image' })),
  },
  { chance: 0.05, draw: fate((random) => ({ invisibleMs: span(random, 1_000, 80_000) })) },
  {
    chance: 0.03,
    draw: fate((random) => ({ strangeState: { word: 'PRE_HEATING', forMs: span(random, 5_000, 300_000) } })),
  },
  { chance: 0.03, draw: fate(() => ({ withoutUrl: { firstChecks: 2 } })) },
  { chance: 0.01, draw: fate(() => ({ withoutUrl: {} })) },
  { chance: 0.01, draw: fate(() => ({ failsAfterSuccess: { afterChecks: 1 } })) },
  { chance: 0.03, draw: fate((random) => ({ durationMs: span(random, 600_000, 7_200_000) })) },
  { chance: 0.03, draw: fate((random) => ({ linkLifeMs: span(random, 1_000, 600_000) })) },
  { chance: 0.05, draw: fate((random) => ({ billDelayMs: span(random, 60_000, 7_200_000) })) },
  { chance: 0.03, draw: fate(() => ({ hidesCost: true })) },
  { chance: 0.03, draw: fate(() => ({ media: 'html' })) },
  { chance: 0.02, draw: fate(() => ({ media: 'truncated' })) },
  { chance: 0.01, draw: fate(() => ({ media: 'empty' })) },
];

const checkTroubles: readonly Omit<Trouble, 'endpoint'>[] = [
  { chance: 0.02, draw: () => answer(503, 'no') },
  { chance: 0.02, draw: () => answer(200, { code: 429, msg: 'slow', data: null }) },
  { chance: 0.01, draw: () => ({ kind: 'hang' }) },
  { chance: 0.02, draw: () => ({ kind: 'drop-after' }) },
  { chance: 0.01, draw: () => ({ kind: 'cut', afterBytes: 20 }) },
  { chance: 0.02, draw: () => ({ kind: 'repeat-last' }) },
  { chance: 0.02, draw: () => ({ kind: 'repeat-first' }) },
  { chance: 0.01, draw: () => ({ kind: 'double' }) },
  // Up to beyond the time limit of a check: that answer comes when nobody listens any more, and a newer one is there.
  { chance: 0.02, draw: (random) => ({ kind: 'delay-answer', delayMs: span(random, 500, 45_000) }) },
];

const chatTroubles: readonly Omit<Trouble, 'endpoint'>[] = [
  { chance: 0.05, draw: () => answer(429, { error: { message: 'rate' } }, { 'retry-after': '3' }) },
  { chance: 0.04, draw: () => answer(500, { error: { message: 'boom' } }) },
  { chance: 0.03, draw: () => ({ kind: 'drop-after' }) },
  { chance: 0.02, draw: () => ({ kind: 'hang' }) },
  { chance: 0.02, draw: () => answer(200, { error: { message: 'overloaded', code: 502 } }) },
];

const writeTroubles: readonly Omit<Trouble, 'endpoint'>[] = [
  { chance: 0.04, draw: () => answer(400, { code: 1254291, msg: 'write conflict' }) },
  { chance: 0.02, draw: () => answer(200, { code: 1254607, msg: 'data not ready' }) },
  { chance: 0.02, draw: () => answer(429, { code: 99991400, msg: 'limited' }, { 'x-ogw-ratelimit-reset': '3' }) },
  { chance: 0.03, draw: () => ({ kind: 'answer-after', status: 504, body: { code: 1255040, msg: 'timeout' } }) },
  { chance: 0.01, draw: () => answer(200, { code: 99991663, msg: 'token invalid' }) },
  { chance: 0.01, draw: () => answer(400, { code: 99991663, msg: 'token invalid' }) },
  { chance: 0.01, draw: () => ({ kind: 'drop-after' }) },
  { chance: 0.01, draw: () => ({ kind: 'hang-after' }) },
];

const searchTroubles: readonly Omit<Trouble, 'endpoint'>[] = [
  { chance: 0.05, draw: (random) => ({ kind: 'search', twist: 'stale', withinMs: span(random, 1_000, 60_000) }) },
  { chance: 0.03, draw: () => ({ kind: 'search', twist: 'unfiltered' }) },
  { chance: 0.03, draw: () => ({ kind: 'search', twist: 'empty' }) },
  { chance: 0.03, draw: () => ({ kind: 'search', twist: 'repeat-row' }) },
  { chance: 0.01, draw: () => ({ kind: 'search', twist: 'lose-page' }) },
  { chance: 0.01, draw: () => ({ kind: 'search', twist: 'repeat-token' }) },
  { chance: 0.02, draw: () => answer(200, { code: 99991400, msg: 'limited' }) },
  { chance: 0.01, draw: () => ({ kind: 'hang' }) },
];

const mediaTroubles: readonly Omit<Trouble, 'endpoint'>[] = [
  { chance: 0.03, draw: () => answer(200, { code: 1061045, msg: 'retry' }) },
  { chance: 0.02, draw: () => answer(200, { code: 1061001, msg: 'internal' }) },
  { chance: 0.02, draw: (random) => ({ kind: 'delay', delayMs: span(random, 1_000, 50_000) }) },
  { chance: 0.01, draw: () => ({ kind: 'drop-after' }) },
];

const readTroubles: readonly Omit<Trouble, 'endpoint'>[] = [
  { chance: 0.02, draw: () => answer(200, { code: 1254607, msg: 'data not ready' }) },
  { chance: 0.02, draw: () => answer(400, { code: 99991663, msg: 'token invalid' }) },
  { chance: 0.01, draw: () => ({ kind: 'drop-after' }) },
];

/** Inputs on their way to a vendor: nothing is bought yet. */
const inputTroubles: readonly Omit<Trouble, 'endpoint'>[] = [
  { chance: 0.02, draw: () => answer(503, 'busy') },
  { chance: 0.02, draw: () => ({ kind: 'drop-after' }) },
  { chance: 0.02, draw: (random) => ({ kind: 'delay-answer', delayMs: span(random, 1_000, 60_000) }) },
  { chance: 0.01, draw: () => ({ kind: 'double' }) },
];

/** Beyond what the platform takes in one piece. */
const bigFilmBytes = 21 * 1024 * 1024;
const bigFilm = fate(() => ({ padToBytes: bigFilmBytes }));
const bigFilms: readonly Trouble[] = [
  { endpoint: 'kie.createTask', bodyIncludes: 'seedance', chance: 0.06, draw: bigFilm },
  { endpoint: 'toapis.videos.create', chance: 0.06, draw: bigFilm },
];

/** An upload in parts that fails midway: the part, the session, the end. */
const partTroubles: readonly Omit<Trouble, 'endpoint'>[] = [
  { chance: 0.06, draw: () => answer(200, { code: 1061045, msg: 'retry' }) },
  { chance: 0.02, draw: () => answer(200, { code: 1061021, msg: 'upload id expire' }) },
  { chance: 0.04, draw: () => ({ kind: 'drop-after' }) },
  { chance: 0.04, draw: () => ({ kind: 'drop-before' }) },
  { chance: 0.06, draw: (random) => ({ kind: 'delay', delayMs: span(random, 1_000, 50_000) }) },
];

const troubles: readonly Trouble[] = [
  // Before other fates: of several that strike one call, the first counts.
  ...bigFilms,
  ...spread(submits, submitTroubles),
  ...spread(checks, checkTroubles),
  ...spread(['llm.chat', 'llm-backup.chat', 'llm-third.chat'], chatTroubles),
  ...spread(['feishu.records.batchUpdate', 'feishu.records.update'], writeTroubles),
  ...spread(['feishu.records.search'], searchTroubles),
  ...spread(['feishu.media.uploadAll', 'feishu.media.download', 'files.download'], mediaTroubles),
  ...spread(['feishu.records.batchGet'], readTroubles),
  ...spread(['kie.upload', 'kie.downloadUrl', 'toapis.upload'], inputTroubles),
  ...spread(['feishu.media.uploadPrepare', 'feishu.media.uploadPart', 'feishu.media.uploadFinish'], partTroubles),
  ...spread(['files.download'], [{ chance: 0.05, draw: () => ({ kind: 'cut', afterBytes: 40 }) }]),
];

function spread(endpoints: readonly string[], kinds: readonly Omit<Trouble, 'endpoint'>[]): readonly Trouble[] {
  return endpoints.flatMap((endpoint) => kinds.map((kind) => ({ ...kind, endpoint })));
}

/** Lets troubles loose for the active hours; each seed has its own mood (how rough the world is). Returns the way to stop them. */
export function unleash(world: SimWorld): { stop(): void; faults(): number } {
  const random = world.luck('adversary');
  const roughness = 0.3 + random.next() * 1.4;
  const live = troubles.map((trouble) =>
    world.sandbox.faults.add({
      endpoint: trouble.endpoint,
      action: trouble.draw(random),
      ...(trouble.bodyIncludes === undefined ? {} : { bodyIncludes: trouble.bodyIncludes }),
      probability: Math.min(0.5, trouble.chance * roughness),
      count: Number.POSITIVE_INFINITY,
    }),
  );
  const hits = (): number => live.reduce((sum, rule) => sum + rule.hits(), 0);
  return {
    stop: () => {
      for (const rule of live) rule.remove();
    },
    faults: hits,
  };
}
