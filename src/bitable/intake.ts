import type { FeishuFailure, RawRecord } from '../feishu/index.ts';
import type { CommandJob, CommandRunner } from './command-runner.ts';
import { protocolCells } from './cells.ts';
import { maxStarting } from './deps.ts';
import { type Hub, type ReadyTable, refOf, type RowPlace } from './hub.ts';
import { type Editors, observeRow, wordOf } from './observe.ts';
import { putRightByHand } from './put-right.ts';
import { rowKey, tableKey } from './refs.ts';
import {
  type CommandDocument,
  collections,
  deleteCommand,
  openCommands,
  putCommand,
  type RowDocument,
} from './row-documents.ts';
import { cellStatus } from './row-facts.ts';
import { createDoorbell } from './signal.ts';
import { statusFilter } from './search.ts';
import { prefetchInputs } from './start-stage.ts';
import type { WordWitness } from './word-witness.ts';

/** Rounds of read, store, clear within one turn: a word typed while another was cleared is taken up at once. */
const maxRounds = 3;
/** A turn does not wait longer than this for its clears: a stuck platform must not stop the loop. */
const clearLimitMs = 20_000;

export interface TurnResult {
  /** The platform would not answer; the turn ends and the next one tries again. */
  readonly failure?: FeishuFailure;
  /** Rows that were read. */
  readonly rows: number;
  /** Rows to be looked at again in a moment: a word may have been lost. */
  readonly waiting?: ReadonlySet<string>;
}

/**
 * One turn of a table: fresh reads by id of what the search (or an event) pointed at and of every row with an open command;
 * each word stored, then cleared, then read again, then executed. Selection is by cell state alone; there is no cursor that
 * could move past a row (P046).
 */
export async function takeCommands(
  hub: Hub,
  runner: CommandRunner,
  table: ReadyTable,
  hinted: ReadonlyMap<string, Editors>,
  witness: WordWitness,
): Promise<TurnResult> {
  const open = await openCommands(hub.deps.store, `${tableKey(table.table)}/`);
  const unsettled = open.filter(
    (command) => !command.closed || !runner.isKnown(rowKey({ table: table.table, recordId: command.recordId })),
  );
  let ids = [...new Set([...hinted.keys(), ...unsettled.map((command) => command.recordId)])];
  let rows = 0;
  const waiting = new Set<string>();
  for (let round = 0; round < maxRounds && ids.length > 0; round += 1) {
    const readAtMs = hub.deps.clock.monotonicMs();
    const read = await hub.deps.client.getRecords(table.table, ids, hub.signal);
    if (!read.ok) return { failure: read.failure, rows };
    rows += read.value.records.length;
    for (const recordId of read.value.absent) await forgetRow(hub, { table, recordId });
    const seen = await observeAll(hub, runner, table, read.value.records, hinted, witness);
    if (table.halted !== undefined) return { rows };
    for (const recordId of seen.waiting) waiting.add(recordId);
    ids = await clearAll(hub, table, seen.clears);
    for (const command of seen.clears) witness.cleared(command.recordId, command.word, readAtMs);
  }
  return { rows, waiting };
}

async function observeAll(
  hub: Hub,
  runner: CommandRunner,
  table: ReadyTable,
  records: readonly RawRecord[],
  hinted: ReadonlyMap<string, Editors>,
  witness: WordWitness,
): Promise<{ readonly clears: readonly CommandDocument[]; readonly waiting: readonly string[] }> {
  const clears: CommandDocument[] = [];
  const jobs: CommandJob[] = [];
  const waiting: string[] = [];
  for (const fresh of records) {
    const place: RowPlace = { table, recordId: fresh.recordId };
    const lost = wordOf(place, fresh) === '' ? witness.lost(fresh.recordId) : undefined;
    if (lost === 'wait') waiting.push(fresh.recordId);
    const isLost = lost !== undefined && lost !== 'wait';
    const record = isLost ? withWord(place, fresh, lost.word) : fresh;
    const operator = isLost && lost.operatorId !== undefined ? { operatorId: lost.operatorId } : {};
    const editors = { ...hinted.get(record.recordId), ...operator };
    const seen = await observeSafely(hub, place, record, editors);
    if (seen === undefined) continue;
    if (seen.foreignTag !== undefined) {
      await dropCommands(hub, place);
      await hub.halt(table, 'foreign-installation', foreignWords(table, record.recordId, seen.foreignTag));
      return { clears: [], waiting: [] };
    }
    if (seen.clear !== undefined) clears.push(seen.clear);
    if (seen.row !== undefined && seen.clear?.plan.kind === 'start' && clears.length <= maxStarting) {
      prefetchInputs(hub, { place, fields: record.fields, row: seen.row, stage: seen.clear.plan.stage });
    }
    if (seen.execute) await proveStatus(hub, place, record, seen.row);
    if (seen.execute) jobs.push({ place, fields: record.fields, submitter: seen.row?.submitter ?? '' });
    if (!seen.execute && seen.clear === undefined && seen.row !== undefined) {
      await putRightByHand(hub, place, record, seen.row);
    }
  }
  // All at once, so that the turns between submitters begin with everybody there.
  for (const job of jobs) runner.offer(job);
  return { clears, waiting };
}

/** The read after the first clear of a process shows whether 状态 can be written at all: some columns swallow it (P009). */
async function proveStatus(hub: Hub, place: RowPlace, record: RawRecord, row: RowDocument | undefined): Promise<void> {
  const { table } = place;
  if (table.isStatusProven || row?.status !== '生成中') return;
  table.isStatusProven = true;
  if (cellStatus(table.columns, record.fields) === '生成中') return;
  await hub.notice({
    name: 'status-not-written',
    title: '「状态」写入后读不到',
    text: `智能体 ${table.agent.agent}：飞书回答写入成功，但行 ${place.recordId} 的「状态」没有变。请确认它是单选或文本列，并且应用有编辑权限。`,
    severity: 'error',
  });
}

