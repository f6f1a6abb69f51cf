import type { VirtualClock } from '../../src/kernel/index.ts';

/** Moves a virtual clock on until `work` has settled, from one due timer to the next. */
export async function drive<T>(clock: VirtualClock, work: Promise<T>, maxSteps = 2_000): Promise<T> {
  let state = 'waiting';
  const isSettled = (): boolean => state === 'settled';
  const done = (): void => {
    state = 'settled';
  };
  work.then(done, done);
  for (let step = 0; step < maxSteps && !isSettled(); step += 1) {
    await clock.advance(0);
    const dueInMs = isSettled() ? undefined : clock.nextDueInMs();
    if (dueInMs !== undefined) await clock.advance(dueInMs);
  }
  return await work;
}
