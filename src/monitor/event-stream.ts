import type { EventRecord, Store } from '../engine/ports/index.ts';
import type { Clock } from '../kernel/index.ts';

export interface EventStreamDeps {
  readonly store: Pick<Store, 'events' | 'lastEventSeq' | 'onAppend'>;
  readonly clock: Clock;
  /** How often the log's end is looked at for what other processes wrote; default 1 s, only while somebody listens. */
  readonly pollMs?: number;
}

/** What a subscriber wants of the log; absent members: everything. */
export type EventFilter = NonNullable<Parameters<Store['events']>[2]>;

/** A comment line so often keeps proxies and browsers from closing a quiet stream. */
const quietMs = 15_000;
const batch = 200;

/**
 * The event log as server-sent events, from after `afterSeq` on (absent: from now on), as far as the filter lets them
 * through. Each event's `id` is its number, so a browser that reconnects goes on with `Last-Event-ID` and misses none.
 * Reading is driven by the reader: a slow one slows nothing and fills no memory.
 */
export function eventStream(
  deps: EventStreamDeps,
  afterSeq?: number,
  filter: EventFilter = {},
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const waiter = createWaiter(deps);
  const ended = new AbortController();
  const isOpen = (): boolean => !ended.signal.aborted;
  let seq = afterSeq ?? 0;
  return new ReadableStream<Uint8Array>(
    {
      start: async (controller) => {
        if (afterSeq === undefined) seq = await deps.store.lastEventSeq();
        controller.enqueue(encoder.encode('retry: 2000\n\n'));
      },
      pull: async (controller) => {
        while (isOpen()) {
          // Read first: what a filter leaves out up to here need not be looked at again.
          const end = await deps.store.lastEventSeq();
          const events = await deps.store.events(seq, batch, filter);
          const last = events.at(-1);
          if (last !== undefined) {
            seq = last.seq;
            controller.enqueue(encoder.encode(events.map(frame).join('')));
            return;
          }
          seq = Math.max(seq, end);
          if (!(await waiter.next(seq))) {
            if (isOpen()) controller.enqueue(encoder.encode(': quiet\n\n'));
            return;
          }
        }
      },
      cancel: () => {
        ended.abort();
        waiter.close();
      },
    },
    { highWaterMark: 0 },
  );
}

function frame(event: EventRecord): string {
  return `id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** Waits for the log to grow: told within this process, looked at for others. `false` when it stayed quiet. */
function createWaiter(deps: EventStreamDeps): { next(seq: number): Promise<boolean>; close(): void } {
  let isGrown = false;
  let wake: (() => void) | undefined;
  const unsubscribe = deps.store.onAppend(() => {
    isGrown = true;
    wake?.();
  });
  const pause = async (delayMs: number): Promise<void> => {
    await new Promise<void>((resolve) => {
      const cancel = deps.clock.after(delayMs, resolve);
      wake = () => {
        cancel();
        resolve();
      };
    });
    wake = undefined;
  };
  const closed = new AbortController();
  const isClosed = (): boolean => closed.signal.aborted;
  return {
    next: async (seq) => {
      const untilMs = deps.clock.monotonicMs() + quietMs;
      while (!isClosed() && deps.clock.monotonicMs() < untilMs) {
        if (isGrown) {
          isGrown = false;
          return true;
        }
        await pause(deps.pollMs ?? 1_000);
        if (!isClosed() && (await deps.store.lastEventSeq()) > seq) return true;
      }
      return false;
    },
    close: () => {
      closed.abort();
      unsubscribe();
      wake?.();
    },
  };
}