/** The row as it stood before our clear wiped a word that the long connection told of. */
function withWord(place: RowPlace, record: RawRecord, word: string): RawRecord {
  const column = place.table.columns.protocol.操作?.name ?? '';
  return { ...record, fields: { ...record.fields, [column]: word } };
}

/** One row's trouble (a busy disk, say) leaves the others alone; the row is found again by its cell. */
async function observeSafely(
  hub: Hub,
  place: RowPlace,
  record: RawRecord,
  editors: Editors,
): Promise<Awaited<ReturnType<typeof observeRow>> | undefined> {
  try {
    return await hub.lock.run(rowKey(refOf(place)), async () => await observeRow(hub, place, record, editors));
  } catch (error) {
    if (hub.signal.aborted) throw error;
    hub.deps.logger.error('a row could not be taken up, the next turn tries again', {
      recordId: place.recordId,
      error,
    });
    await hub.notice({
      name: 'intake-failed',
      title: '读取表格行时程序出错，将自动再试',
      text: error instanceof Error ? error.message : 'unknown error',
    });
    return undefined;
  }
}

export function foreignWords(table: ReadyTable, recordId: string, tag: string): string {
  return `智能体 ${table.agent.agent} 的表里，行 ${recordId} 正由另一套程序（标记 ${tag}）处理。两套程序同时工作会重复付费，本机已停止接单。请停掉其中一套；若另一台服务器已不在，把本机的 GRIDLOOM_INSTANCE 设为 ${tag} 后重启即可接管。`;
}

/** Clears what was stored. Returns the rows whose clear was answered, to be read again. */
async function clearAll(hub: Hub, table: ReadyTable, commands: readonly CommandDocument[]): Promise<string[]> {
  const cleared: string[] = [];
  const all = commands.map(async (command) => {
    if (await clearOne(hub, { table, recordId: command.recordId }, command)) cleared.push(command.recordId);
  });
  const limit = new AbortController();
  await Promise.race([
    Promise.all(all).finally(() => limit.abort()),
    createDoorbell(hub.deps.clock).wait(clearLimitMs, AbortSignal.any([limit.signal, hub.signal])),
  ]);
  return [...cleared];
}

async function clearOne(hub: Hub, place: RowPlace, command: CommandDocument): Promise<boolean> {
  const { columns, table } = place.table;
  const operation = columns.protocol.操作?.name ?? '';
  const outcome = await hub.writerOf(table.appToken).write({
    tableId: table.tableId,
    recordId: place.recordId,
    cells: protocolCells(columns, command.phase === 'executed' ? { 操作: null } : command.cells),
    clears: { column: operation, word: command.word },
    withinMs: 0,
  });
  if (outcome.kind === 'gone') await forgetRow(hub, place);
  if (outcome.kind === 'refused') {
    place.table.columnsAreStale = true;
    await hub.notice({
      name: 'clear-refused',
      title: '清空「操作」列被飞书拒绝',
      text: `智能体 ${place.table.agent.agent}：飞书代码 ${outcome.failure.code}。该行暂不启动；请检查「操作」「状态」列的类型与权限。`,
    });
  }
  if (outcome.kind !== 'written') return false;
  hub.deps.failpoints.hit('intake:after-clear');
  await markCleared(hub, place, command);
  return true;
}

/** With the command, those before it whose word it was typed over: its clear has carried their cells. */
async function markCleared(hub: Hub, place: RowPlace, command: CommandDocument): Promise<void> {
  const key = rowKey(refOf(place));
  const { store, clock } = hub.deps;
  await hub.lock.run(key, async () => {
    const cleared = (await openCommands(store, `${key}#`)).filter(
      (open) => open.phase === 'stored' && (open.id === command.id || (open.closed && open.id < command.id)),
    );
    if (cleared.length === 0) return;
    await store.commit(cleared.map((open) => putCommand(clock, key, { ...open, phase: 'cleared' })));
  });
}

/** A row that is no more: its open commands end quietly; what its executions cost stays in the ledger. */
async function forgetRow(hub: Hub, place: RowPlace): Promise<void> {
  await dropCommands(hub, place);
  await hub.deps.store.commit([{ type: 'delete-document', collection: collections.row, key: rowKey(refOf(place)) }]);
}

async function dropCommands(hub: Hub, place: RowPlace): Promise<void> {
  const key = rowKey(refOf(place));
  const { store } = hub.deps;
  const commands = await openCommands(store, `${key}#`);
  if (commands.length > 0) await store.commit(commands.map((command) => deleteCommand(key, command)));
}

/** Rows whose 操作 is not empty (and, for the hourly look, those in 生成中), checked again here: filters can be ignored. */
export async function searchRows(
  hub: Hub,
  table: ReadyTable,
  withRunning: boolean,
): Promise<
  | { readonly ok: true; readonly records: readonly RawRecord[] }
  | { readonly ok: false; readonly failure: FeishuFailure }
> {
  const { protocol } = table.columns;
  const names = [protocol.操作, protocol.状态, protocol.执行编号, protocol.提交人];
  const found = await hub.deps.client.searchRecords(
    table.table,
    {
      filter: statusFilter(table.columns, withRunning),
      fieldNames: names.flatMap((column) => column?.name ?? []),
      automaticFields: true,
    },
    hub.signal,
  );
  return found.ok ? { ok: true, records: found.value } : { ok: false, failure: found.failure };
}
