import { z } from 'zod';
import type { EventRecord, Store } from '../engine/ports/index.ts';
import type { Clock, Logger } from '../kernel/index.ts';
import type { Alerter } from './alert.ts';
import { createStoredState } from './alert-state.ts';
import { alertingEvents, eventAlert } from './event-words.ts';

const cursorSchema = z.object({ seq: z.number() });
const batch = 500;
const idlePollMs = 5_000;
/** How far ahead the degradation may stand that follows an exhaustion; they are written together. */
const nearBy = 10;
/** Waking is spread a little, so that a burst of commits is read once. */
const gatherMs = 100;

export interface EventAlerts {
  /** Reads on from the stored cursor until the log's end. Never rejects. */
  catchUp(): Promise<void>;
  start(): void;
  stop(): void;
}

/**
 * Follows the event log from a stored cursor and alerts. The cursor is stored after the alerts are recorded: a crash in
 * between reads the same events again, and the alerter folds them. Without a stored cursor it begins with what this
 * process has written: a new installation may have something to tell in its first second.
 */
export function createEventAlerts(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly alerter: Pick<Alerter, 'alert' | 'recover'>;
}): EventAlerts {
  const stored = createStoredState<{ seq: number }>(deps, 'alerts-cursor', cursorSchema, () => ({ seq: -1 }));
  const bornAt = deps.clock.nowMs();
  let seq: number | undefined;
  let busy: Promise<void> | undefined;
  let isAgain = false;
  let unsubscribe: (() => void) | undefined;
  let cancel: (() => void) | undefined;

  const readOn = async (): Promise<void> => {
    seq ??= (await stored.load()).seq;
    if (seq < 0) {
      seq = await seqBefore(deps.store, bornAt);
      await stored.save({ seq });
    }
    for (;;) {
      const end = await deps.store.lastEventSeq();
      if (end <= seq) return;
      const events = await deps.store.events(seq, batch, { types: alertingEvents });
      for (const [index, event] of events.entries()) {
        if (isToldBetter(event, events.slice(index + 1, index + 1 + nearBy))) continue;
        const found = eventAlert(event);
        if (found?.kind === 'alert') await deps.alerter.alert(found.input);
        else if (found?.kind === 'recover') await deps.alerter.recover(found);
      }
      const last = events.at(-1);
      const hasMore = events.length === batch && last !== undefined;
      seq = hasMore ? last.seq : Math.max(end, last?.seq ?? 0);
      // Nothing was told: the place is kept in memory only, so that quiet work writes nothing.
      if (events.length > 0) await stored.save({ seq });
      if (!hasMore) return;
    }
  };
  const catchUp = (): Promise<void> => {
    if (busy !== undefined) {
      isAgain = true;
      return busy;
    }
    busy = readOn()
      .catch((error: unknown) => {
        deps.logger.error('event alerts failed', { error: String(error) });
      })
      .finally(() => {
        busy = undefined;
      })
      .then(() => {
        if (!isAgain) return undefined;
        isAgain = false;
        return catchUp();
      });
    return busy;
  };
  const arm = (delayMs: number): void => {
    cancel?.();
    cancel = deps.clock.after(delayMs, () => {
      isWoken = false;
      void catchUp().finally(() => {
        if (unsubscribe !== undefined && !isWoken) arm(idlePollMs);
      });
    });
  };
  let isWoken = false;
  return {
    catchUp,
    start: () => {
      unsubscribe = deps.store.onAppend(() => {
        if (isWoken) return;
        isWoken = true;
        arm(gatherMs);
      });
      arm(0);
    },
    stop: () => {
      unsubscribe?.();
      unsubscribe = undefined;
      cancel?.();
    },
  };
}

/** A node whose candidates are spent and that then degrades is one trouble: the degradation says how it went on. */
function isToldBetter(event: EventRecord, following: readonly EventRecord[]): boolean {
  if (event.type !== 'candidates-exhausted') return false;
  return following.some(
    (next) =>
      next.type === 'node-degraded' &&
      next.executionId === event.executionId &&
      next.data['node'] === event.data['node'],
  );
}

/** The number behind which everything was written after `atMs`, as far as the log's end shows. */
async function seqBefore(store: Pick<Store, 'events' | 'lastEventSeq'>, atMs: number): Promise<number> {
  const end = await store.lastEventSeq();
  const tail = await store.events(Math.max(0, end - batch), batch);
  const first = tail.find((event) => event.at > atMs);
  return first === undefined ? end : first.seq - 1;
}
