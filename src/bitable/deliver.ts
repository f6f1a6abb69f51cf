import type { OutboxRecord } from '../engine/ports/index.ts';
import { type Delivery, rowIsGone } from './acknowledge.ts';
import { deliverEnded } from './deliver-ended.ts';
import { deliverHeld, deliverLate, deliverStale } from './deliver-other.ts';
import { deliverVainRerun, isVainRerun } from './deliver-vain-rerun.ts';
import { maxDelivering } from './deps.ts';
import { type Hub, isReady, type RowPlace } from './hub.ts';
import { parseSourceRef, rowKey, type RowRef, tableKey } from './refs.ts';
import { loadRow, openCommands, stageOf } from './row-documents.ts';
import { createDoorbell } from './signal.ts';
import { takeRerun } from './take-rerun.ts';

/**
 * The consumer of the durable outbox. Entries of one row in order, rows side by side. An entry leaves the outbox only when
 * what it says stands in the row (or the row is gone); while the platform is away it stays and is tried again.
 */
export interface DeliveryPump {
  ring(): void;
  run(): Promise<void>;
  /** Entries under way. */
  size(): number;
  idle(): Promise<void>;
}

const pageSize = 200;
/** Entries that had to wait are looked at again after so long. */
const retryMs = 30_000;
const soonMs = 250;
/** While a base has all its hands full, what lies behind its entries is looked for so often. */
const deepLookMs = 5_000;

export function createDeliveryPump(hub: Hub): DeliveryPump {
  const bell = createDoorbell(hub.deps.clock);
  const settled = createDoorbell(hub.deps.clock);
  const busyRows = new Map<string, Promise<void>>();
  const inHand = new Set<number>();
  /** Entries in hand. */
  const perBase = new Map<string, number>();
  const bases = new Set([...hub.tables.values()].map((state) => state.table.appToken));
  const look = { deepFromMs: 0, hasRest: false };
  const waitingUntil = new Map<number, number>();

  const handle = async (entry: OutboxRecord, ref: RowRef & { stage: string }): Promise<void> => {
    const base = ref.table.appToken;
    try {
      const others = (): number => (perBase.get(base) ?? 1) - 1;
      const delivery = await deliverEntry(hub, entry, ref, others);
      if (delivery !== 'done')
        waitingUntil.set(entry.seq, hub.deps.clock.monotonicMs() + (delivery === 'soon' ? soonMs : retryMs));
    } catch (error) {
      waitingUntil.set(entry.seq, hub.deps.clock.monotonicMs() + retryMs);
      await reportFailure(hub, entry, error);
    } finally {
      perBase.set(base, (perBase.get(base) ?? 1) - 1);
      inHand.delete(entry.seq);
    }
  };
  // One base may be stuck with all its hands full: the others have their own.
  const isFull = (base: string): boolean => (perBase.get(base) ?? 0) >= maxDelivering;
  const someFull = (): boolean => [...bases].some(isFull);
  const allFull = (): boolean => [...bases].every(isFull);
  const dispatch = (entry: OutboxRecord): void => {
    const ref = parseSourceRef(entry.sourceRef);
    if (ref === undefined) {
      if (entry.sourceRef.startsWith('bitable:')) return;
      // Asked for by the command line: nobody waits for cells.
      void hub.deps.store.commit([{ type: 'ack-outbox', seq: entry.seq }]).catch((error: unknown) => {
        waitingUntil.set(entry.seq, hub.deps.clock.monotonicMs() + retryMs);
        hub.deps.logger.warn('an end could not be acknowledged, will be tried again', { seq: entry.seq, error });
      });
      return;
    }
    if (!hub.tables.has(tableKey(ref.table))) return;
    const nowMs = hub.deps.clock.monotonicMs();
    const base = ref.table.appToken;
    if (inHand.has(entry.seq) || (waitingUntil.get(entry.seq) ?? 0) > nowMs || isFull(base)) return;
    inHand.add(entry.seq);
    perBase.set(base, (perBase.get(base) ?? 0) + 1);
    waitingUntil.delete(entry.seq);
    const key = rowKey(ref);
    const before = busyRows.get(key) ?? Promise.resolve();
    const mine = before.then(async () => await handle(entry, ref));
    busyRows.set(key, mine);
    void mine.finally(() => {
      if (busyRows.get(key) === mine) busyRows.delete(key);
      bell.ring();
      settled.ring();
    });
  };
  const drain = async (): Promise<void> => {
    const nowMs = hub.deps.clock.monotonicMs();
    const isDeep = nowMs >= look.deepFromMs;
    look.hasRest = false;
    let after: number | undefined;
    while (!allFull() && !hub.signal.aborted) {
      const entries = await hub.deps.store.outbox(pageSize, after);
      for (const entry of entries) dispatch(entry);
      after = entries.at(-1)?.seq;
      if (entries.length < pageSize || after === undefined) return;
      if (!someFull()) continue;
      look.hasRest = !isDeep;
      if (look.hasRest) return;
      look.deepFromMs = nowMs + deepLookMs;
    }
  };
  /** Until the next entry that has to wait. What was due already when the last drain began has left the outbox another way, or is rung for when a hand is free. */
  const untilNextMs = (drainedAtMs: number): number => {
    let nextMs = look.hasRest ? look.deepFromMs : Number.POSITIVE_INFINITY;
    for (const [seq, dueMs] of waitingUntil) {
      if (dueMs > drainedAtMs) nextMs = Math.min(nextMs, dueMs);
      else waitingUntil.delete(seq);
    }
    return Math.max(1, nextMs - hub.deps.clock.monotonicMs());
  };
  return {
    ring: () => bell.ring(),
    size: () => inHand.size,
    run: async () => {
      while (!hub.signal.aborted) {
        const startedMs = hub.deps.clock.monotonicMs();
        await drain().catch(async (error: unknown) => await reportFailure(hub, undefined, error));
        await bell.wait(untilNextMs(startedMs), hub.signal);
      }
    },
    idle: async () => {
      await drain();
      while (inHand.size > 0 && !hub.signal.aborted) {
        await settled.wait(Number.POSITIVE_INFINITY, hub.signal);
        await drain();
      }
    },
  };
}

