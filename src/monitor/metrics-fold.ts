import type { AttemptRecord, EventRecord, ExecutionRecord, Store } from '../engine/ports/index.ts';
import { type AttemptId, attemptId, type ExecutionId } from '../kernel/index.ts';
import type { Calendar } from './calendar.ts';
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

const batch = 500;
/** Events of one call: a backlog after a long stop is taken in over several, so that the files stay fresh. */
const mostBatches = 20;
const mostOpen = 5_000;
const endedAtStart = 300;

export function createMetricsFold(deps: MetricsFoldDeps): MetricsFold {
  const { store, live } = deps;
  const book = createMoneyBook(deps);
  /** Attempts read for this batch: each is read once, after its events, so what was read is at least as new as they are. */
  let attempts = new Map<string, AttemptRecord | undefined>();

  const attemptOf = async (event: EventRecord): Promise<AttemptRecord | undefined> => {
    const id = attemptIdOf(event);
    if (id === undefined) return undefined;
    if (attempts.has(id)) return attempts.get(id);
    const found = await store.attempt(id);
    attempts.set(id, found);
    await book.update(id);
    return found;
  };
  const meet = async (id: ExecutionId, event: EventRecord, day: string): Promise<void> => {
    const record = await store.execution(id);
    if (record === undefined) return;
    live.put(asAt(record, event));
    if (event.type === 'execution-queued')
      await countDecision(store, record, dayCounts(deps.state(), day), deps.isConfirmPoint);
  };
  const take = async (event: EventRecord): Promise<void> => {
    const attempt = await attemptOf(event);
    const day = deps.calendar.dayOf(event.at);
    countEvent(deps.state(), event, day, attempt);
    const id = event.executionId;
    if (id === undefined) return;
    if (!live.has(id)) await meet(id, event, day);
    live.apply(event, attempt);
    deps.onMove(id, event.type === 'execution-ended' || event.type === 'execution-held');
  };
  return {
    book,
    open: () => fillLive(store, live),
    readOn: async () => {
      const state = deps.state();
      let taken = 0;
      for (let round = 0; round < mostBatches; round += 1) {
        const events = await store.events(state.cursor, batch);
        attempts = new Map();
        for (const event of events) {
          await take(event);
          state.cursor = event.seq;
        }
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
      for (const attempt of await store.attempts(record.id)) live.applyAttempt(attempt);
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

function attemptIdOf(event: EventRecord): AttemptId | undefined {
  const id = event.data['attemptId'] ?? event.data['attempt'];
  if (typeof id !== 'string') return undefined;
  try {
    return attemptId(id);
  } catch {
    return undefined;
  }
}
