import type { FeishuClient, FeishuFailure, TableRef } from '../feishu/index.ts';
import type { Json, JsonObject } from '../kernel/index.ts';
import { readText } from './codec-read.ts';
import { columnsThatDiffer } from './codec-write.ts';
import { mergedCell, type WriteEntry, type WriteOutcome } from './writer-entry.ts';
import { normalizeWord } from './words.ts';

/**
 * What became of one row of a batch. `again`: surely or possibly not done; `readFirst` when it must be read before the
 * repeat. `isOwn`: the fault is the row's alone, its table goes on without it.
 */
export type SendResult =
  | WriteOutcome
  | { readonly kind: 'again'; readonly failure: FeishuFailure; readonly readFirst: boolean; readonly isOwn?: true };

export interface SendDeps {
  readonly client: FeishuClient;
  readonly signal: AbortSignal;
  /** Waits for the base's turn: the least spacing between two writes. */
  readonly turn: () => Promise<void>;
  /** Columns without which the row still tells the truth; given up one by one when a row is refused. */
  readonly lesser: (column: string) => boolean;
  readonly onDropped: (column: string, failure: FeishuFailure) => void;
}

interface Prepared {
  readonly entry: WriteEntry;
  /** The row as read; undefined when nothing had to be read. */
  readonly seen: JsonObject | undefined;
  readonly fields: Record<string, Json>;
}

/** Under way in one batch: the search for the row that makes it fail without a reason. */
interface Search {
  /** Writes that failed since the last one that did not. */
  failedInRow: number;
  hasWritten: boolean;
  /** Rows that failed by themselves. */
  readonly alone: WriteEntry[];
}

/** A search halves 500 rows nine times; when even more writes fail in a row, it is the platform and no row. */
const maxFailedInRow = 12;

/** Refusals that lie in the data: one bad row spoils its batch, so the batch is split until that row stands alone. */
const dataClasses: readonly FeishuFailure['class'][] = ['schema', 'invalid', 'too-large', 'foreign-attachment', 'gone'];

/**
 * Sends one batch of one table: reads first what must be read, writes, and splits on a refusal, or when the batch keeps
 * failing without a reason. Each entry gets exactly one result.
 */
export async function sendBatch(
  deps: SendDeps,
  table: TableRef,
  entries: readonly WriteEntry[],
): Promise<ReadonlyMap<WriteEntry, SendResult>> {
  const results = new Map<WriteEntry, SendResult>();
  const search: Search = { failedInRow: 0, hasWritten: false, alone: [] };
  await writeAll(deps, table, await prepare(deps, table, entries, results, false), results, search);
  for (const entry of search.alone) {
    const result = results.get(entry);
    const isOwn = search.hasWritten || entry.standsAlone;
    if (result?.kind === 'again' && isOwn) results.set(entry, { ...result, isOwn });
  }
  return results;
}

async function prepare(
  deps: SendDeps,
  table: TableRef,
  entries: readonly WriteEntry[],
  results: Map<WriteEntry, SendResult>,
  readsAll: boolean,
): Promise<readonly Prepared[]> {
  const toRead = entries.filter((entry) => readsAll || entry.readFirst || entry.merges.length > 0);
  const rows = new Map<string, JsonObject>();
  if (toRead.length > 0) {
    const read = await deps.client.getRecords(
      table,
      toRead.map((entry) => entry.recordId),
      deps.signal,
    );
    if (!read.ok) {
      for (const entry of toRead) {
        results.set(entry, { kind: 'again', failure: read.failure, readFirst: entry.readFirst });
      }
    } else {
      for (const record of read.value.records) rows.set(record.recordId, record.fields);
      for (const entry of toRead) {
        if (!rows.has(entry.recordId)) results.set(entry, unseen(entry.recordId, read.value.absent));
      }
    }
  }
  return entries
    .filter((entry) => !results.has(entry))
    .flatMap((entry) => {
      const seen = rows.get(entry.recordId);
      const fields = fieldsToWrite(entry, seen ?? {}, readsAll || entry.readFirst);
      if (Object.keys(fields).length > 0) return [{ entry, seen, fields }];
      results.set(entry, written(seen, {}));
      return [];
    });
}

/** A row that a read did not show: gone only when the platform says so; one that is hidden from us comes back. */
function unseen(recordId: string, absent: readonly string[]): SendResult {
  if (absent.includes(recordId)) return { kind: 'gone' };
  const failure: FeishuFailure = {
    code: 0,
    httpStatus: 200,
    message: 'the row is hidden from the app',
    outcome: 'refused',
    class: 'permission',
  };
  return { kind: 'again', failure, readFirst: true, isOwn: true };
}

/** Cells of an entry; after a read, only what differs from it, and never a clear of a word that is not ours. */
function fieldsToWrite(entry: WriteEntry, seen: JsonObject, isRepeat: boolean): Record<string, Json> {
  const fields: Record<string, Json> = { ...entry.cells };
  for (const merge of entry.merges) fields[merge.column] = mergedCell(merge, seen[merge.column]);
  if (!isRepeat) return fields;
  const { clears } = entry;
  if (clears !== undefined) {
    const word = normalizeWord(readText(seen[clears.column]));
    if (word !== '' && word !== clears.word) Reflect.deleteProperty(fields, clears.column);
  }
  const differing = new Set(columnsThatDiffer(seen, fields));
  return Object.fromEntries(Object.entries(fields).filter(([column]) => differing.has(column)));
}

