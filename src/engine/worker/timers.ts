import type { Clock } from '../../kernel/index.ts';

/** Something that is to happen at a time. One object per waiting thing, no closure: thousands of them are cheap. */
export interface Timed {
  /** Monotonic milliseconds. Set by `Timers`. */
  dueMs: number;
  /** Place in the heap, -1 when it waits for nothing. Set by `Timers`. */
  slot: number;
  onDue(): void;
}

/** One heap over all that waits, one platform timer for the earliest. */
export interface Timers {
  /** (Re)arms; an earlier time of the same thing is forgotten. */
  arm(timed: Timed, delayMs: number): void;
  disarm(timed: Timed): void;
  readonly size: number;
  /** Forgets all. */
  stop(): void;
}

export function createTimers(clock: Clock): Timers {
  const heap: Timed[] = [];
  let cancel: (() => void) | undefined;
  let armedForMs = Number.POSITIVE_INFINITY;
  let isStopped = false;
  const at = (slot: number): Timed => {
    const timed = heap[slot];
    if (timed === undefined) throw new Error('heap slot is empty');
    return timed;
  };
  const put = (timed: Timed, slot: number): void => {
    heap[slot] = timed;
    timed.slot = slot;
  };
  const up = (timed: Timed, from: number): void => {
    let slot = from;
    while (slot > 0) {
      const parent = (slot - 1) >> 1;
      if (at(parent).dueMs <= timed.dueMs) break;
      put(at(parent), slot);
      slot = parent;
    }
    put(timed, slot);
  };
  const down = (timed: Timed, from: number): void => {
    let slot = from;
    for (;;) {
      let child = slot * 2 + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && at(child + 1).dueMs < at(child).dueMs) child += 1;
      if (at(child).dueMs >= timed.dueMs) break;
      put(at(child), slot);
      slot = child;
    }
    put(timed, slot);
  };
  const remove = (timed: Timed): void => {
    const { slot } = timed;
    if (slot < 0) return;
    timed.slot = -1;
    const last = heap.pop();
    if (last === undefined || last === timed) return;
    if (slot > 0 && at((slot - 1) >> 1).dueMs > last.dueMs) up(last, slot);
    else down(last, slot);
  };
  const fire = (): void => {
    cancel = undefined;
    armedForMs = Number.POSITIVE_INFINITY;
    const nowMs = clock.monotonicMs();
    // A bounded batch a turn: ten thousand due at once must not stall the loop.
    for (let served = 0; served < 256 && heap.length > 0 && at(0).dueMs <= nowMs; served += 1) {
      const first = at(0);
      remove(first);
      first.onDue();
    }
    schedule();
  };
  const schedule = (): void => {
    const first = heap[0];
    if (isStopped || first === undefined || first.dueMs >= armedForMs) return;
    cancel?.();
    armedForMs = first.dueMs;
    cancel = clock.after(Math.max(0, first.dueMs - clock.monotonicMs()), fire);
  };
  return {
    arm: (timed, delayMs) => {
      if (isStopped) return;
      remove(timed);
      timed.dueMs = clock.monotonicMs() + Math.max(0, delayMs);
      heap.push(timed);
      up(timed, heap.length - 1);
      schedule();
    },
    disarm: remove,
    get size() {
      return heap.length;
    },
    stop: () => {
      isStopped = true;
      cancel?.();
      cancel = undefined;
      for (const timed of heap) timed.slot = -1;
      heap.length = 0;
    },
  };
}
