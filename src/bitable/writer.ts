import type { FeishuClient, FeishuFailure, TableRef } from '../feishu/index.ts';
import type { Clock, Json, JsonObject } from '../kernel/index.ts';
import { createDoorbell } from './signal.ts';
import { type AttachmentMerge, overlay, type WriteEntry, type WriteOutcome } from './writer-entry.ts';
import { createWriterHealth, type HealthDeps } from './writer-health.ts';
import { sendBatch, type SendResult } from './writer-send.ts';

/**
 * The one writer of a base. While a write is under way new cells gather, per row and column the last value wins, then all
 * of a table go in one batch. One write at a time, `spacingMs` apart. Invariants: only columns that the table's agent may
 * write ever leave (a foreign one is a bug and throws); what may have been done is read before it is repeated; no row is
 * given up because the platform is down: its cells wait, and `isDown` tells intake to start nothing new meanwhile. Tables
 * take turns, and the trouble of one (`writer-health`) is not the others'.
 */
export interface BaseWriter {
  write(request: WriteRequest): Promise<WriteOutcome>;
  /** Cells wait or are under way for the row. */
  isPending(tableId: string, recordId: string): boolean;
  /** Writes to the table have been failing: nothing that costs money should start in it. */
  isDown(tableId: string): boolean;
  stop(): void;
}

export interface WriteRequest {
  readonly tableId: string;
  readonly recordId: string;
  readonly cells: JsonObject;
  readonly merges?: readonly AttachmentMerge[];
  /** The word that a null in its column is meant for. */
  readonly clears?: { readonly column: string; readonly word: string };
  /** May wait so long for other cells to share the batch. */
  readonly withinMs: number;
}

export interface WriterDeps extends HealthDeps {
  readonly client: FeishuClient;
  readonly appToken: string;
  readonly spacingMs: number;
  readonly signal: AbortSignal;
  /** What may be written to a table, and which of it is lesser (the row is true without it). */
  readonly columnsOf: (tableId: string) => {
    readonly writable: ReadonlySet<string>;
    readonly lesser: ReadonlySet<string>;
  };
  readonly onDropped: (tableId: string, column: string, failure: FeishuFailure) => void;
  /** A row alone cannot be written for now; told once, it goes on being tried. */
  readonly onRowStuck: (tableId: string, recordId: string, failure: FeishuFailure) => void;
}

/** Rows of one batch (facts: staying at 500 is safe everywhere). */
const maxBatchRows = 500;
/** A row that fails alone waits so long, doubled with each try, at most ten minutes. */
const rowBackoffMs = 1_000;
const maxRowBackoffMs = 10 * 60_000;

export function createBaseWriter(deps: WriterDeps): BaseWriter {
  const { clock } = deps;
  const queue = new Map<string, WriteEntry>();
  const inFlight = new Set<string>();
  const bell = createDoorbell(clock);
  const health = createWriterHealth(deps);
  /** When each table was served last, counted in batches. */
  const turns = new Map<string, number>();
  const state = { batches: 0, lastWriteMs: Number.NEGATIVE_INFINITY };
  const keyOf = (entry: { tableId: string; recordId: string }): string => `${entry.tableId}/${entry.recordId}`;

  const enqueue = (entry: WriteEntry, isOlder: boolean): void => {
    const key = keyOf(entry);
    const other = queue.get(key);
    queue.set(key, other === undefined ? entry : isOlder ? overlay(entry, other) : overlay(other, entry));
    bell.ring();
  };
  const turn = async (): Promise<void> => {
    const waitMs = state.lastWriteMs + deps.spacingMs - clock.monotonicMs();
    if (waitMs > 0) await pause(clock, waitMs, deps.signal);
    state.lastWriteMs = clock.monotonicMs();
  };
  const settle = (entry: WriteEntry, result: SendResult): FeishuFailure | undefined => {
    if (result.kind !== 'again') {
      for (const tell of entry.waiters) tell(result);
      return undefined;
    }
    const tries = entry.tries + 1;
    const readFirst = entry.readFirst || result.readFirst || entry.clears !== undefined;
    if (result.isOwn !== true) {
      enqueue({ ...entry, tries, readFirst }, true);
      return result.failure;
    }
    if (entry.notBeforeMs === 0) deps.onRowStuck(entry.tableId, entry.recordId, result.failure);
    const waitMs = Math.min(maxRowBackoffMs, rowBackoffMs * 2 ** Math.min(10, tries));
    const standsAlone = entry.standsAlone || result.failure.class === 'retry';
    enqueue({ ...entry, tries, readFirst, standsAlone, notBeforeMs: clock.monotonicMs() + waitMs }, true);
    return undefined;
  };
  const send = async (tableId: string, entries: readonly WriteEntry[]): Promise<void> => {
    for (const entry of entries) {
      queue.delete(keyOf(entry));
      inFlight.add(keyOf(entry));
    }
    const table: TableRef = { appToken: deps.appToken, tableId };
    const sending = {
      client: deps.client,
      signal: deps.signal,
      turn,
      lesser: (column: string) => deps.columnsOf(tableId).lesser.has(column),
      onDropped: (column: string, failure: FeishuFailure) => deps.onDropped(tableId, column, failure),
    };
    const results = await sendBatch(sending, table, entries).catch((error: unknown) =>
      bugResults(deps, entries, error),
    );
    for (const entry of entries) inFlight.delete(keyOf(entry));
    const failures = [...results].flatMap(([entry, result]) => settle(entry, result) ?? []);
    if ([...results.values()].some(isAnswered)) health.answered(tableId);
    if (failures[0] !== undefined) health.failed(tableId, failures[0]);
  };
  const loop = async (): Promise<void> => {
    while (!deps.signal.aborted) {
      const due = nextDueMs(queue, (tableId) => health.notBeforeMs(tableId)) - clock.monotonicMs();
      if (due > 0) {
        await bell.wait(due, deps.signal);
        continue;
      }
      const nowMs = clock.monotonicMs();
      const ready = [...queue.values()].filter(
        (entry) => Math.max(entry.notBeforeMs, health.notBeforeMs(entry.tableId)) <= nowMs,
      );
      const batch = takeBatch(ready, nowMs, (tableId) => turns.get(tableId) ?? 0);
      if (batch === undefined) continue;
      state.batches += 1;
      turns.set(batch.tableId, state.batches);
      await send(batch.tableId, batch.entries);
    }
  };
  const run = loop().catch((error: unknown) => {
    if (!deps.signal.aborted) deps.logger.error('the writer of a base has ended', { appToken: deps.appToken, error });
  });
  void run;
  return {
    write: async (request) => {
      assertWritable(request, deps.columnsOf(request.tableId).writable);
      return await new Promise<WriteOutcome>((resolve) => {
        enqueue(newEntry(request, clock.monotonicMs(), resolve), false);
      });
    },
    isPending: (tableId, recordId) => queue.has(`${tableId}/${recordId}`) || inFlight.has(`${tableId}/${recordId}`),
    isDown: (tableId) => health.isDown(tableId),
    stop: () => bell.ring(),
  };
}

