import { MessageChannel } from 'node:worker_threads';
import { type Clock, type Random, randomInt } from '../../src/kernel/index.ts';

/**
 * The simulator's time. Exactly one due timer runs, then everything that it set off settles (microtasks, and the few
 * macrotasks that streams need), then the next: so the order of the world is the seed's and nothing else's. Timers that
 * fall due together run in an order that the seed draws. Time goes in whole milliseconds, as a platform's timers do: fractions
 * would make a wait of the smallest float in front of each rounded instant.
 */
export interface SimClock extends Clock {
  /** Runs what falls due up to `untilMs` (monotonic). */
  runUntil(untilMs: number): Promise<void>;
  jumpWall(byMs: number): void;
  /** The clock on everybody else's wall: only the worker's machine sees its own jump. */
  readonly outside: Clock;
  /** Timers run so far: the simulator's count of events. */
  steps(): number;
}

interface Timer {
  readonly dueMs: number;
  /** Breaks ties, drawn when the timer is made. */
  readonly rank: number;
  readonly serial: number;
  run: (() => void) | undefined;
}

export function createSimClock(startAtMs: number, random: Random): SimClock {
  let monotonic = 0;
  let wallOffset = startAtMs;
  let serial = 0;
  let steps = 0;
  const heap: Timer[] = [];
  const steady = {
    monotonicMs: () => monotonic,
    after: (delayMs: number, run: () => void) => {
      const timer: Timer = {
        dueMs: monotonic + (Number.isFinite(delayMs) ? Math.ceil(Math.max(0, delayMs)) : Number.MAX_SAFE_INTEGER),
        rank: randomInt(random, 1_000_000),
        serial: serial++,
        run,
      };
      push(heap, timer);
      return () => {
        timer.run = undefined;
      };
    },
  };
  return {
    ...steady,
    nowMs: () => Math.floor(wallOffset + monotonic),
    outside: { ...steady, nowMs: () => Math.floor(startAtMs + monotonic) },
    jumpWall: (byMs) => {
      wallOffset += byMs;
    },
    steps: () => steps,
    runUntil: async (untilMs) => {
      const { settle, close } = createSettler();
      await settle();
      for (let next = heap[0]; next !== undefined && next.dueMs <= untilMs; next = heap[0]) {
        pop(heap);
        if (next.run === undefined) continue;
        monotonic = Math.max(monotonic, next.dueMs);
        steps += 1;
        next.run();
        await settle();
      }
      close();
      monotonic = Math.max(monotonic, untilMs);
    },
  };
}

/**
 * Until nothing of this instant is left to do: a message to oneself comes after all microtasks and ticks, which are
 * what most timers set off; then turns of the real event loop for as long as something waits for one. Such a turn costs several times
 * what the message does, and two of them a timer were a third of the simulation.
 */
function createSettler(): { readonly settle: () => Promise<void>; readonly close: () => void } {
  const { port1, port2 } = new MessageChannel();
  let heard = (): void => undefined;
  port1.on('message', () => heard());
  return {
    settle: async () => {
      for (;;) {
        await new Promise<void>((resolve) => {
          heard = resolve;
          port2.postMessage(undefined);
        });
        if (!process.getActiveResourcesInfo().includes('Immediate')) return;
        await new Promise<void>((resolve) => setImmediate(resolve));
      }
    },
    close: () => port1.close(),
  };
}

function isBefore(left: Timer, right: Timer): boolean {
  if (left.dueMs !== right.dueMs) return left.dueMs < right.dueMs;
  return left.rank !== right.rank ? left.rank < right.rank : left.serial < right.serial;
}

function push(heap: Timer[], timer: Timer): void {
  let index = heap.length;
  heap.push(timer);
  while (index > 0) {
    const parent = (index - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || isBefore(above, timer)) break;
    heap[index] = above;
    index = parent;
  }
  heap[index] = timer;
}

function pop(heap: Timer[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let index = 0;
  for (;;) {
    const left = 2 * index + 1;
    const child = smaller(heap, left, left + 1);
    const below = heap[child];
    if (below === undefined || !isBefore(below, last)) break;
    heap[index] = below;
    index = child;
  }
  heap[index] = last;
}

function smaller(heap: readonly Timer[], left: number, right: number): number {
  const first = heap[left];
  const second = heap[right];
  return first !== undefined && second !== undefined && isBefore(second, first) ? right : left;
}