function written(seen: JsonObject | undefined, fields: JsonObject): SendResult {
  return { kind: 'written', fields: { ...seen, ...fields }, isWhole: seen !== undefined };
}

async function writeAll(
  deps: SendDeps,
  table: TableRef,
  rows: readonly Prepared[],
  results: Map<WriteEntry, SendResult>,
  search: Search,
): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const failure = await write(deps, table, rows);
  if (failure === undefined) {
    search.failedInRow = 0;
    search.hasWritten = true;
    for (const row of rows) results.set(row.entry, written(row.seen, row.fields));
    return;
  }
  search.failedInRow += 1;
  if (isStubborn(failure, rows) && search.failedInRow <= maxFailedInRow) {
    await searchHalves(deps, table, rows, results, search);
    return;
  }
  if (failure.outcome !== 'refused' || !dataClasses.includes(failure.class)) {
    if (rows.length === 1 && failure.class === 'retry') search.alone.push(first.entry);
    for (const row of rows) {
      results.set(row.entry, { kind: 'again', failure, readFirst: mustRead(failure) });
    }
    return;
  }
  if (rows.length > 1) {
    const half = Math.ceil(rows.length / 2);
    await writeAll(deps, table, rows.slice(0, half), results, search);
    await writeAll(deps, table, rows.slice(half), results, search);
    return;
  }
  results.set(first.entry, await writeAlone(deps, table, first, failure));
}

/**
 * A failure without a reason that keeps coming back may be one bad row's fault too. Looked for at the third try and then
 * ever more seldom: while the platform is away a search costs calls and finds nothing.
 */
function isStubborn(failure: FeishuFailure, rows: readonly Prepared[]): boolean {
  return failure.class === 'retry' && rows.length > 1 && rows.some(({ entry }) => isSearchTurn(entry.tries));
}

function isSearchTurn(tries: number): boolean {
  return tries >= 2 && Number.isInteger(Math.log2(tries));
}

/** Each half is read before it is written again: the failed write may have been done, and staff may have typed meanwhile. */
async function searchHalves(
  deps: SendDeps,
  table: TableRef,
  rows: readonly Prepared[],
  results: Map<WriteEntry, SendResult>,
  search: Search,
): Promise<void> {
  const entries = rows.map((row) => row.entry);
  const half = Math.ceil(entries.length / 2);
  for (const part of [entries.slice(0, half), entries.slice(half)]) {
    await writeAll(deps, table, await prepare(deps, table, part, results, true), results, search);
  }
}

async function write(
  deps: SendDeps,
  table: TableRef,
  rows: readonly { readonly entry: WriteEntry; readonly fields: JsonObject }[],
): Promise<FeishuFailure | undefined> {
  await deps.turn();
  const answer = await deps.client.updateRecords(
    table,
    rows.map((row) => ({ recordId: row.entry.recordId, fields: row.fields })),
    deps.signal,
  );
  return answer.ok ? undefined : answer.failure;
}

/** The bad row alone: gone, or written without those lesser columns that the table refuses, or refused. */
async function writeAlone(deps: SendDeps, table: TableRef, row: Prepared, failure: FeishuFailure): Promise<SendResult> {
  if (failure.class === 'gone') return await confirmGone(deps, table, row, failure);
  const all = Object.entries(row.fields);
  const lesser = all.filter(([column]) => deps.lesser(column));
  if (lesser.length === 0 || lesser.length === all.length) return settleAlone(deps, row, failure, lesser.length > 0);
  const core = Object.fromEntries(all.filter(([column]) => !deps.lesser(column)));
  const coreFailure = await write(deps, table, [{ entry: row.entry, fields: core }]);
  if (coreFailure !== undefined) return refusedOrAgain(coreFailure);
  for (const [column, cell] of lesser) {
    const cellFailure = await write(deps, table, [{ entry: row.entry, fields: { [column]: cell } }]);
    if (cellFailure !== undefined) deps.onDropped(column, cellFailure);
  }
  return written(row.seen, row.fields);
}

function settleAlone(deps: SendDeps, row: Prepared, failure: FeishuFailure, onlyLesser: boolean): SendResult {
  if (!onlyLesser) return refusedOrAgain(failure);
  for (const column of Object.keys(row.fields)) deps.onDropped(column, failure);
  return written(row.seen, {});
}

function refusedOrAgain(failure: FeishuFailure): SendResult {
  if (failure.outcome === 'refused' && dataClasses.includes(failure.class)) return { kind: 'refused', failure };
  return { kind: 'again', failure, readFirst: mustRead(failure) };
}

/** It may have been done; or a hidden row has spoilt its batch, which a read will show. */
function mustRead(failure: FeishuFailure): boolean {
  return failure.outcome === 'unknown' || failure.class === 'permission';
}

/** "Not found" may be a lagging replica: only a read that misses the row too counts. */
async function confirmGone(
  deps: SendDeps,
  table: TableRef,
  row: Prepared,
  failure: FeishuFailure,
): Promise<SendResult> {
  const read = await deps.client.getRecords(table, [row.entry.recordId], deps.signal);
  if (!read.ok) {
    return read.failure.class === 'gone' ? { kind: 'gone' } : { kind: 'again', failure: read.failure, readFirst: true };
  }
  if (read.value.records.length === 0) return unseen(row.entry.recordId, read.value.absent);
  return { kind: 'again', failure, readFirst: true };
}
