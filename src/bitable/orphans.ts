import type { RawRecord } from '../feishu/index.ts';
import { moneyAndTime, protocolCells } from './cells.ts';
import { rowCostMicros } from './acknowledge.ts';
import { changeRow, isUnmoved } from './change-row.ts';
import { type Hub, type ReadyTable, refOf, type RowPlace } from './hub.ts';
import { foreignWords } from './intake.ts';
import { foreignTagOf, rowName } from './observe.ts';
import { putRightByHand } from './put-right.ts';
import { rowKey, rowSourcePrefix } from './refs.ts';
import { loadRow, newRow, openCommands, type RowDocument, withoutCurrent } from './row-documents.ts';
import { cellStatus } from './row-facts.ts';

/**
 * Rows in 生成中 that nobody works on. Sought at start and every hour in one search with the commands. A row counts only
 * when it has been seen twice with fresh reads and nothing of ours owns it; it becomes 失败 with what to do, its submitter
 * is told, and it is never run again by itself: what was sent before may have been accepted and billed. A row with another
 * installation's tag stops the table's intake.
 */
export interface OrphanWatch {
  /** Rows of a search that stand in 生成中. */
  sighted(records: readonly RawRecord[]): Promise<void>;
  /** Looks at the suspects once more, with fresh reads. */
  confirm(): Promise<void>;
  suspects(): number;
}

/** Between the two looks. */
const secondLookMs = 20_000;

export function createOrphanWatch(hub: Hub, table: ReadyTable): OrphanWatch {
  const suspects = new Map<string, number>();
  const isRunning = (record: RawRecord): boolean => cellStatus(table.columns, record.fields) === '生成中';
  return {
    suspects: () => suspects.size,
    sighted: async (records) => {
      const running = records.filter(isRunning);
      for (const record of running) {
        const place: RowPlace = { table, recordId: record.recordId };
        const tag = foreignTagOf(place, record, hub.deps.instanceTag);
        if (tag !== undefined) {
          await hub.halt(table, 'foreign-installation', foreignWords(table, record.recordId, tag));
          return;
        }
        if (!suspects.has(record.recordId) && (await ownerOf(hub, place)) !== 'ours') {
          suspects.set(record.recordId, hub.deps.clock.monotonicMs() + secondLookMs);
        }
      }
      if (table.halted === 'foreign-installation') table.halted = undefined;
    },
    confirm: async () => {
      const nowMs = hub.deps.clock.monotonicMs();
      const due = [...suspects].filter(([, atMs]) => atMs <= nowMs).map(([recordId]) => recordId);
      if (due.length === 0) return;
      const read = await hub.deps.client.getRecords(table.table, due, hub.signal);
      if (!read.ok) return;
      for (const recordId of due) suspects.delete(recordId);
      for (const record of read.value.records.filter(isRunning)) {
        const place: RowPlace = { table, recordId: record.recordId };
        if (foreignTagOf(place, record, hub.deps.instanceTag) === undefined) await settleSuspect(hub, place, record);
      }
    },
  };
}

async function settleSuspect(hub: Hub, place: RowPlace, record: RawRecord): Promise<void> {
  const owner = await ownerOf(hub, place);
  if (owner === 'nobody') await failOrphan(hub, place);
  if (owner !== 'shown-wrongly') return;
  const row = await loadRow(hub.deps.store, rowKey(refOf(place)));
  if (row !== undefined) await putRightByHand(hub, place, record, row);
}

/**
 * `ours`: an open command, an unfinished execution, or an end that waits to be written. `shown-wrongly`: it has ended for us
 * and somebody set 状态 by hand.
 */
async function ownerOf(hub: Hub, place: RowPlace): Promise<'ours' | 'shown-wrongly' | 'nobody'> {
  const { store } = hub.deps;
  const ref = refOf(place);
  const key = rowKey(ref);
  if (hub.writerOf(ref.table.appToken).isPending(ref.table.tableId, place.recordId)) return 'ours';
  if ((await openCommands(store, `${key}#`)).length > 0) return 'ours';
  const row = await loadRow(store, key);
  if (row !== undefined && row.status !== '生成中') return 'shown-wrongly';
  const unfinished = await store.executions({
    statuses: ['queued', 'running', 'held'],
    sourceRefPrefix: rowSourcePrefix(ref),
    limit: 1,
  });
  if (unfinished.length > 0) return 'ours';
  if (row?.current === undefined) return 'nobody';
  return (await hasUnwrittenEnd(hub, row.current.executionId)) ? 'ours' : 'nobody';
}

async function hasUnwrittenEnd(hub: Hub, id: string): Promise<boolean> {
  let after: number | undefined;
  for (;;) {
    const entries = await hub.deps.store.outbox(200, after);
    if (entries.some((entry) => entry.executionId === id)) return true;
    after = entries.at(-1)?.seq;
    if (entries.length < 200 || after === undefined) return false;
  }
}

const orphanWords =
  '程序中断，这一行已没有任务在处理。请先确认厂商后台没有已受理或已扣费的任务（或问管理员），再选「提交」续跑；已完成的环节不会重做。';

async function failOrphan(hub: Hub, place: RowPlace): Promise<void> {
  const { store, clock } = hub.deps;
  const key = rowKey(refOf(place));
  const known = await loadRow(store, key);
  // Its end was acknowledged while we asked whose the row is.
  if (known !== undefined && known.status !== '生成中') return;
  const failed = (now: RowDocument | undefined): RowDocument => ({
    ...withoutCurrent(now ?? newRow(place.table.agent.agent)),
    status: '失败',
  });
  const row = failed(known);
  const cost = await rowCostMicros(hub, place);
  const outcome = await hub.writerOf(place.table.table.appToken).write({
    tableId: place.table.table.tableId,
    recordId: place.recordId,
    cells: protocolCells(place.table.columns, {
      状态: '失败',
      报错: orphanWords,
      进度: null,
      ...(known === undefined ? {} : moneyAndTime(row, cost)),
    }),
    withinMs: 0,
  });
  if (outcome.kind !== 'written') return;
  const isTold = hub.messenger.canReach(row.submitter);
  const message = {
    key: `orphan/${key}/${known?.current?.executionId ?? clock.nowMs()}`,
    submitter: row.submitter,
    text: `${rowName(place, row.title)}${orphanWords}`,
  };
  const changed = await changeRow(hub, place, (now) =>
    isUnmoved(known, now) ? { row: failed(now), also: isTold ? [hub.messenger.put(message)] : [] } : undefined,
  );
  if (isTold && changed !== undefined) hub.messenger.ring();
}
