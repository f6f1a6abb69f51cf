import type { Clock } from '../kernel/index.ts';

/** With so many others about, a result waits so long for them to share its write; the first line that fits counts. */
const resultPatience = [
  { others: 25, waitMs: 15_000 },
  { others: 8, waitMs: 10_000 },
  { others: 3, waitMs: 5_000 },
  { others: 1, waitMs: 2_000 },
] as const;
/** Never longer than this share of the time that it took to make. */
const shareOfMaking = 0.1;

/**
 * How long a result may wait for company: executions that still run, and results on their way to the same base. A row alone
 * is written at once. Where many rows run, people wait for the batch and nobody for one row of it to the second, while each
 * write of its own costs two calls of the month's quota.
 */
export function resultPatienceMs(others: number, madeInMs: number): number {
  const longestMs = resultPatience.find((each) => others >= each.others)?.waitMs ?? 0;
  return Math.min(longestMs, Math.round(madeInMs * shareOfMaking));
}

/** Executions in flight from which on it is a batch. */
const batchFrom = 8;

/** Messages wait so long for others to the same receiver; in a batch people want one message, not fifty. */
export function messageGatherMs(running: number): number {
  return running >= batchFrom ? 60_000 : 15_000;
}

/** Turns after an event that go at once within `burstMs`; further ones gather words first, while so many executions run. */
const promptTurns = 3;
const burstMs = 20_000;
const gatherWordsMs = 4_000;

/**
 * Paces the turns that events ring for. A word typed by itself is taken up at once. In a batch, where words keep coming, each
 * turn waits a little, so that they cost a few reads and clears instead of three calls a word.
 */
export function createWakePace(clock: Clock, running: () => number): () => number {
  let recentMs: readonly number[] = [];
  return () => {
    const nowMs = clock.monotonicMs();
    recentMs = [...recentMs.filter((atMs) => atMs > nowMs - burstMs), nowMs];
    return recentMs.length > promptTurns && running() >= batchFrom ? gatherWordsMs : 0;
  };
}
