/**
 * Time, as an argument. `nowMs` is wall time (epoch milliseconds; it may jump), `monotonicMs` only ever grows.
 * The live clock and the virtual clock of tests and simulation both implement this.
 */
export interface Clock {
  nowMs(): number;
  monotonicMs(): number;
  /** Calls `run` once after at least `delayMs`; returns a function that calls it off. Delays beyond 2^31-1 ms are legal. */
  after(delayMs: number, run: () => void): () => void;
}

/** Longest delay that a platform timer takes; a longer one would fire at once. */
const maxTimerMs = 2 ** 31 - 1;

/** The reason with which a wait ends when its signal is aborted without a reason of its own. */
export class AbortedError extends Error {
  override readonly name = 'AbortedError';
}

/** Resolves after `delayMs`, rejects with the signal's reason when aborted first. */
export async function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(abortReason(signal));
      return;
    }
    const onAbort = (): void => {
      cancel();
      reject(abortReason(signal));
    };
    const cancel = clock.after(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/**
 * A signal that aborts after `limitMs` or when `parent` does, whichever is first. Call `release` when the work is done.
 * `expired()` tells whether it was the limit.
 */
export function deadline(
  clock: Clock,
  limitMs: number,
  parent?: AbortSignal,
): { signal: AbortSignal; release: () => void; expired: () => boolean } {
  const controller = new AbortController();
  let isExpired = false;
  const cancel = clock.after(limitMs, () => {
    isExpired = true;
    controller.abort(new AbortedError(`no answer within ${limitMs} ms`));
  });
  const onAbort = (): void => {
    controller.abort(abortReason(parent));
  };
  if (parent?.aborted === true) onAbort();
  else parent?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    release: () => {
      cancel();
      parent?.removeEventListener('abort', onAbort);
    },
    expired: () => isExpired,
  };
}

function abortReason(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new AbortedError('aborted');
}

/** Runs in the next turn of the event loop, after whatever input waits; no time passes. */
export function nextTurn(run: () => void): void {
  setImmediate(run);
}

/** Runs at the end of this turn, when every promise callback that is due has run. Deterministic: no macrotask passes. */
export function endOfTurn(run: () => void): void {
  queueMicrotask(() => {
    process.nextTick(run);
  });
}

/** The real clock. Only `app` builds it. */
export function createSystemClock(): Clock {
  return {
    nowMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    after: (delayMs, run) => {
      const dueMs = performance.now() + (Number.isFinite(delayMs) ? Math.max(0, delayMs) : maxTimerMs);
      let timer: NodeJS.Timeout;
      const arm = (): void => {
        const leftMs = dueMs - performance.now();
        timer = leftMs > maxTimerMs ? setTimeout(arm, maxTimerMs) : setTimeout(run, Math.max(0, leftMs));
      };
      arm();
      return () => {
        clearTimeout(timer);
      };
    },
  };
}

/** A clock for tests: nothing moves until `advance`. Due timers run in order of time, then of their making. */
export interface VirtualClock extends Clock {
  /** Moves time on by `byMs`, running what falls due, letting promise callbacks settle in between. */
  advance(byMs: number): Promise<void>;
  /** Delay until the next timer, or undefined when none waits. */
  nextDueInMs(): number | undefined;
  /** Makes wall time jump without the monotonic clock noticing. */
  jumpWall(byMs: number): void;
}

export function createVirtualClock(startAtMs = 1_767_225_600_000): VirtualClock {
  let monotonic = 0;
  let wallOffset = startAtMs;
  let serial = 0;
  const timers = new Map<number, { dueMs: number; run: () => void }>();
  const next = (): [number, { dueMs: number; run: () => void }] | undefined => {
    let first: [number, { dueMs: number; run: () => void }] | undefined;
    for (const entry of timers) if (first === undefined || entry[1].dueMs < first[1].dueMs) first = entry;
    return first;
  };
  return {
    nowMs: () => Math.floor(wallOffset + monotonic),
    monotonicMs: () => monotonic,
    after: (delayMs, run) => {
      const id = serial++;
      timers.set(id, { dueMs: monotonic + Math.max(0, delayMs), run });
      return () => timers.delete(id);
    },
    nextDueInMs: () => {
      const first = next();
      return first === undefined ? undefined : Math.max(0, first[1].dueMs - monotonic);
    },
    jumpWall: (byMs) => {
      wallOffset += byMs;
    },
    advance: async (byMs) => {
      const untilMs = monotonic + byMs;
      await settle();
      for (let first = next(); first !== undefined && first[1].dueMs <= untilMs; first = next()) {
        timers.delete(first[0]);
        monotonic = Math.max(monotonic, first[1].dueMs);
        first[1].run();
        await settle();
      }
      monotonic = untilMs;
      await settle();
    },
  };
}

/** Lets promise callbacks and one turn of the event loop run. */
async function settle(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
}
