import { type Clock, sleep } from '../kernel/index.ts';
import { abortable } from './abortable.ts';

/**
 * Keeps media calls within Feishu's rules: so many a second for each endpoint, uploads one after the other.
 *
 * An endpoint has N places. A call holds one from its sending, and gives it back one second after its answer: however the
 * network delays requests, the server can never see more than N of them within a second.
 */
export interface MediaGate {
  /** Waits for a place; the returned function gives it back, to be called when the answer is there. */
  enter(endpoint: string, signal?: AbortSignal): Promise<() => void>;
  /** Runs `work` when every earlier one has ended. */
  exclusively<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

export function createMediaGate(clock: Clock, callsPerSecond: number): MediaGate {
  const lanes = new Map<string, Lane>();
  let last: Promise<unknown> = Promise.resolve();
  return {
    enter: async (endpoint, signal) => {
      if (callsPerSecond <= 0) return () => undefined;
      const lane = lanes.get(endpoint) ?? createLane(clock, callsPerSecond);
      lanes.set(endpoint, lane);
      return lane(signal);
    },
    exclusively: async (work, signal) => {
      const before = last;
      let finish = (): void => undefined;
      last = new Promise<void>((resolve) => {
        finish = resolve;
      });
      // Whoever gives up while waiting must not let the next one overtake those before it.
      try {
        await abortable(before, signal);
      } catch (error) {
        void before.then(finish);
        throw error;
      }
      try {
        return await work();
      } finally {
        finish();
      }
    },
  };
}

type Lane = (signal?: AbortSignal) => Promise<() => void>;

function createLane(clock: Clock, callsPerSecond: number): Lane {
  const windowMs = callsPerSecond < 1 ? 1_000 / callsPerSecond : 1_000;
  /** When each place is free, by the monotonic clock; Infinity while its call is under way. */
  const freeAtMs: number[] = Array.from({ length: Math.max(1, Math.floor(callsPerSecond)) }, () => 0);
  let given = new AbortController();

  return async (signal) => {
    for (;;) {
      const nowMs = clock.monotonicMs();
      const earliestMs = Math.min(...freeAtMs);
      if (earliestMs <= nowMs) {
        const place = freeAtMs.indexOf(earliestMs);
        freeAtMs[place] = Number.POSITIVE_INFINITY;
        return () => {
          freeAtMs[place] = clock.monotonicMs() + windowMs;
          given.abort();
          given = new AbortController();
        };
      }
      await waitForPlace(clock, earliestMs - nowMs, given.signal, signal);
    }
  };
}

/** Ends when the time has come or a place was given back; rejects only on the caller's abort. */
async function waitForPlace(
  clock: Clock,
  delayMs: number,
  givenBack: AbortSignal,
  signal: AbortSignal | undefined,
): Promise<void> {
  const either = signal === undefined ? givenBack : AbortSignal.any([givenBack, signal]);
  try {
    if (Number.isFinite(delayMs)) await sleep(clock, delayMs, either);
    else await abortable(new Promise<never>(() => undefined), either);
  } catch {
    signal?.throwIfAborted();
  }
}
