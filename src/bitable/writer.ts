import type { FeishuClient, FeishuFailure, TableRef } from '../feishu/index.ts';
import { type Clock, fullJitterMs, type Json, type JsonObject, type Logger, type Random } from '../kernel/index.ts';
import { createDoorbell } from './signal.ts';
import { type AttachmentMerge, overlay, type WriteEntry, type WriteOutcome } from './writer-entry.ts';
import { sendBatch, type SendResult } from './writer-send.ts';

/**
 * The one writer of a base. While a write is under way new cells gather, per row and column the last value wins, then all
 * of a table go in one batch. One write at a time, `spacingMs` apart. Invariants: only columns that the table's agent may
 * write ever leave (a foreign one is a bug and throws); what may have been done is read before it is repeated; no row is
 * given up because the platform is down: its cells wait, and `isDown` tells intake to start nothing new meanwhile.
 */
export interface BaseWriter {
  write(request: WriteRequest): Promise<WriteOutcome>;
  /** Cells wait or are under way for the row. */
  isPending(tableId: string, recordId: string): boolean;
  /** Writes have been failing: nothing that costs money should start. */
  isDown(): boolean;
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

export interface WriterDeps {
  readonly client: FeishuClient;
  readonly appToken: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly spacingMs: number;
  readonly signal: AbortSignal;
  /** What may be written to a table, and which of it is lesser (the row is true without it). */
  readonly columnsOf: (tableId: string) => {
    readonly writable: ReadonlySet<string>;
    readonly lesser: ReadonlySet<string>;
  };
  readonly onDown: (failure: FeishuFailure) => void;
  readonly onRecovered: () => void;
  readonly onDropped: (tableId: string, column: string, failure: FeishuFailure) => void;
  /** A row alone cannot be written for now; told once, it goes on being tried. */
  readonly onRowStuck: (tableId: string, recordId: string, failure: FeishuFailure) => void;
}

/** Rows of one batch (facts: staying at 500 is safe everywhere). */
const maxBatchRows = 500;
const firstBackoffMs = 1_000;
const maxBackoffMs = 60_000;
/** A row that fails alone is tried again at least so often. */
const maxRowBackoffMs = 10 * 60_000;
/** Failures in a row after which write-back counts as down. */
const failuresUntilDown = 5;
/** Classes that waiting does not mend soon: told at once, tried again slowly. */
const slowClasses: readonly FeishuFailure['class'][] = ['permission', 'quota', 'credential', 'config'];

export function createBaseWriter(deps: WriterDeps): BaseWriter {
  const { clock } = deps;
  const queue = new Map<string, WriteEntry>();
  const inFlight = new Set<string>();
  const bell = createDoorbell(clock);
  const state = { failures: 0, isDown: false, notBeforeMs: 0, lastWriteMs: Number.NEGATIVE_INFINITY };
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
    const waitMs = Math.min(maxRowBackoffMs, firstBackoffMs * 2 ** Math.min(10, tries));
    enqueue({ ...entry, tries, readFirst, notBeforeMs: clock.monotonicMs() + waitMs }, true);
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
    afterBatch(deps, state, failures[0], [...results.values()].some(isAnswered));
  };
  const loop = async (): Promise<void> => {
    while (!deps.signal.aborted) {
      const due = nextDueMs(queue, state.notBeforeMs) - clock.monotonicMs();
      if (due > 0) {
        await bell.wait(due, deps.signal);
        continue;
      }
      const batch = takeBatch(queue, clock.monotonicMs());
      if (batch !== undefined) await send(batch.tableId, batch.entries);
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
    isDown: () => state.isDown,
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

function afterBatch(
  deps: WriterDeps,
  state: { failures: number; isDown: boolean; notBeforeMs: number },
  failure: FeishuFailure | undefined,
  someDone: boolean,
): void {
  if (someDone) {
    state.failures = 0;
    if (state.isDown) deps.onRecovered();
    state.isDown = false;
  }
  if (failure === undefined) return;
  state.failures += 1;
  const isSlow = slowClasses.includes(failure.class);
  const capMs = isSlow ? maxBackoffMs : Math.min(maxBackoffMs, firstBackoffMs * 2 ** Math.min(10, state.failures - 1));
  const waitMs = Math.max(failure.retryAfterMs ?? 0, capMs / 2 + fullJitterMs(deps.random, capMs / 2));
  state.notBeforeMs = deps.clock.monotonicMs() + waitMs;
  deps.logger.warn('write to the table failed, will be tried again', {
    code: failure.code,
    class: failure.class,
    logId: failure.logId,
    waitMs,
  });
  if (!state.isDown && (isSlow || state.failures >= failuresUntilDown)) {
    state.isDown = true;
    deps.onDown(failure);
  }
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

function nextDueMs(queue: ReadonlyMap<string, WriteEntry>, notBeforeMs: number): number {
  let due = Number.POSITIVE_INFINITY;
  for (const entry of queue.values()) due = Math.min(due, Math.max(entry.dueMs, entry.notBeforeMs));
  return Math.max(due, notBeforeMs);
}

/** Everything that waits for the table whose oldest cell is due, whether due itself or not: it rides along. */
function takeBatch(
  queue: ReadonlyMap<string, WriteEntry>,
  nowMs: number,
): { readonly tableId: string; readonly entries: readonly WriteEntry[] } | undefined {
  const ready = [...queue.values()].filter((entry) => entry.notBeforeMs <= nowMs);
  const [first] = ready.toSorted((left, right) => left.dueMs - right.dueMs);
  if (first === undefined) return undefined;
  const same = ready.filter((entry) => entry.tableId === first.tableId);
  return {
    tableId: first.tableId,
    entries: same.toSorted((left, right) => left.dueMs - right.dueMs).slice(0, maxBatchRows),
  };
}

async function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  await createDoorbell(clock).wait(delayMs, signal);
}