async function deliverEntry(
  hub: Hub,
  entry: OutboxRecord,
  ref: RowRef & { readonly stage: string },
  others: () => number,
): Promise<Delivery> {
  const table = hub.tables.get(tableKey(ref.table));
  if (table === undefined || !isReady(table)) return 'later';
  const place: RowPlace = { table, recordId: ref.recordId };
  const key = rowKey(ref);
  const { store } = hub.deps;
  const row = await loadRow(store, key);
  if (row === undefined) return await rowIsGone(hub, place, entry);
  const commands = await openCommands(store, `${key}#`);
  // Submitted a moment ago and not noted yet: whose end this is will be known when the command has been executed.
  if (commands.some((command) => command.plan.kind === 'start' && command.phase === 'cleared')) return 'soon';
  const stageIndex = table.agent.stages.findIndex((stage) => stage.stage === ref.stage);
  const stage = table.agent.stages[stageIndex];
  if (stage === undefined) return await deliverStale(hub, place, row, 0, { ...entry, isRerun: false });
  const { message } = entry;
  if (message.kind === 'late-result') {
    return await deliverLate(hub, place, row, stage, stageIndex, { ...entry, message });
  }
  const isCurrent =
    row.current?.executionId === entry.executionId && stageOf(row, ref.stage).generation === entry.generation;
  const execution = isCurrent ? undefined : await store.execution(entry.executionId);
  const own = isCurrent ? row : await takeRerun(hub, place, ref.stage, execution);
  if (own === undefined) {
    return await deliverStale(hub, place, row, stageIndex, { ...entry, isRerun: execution?.parentId !== undefined });
  }
  if (message.kind === 'held') return await deliverHeld(hub, place, own, stageIndex, { ...entry, message });
  if (isVainRerun(own, message)) {
    return await deliverVainRerun(hub, place, own, stageIndex, { ...entry, message });
  }
  return await deliverEnded(hub, place, own, stageIndex, { ...entry, message }, others);
}

async function reportFailure(hub: Hub, entry: OutboxRecord | undefined, error: unknown): Promise<void> {
  if (hub.signal.aborted) return;
  hub.deps.logger.error('a result could not be written back, will be tried again', { seq: entry?.seq, error });
  await hub.notice({
    name: 'write-back-failed',
    title: '结果写回时程序出错，将自动再试',
    text: error instanceof Error ? error.message : 'unknown error',
  });
}
