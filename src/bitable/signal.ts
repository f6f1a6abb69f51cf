import type { Clock } from '../kernel/index.ts';

/** A loop's doorbell: `wait` resolves when rung, when so long has passed, or when aborted. A ring is never lost. */
export interface Doorbell {
  ring(): void;
  wait(limitMs: number, signal: AbortSignal): Promise<void>;
}

export function createDoorbell(clock: Clock): Doorbell {
  let rung = false;
  let wake: (() => void) | undefined;
  return {
    ring: () => {
      rung = true;
      wake?.();
    },
    wait: async (limitMs, signal) => {
      if (!rung && !signal.aborted && limitMs > 0) {
        await new Promise<void>((resolve) => {
          const done = (): void => {
            cancel();
            signal.removeEventListener('abort', done);
            wake = undefined;
            resolve();
          };
          const cancel = Number.isFinite(limitMs) ? clock.after(limitMs, done) : (): void => undefined;
          signal.addEventListener('abort', done, { once: true });
          wake = done;
        });
      }
      rung = false;
    },
  };
}

/** One at a time for each key, in order of asking. */
export interface KeyedLock {
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
}

export function createKeyedLock(): KeyedLock {
  const tails = new Map<string, Promise<unknown>>();
  return {
    run: async (key, work) => {
      const before = tails.get(key) ?? Promise.resolve();
      const mine = before.then(work, work);
      const tail = mine.then(
        () => undefined,
        () => undefined,
      );
      tails.set(key, tail);
      try {
        return await mine;
      } finally {
        if (tails.get(key) === tail) tails.delete(key);
      }
    },
  };
}