function isAnswered(result: SendResult): boolean {
  return result.kind !== 'again';
}

/** The client answers with results and never throws for what the platform does: a throw is a bug, and costs a retry. */
function bugResults(
  deps: WriterDeps,
  entries: readonly WriteEntry[],
  error: unknown,
): ReadonlyMap<WriteEntry, SendResult> {
  if (!deps.signal.aborted) deps.logger.error('a write to the table threw', { appToken: deps.appToken, error });
  const failure: FeishuFailure = {
    code: 0,
    httpStatus: 0,
    message: error instanceof Error ? error.message : 'unknown',
    outcome: 'unknown',
    class: 'retry',
  };
  return new Map(entries.map((entry) => [entry, { kind: 'again', failure, readFirst: true }]));
}

function newEntry(request: WriteRequest, nowMs: number, tell: (outcome: WriteOutcome) => void): WriteEntry {
  const cells: Record<string, Json> = {};
  for (const [column, cell] of Object.entries(request.cells)) if (cell !== undefined) cells[column] = cell;
  return {
    tableId: request.tableId,
    recordId: request.recordId,
    cells,
    merges: [...(request.merges ?? [])],
    dueMs: nowMs + request.withinMs,
    notBeforeMs: 0,
    tries: 0,
    readFirst: false,
    standsAlone: false,
    clears: request.clears,
    waiters: [tell],
  };
}

/** Only the bot's columns are ever written; anything else is a bug of ours and must not leave the process. */
function assertWritable(request: WriteRequest, writable: ReadonlySet<string>): void {
  const columns = [...Object.keys(request.cells), ...(request.merges ?? []).map((merge) => merge.column)];
  const foreign = columns.filter((column) => !writable.has(column));
  if (foreign.length > 0) throw new Error(`refusing to write columns that are not the bot's: ${foreign.join(', ')}`);
}

/** The earliest instant at which one of the cells may go; `notBeforeMs` is their table's. */
function nextDueMs(queue: ReadonlyMap<string, WriteEntry>, notBeforeMs: (tableId: string) => number): number {
  let due = Number.POSITIVE_INFINITY;
  for (const entry of queue.values()) {
    due = Math.min(due, Math.max(entry.dueMs, entry.notBeforeMs, notBeforeMs(entry.tableId)));
  }
  return due;
}

/**
 * Tables take turns: the one with a cell due that was served longest ago, so that none that keeps failing stands before the
 * others. Everything that waits for it goes along, whether due itself or not.
 */
function takeBatch(
  ready: readonly WriteEntry[],
  nowMs: number,
  turnOf: (tableId: string) => number,
): { readonly tableId: string; readonly entries: readonly WriteEntry[] } | undefined {
  const due = ready.filter((entry) => entry.dueMs <= nowMs);
  const [first] = due.toSorted(
    (left, right) => turnOf(left.tableId) - turnOf(right.tableId) || left.dueMs - right.dueMs,
  );
  if (first === undefined) return undefined;
  if (first.standsAlone) return { tableId: first.tableId, entries: [first] };
  const same = ready.filter((entry) => entry.tableId === first.tableId && !entry.standsAlone);
  return {
    tableId: first.tableId,
    entries: same.toSorted((left, right) => left.dueMs - right.dueMs).slice(0, maxBatchRows),
  };
}

async function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  await createDoorbell(clock).wait(delayMs, signal);
}
