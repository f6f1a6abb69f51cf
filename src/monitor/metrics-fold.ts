import type { EventRecord, ExecutionRecord, Store } from '../engine/ports/index.ts';
import type { AttemptId, ExecutionId } from '../kernel/index.ts';
import type { Calendar } from './calendar.ts';
import { createCallBook, fromRecord } from './call-facts.ts';
import { countEvent, dayCounts, type MetricsState } from './day-counts.ts';
import type { LiveExecutions } from './live-executions.ts';
import { createMoneyBook, type MoneyBook } from './money-book.ts';
import { countDecision } from './people.ts';

export interface MetricsFoldDeps {
  readonly store: Store;
  readonly calendar: Calendar;
  readonly live: LiveExecutions;
  readonly state: () => MetricsState;
  readonly isConfirmPoint: (agent: string, stage: string) => boolean;
  /** An execution moved. */
  readonly onMove: (id: ExecutionId, isRest: boolean) => void;
}

/** Takes the event log into the counters, the list and the money book. */
export interface MetricsFold {
  /** Fills the list from the store, once. */
  open(): Promise<void>;
  /** Reads on; the number of events taken in. */
  readOn(): Promise<number>;
  readonly book: MoneyBook;
}

/** What moves a number or a line; the rest of the log is not even read. */
const countedEvents = [
  'execution-queued',
  'execution-started',
  'execution-held',
  'execution-resumed',
  'execution-ended',
  'node-started',
  'node-waiting',
  'node-held',
  'node-degraded',
  'attempt-intended',
  'attempt-accepted',
  'attempt-found',
  'attempt-refused',
  'attempt-unknown',
  'attempt-overdue',
  'attempt-settled',
  'attempt-resolved',
  'candidate-switched',
  'charge-settled',
  'late-result',
  'provider-paused',
  'provider-resumed',
  'status-unrecognised',
] as const satisfies readonly EventRecord['type'][];

const batch = 500;
/** Events of one call: a backlog after a long stop is taken in over several, so that the files stay fresh. */
const mostBatches = 20;
const mostOpen = 5_000;
const endedAtStart = 300;

export function createMetricsFold(deps: MetricsFoldDeps): MetricsFold {
  const { store, live } = deps;
  const book = createMoneyBook(deps);
  const calls = createCallBook(store);
  /** Calls whose charges may have changed since they were last read. */
  const spending = new Set<AttemptId>();
  const meet = async (id: ExecutionId, event: EventRecord, day: string): Promise<void> => {
    const record = await store.execution(id);
    if (record === undefined) return;
    live.put(asAt(record, event));
    if (event.type === 'execution-queued')
      await countDecision(store, record, dayCounts(deps.state(), day), deps.isConfirmPoint);
  };
  const take = async (event: EventRecord): Promise<void> => {
    const call = await calls.of(event);
    if (call !== undefined && mayCharge(event)) spending.add(call.id);
    const day = deps.calendar.dayOf(event.at);
    countEvent(deps.state(), event, day, call);
    const id = event.executionId;
    if (id === undefined) return;
    if (!live.has(id)) await meet(id, event, day);
    live.apply(event, call);
    deps.onMove(id, event.type === 'execution-ended' || event.type === 'execution-held');
  };
  return {
    book,
    open: () => fillLive(store, live),
    readOn: async () => {
      const state = deps.state();
      let taken = 0;
      for (let round = 0; round < mostBatches; round += 1) {
        const events = await store.events(state.cursor, batch, { types: countedEvents });
        for (const event of events) {
          await take(event);
          state.cursor = event.seq;
        }
        // After the batch, once a call: what is read is at least as new as every event of it.
        for (const id of spending) await book.update(id);
        spending.clear();
        taken += events.length;
        if (events.length < batch) break;
      }
      return taken;
    },
  };
}

async function fillLive(store: Store, live: LiveExecutions): Promise<void> {
  let after: ExecutionId | undefined;
  for (let met = 0; met < mostOpen; met += batch) {
    const page = await store.unfinished(batch, after);
    for (const record of page) {
      live.put(record);
      for (const attempt of await store.attempts(record.id))
        live.applyCall(record.id, fromRecord(attempt), attempt.acceptedAt ?? attempt.intendedAt);
    }
    after = page.at(-1)?.id;
    if (page.length < batch) break;
  }
  const ended = await store.executions({
    statuses: ['succeeded', 'partial', 'failed', 'canceled'],
    limit: endedAtStart,
  });
  for (const record of ended.toReversed()) live.put(record);
}

/** First seen at its first event, an execution stands where that event stands, not where its record has gone since. */
function asAt(record: ExecutionRecord, event: EventRecord): ExecutionRecord {
  if (event.type !== 'execution-queued') return record;
  const { id, sourceRef, labels, workflow, planHash, generation, idempotencyKey, input, epoch, createdAt } = record;
  const kept = { id, sourceRef, labels, workflow, planHash, generation, idempotencyKey, input, epoch, createdAt };
  return { ...kept, status: 'queued', marks: [], activeMs: 0 };
}

/** Being accepted or found costs nothing new. */
function mayCharge(event: EventRecord): boolean {
  return event.type !== 'attempt-accepted' && event.type !== 'attempt-found';
}
