import type { RawRecord } from '../feishu/index.ts';
import { executionId } from '../kernel/index.ts';
import { hintText, protocolCells } from './cells.ts';
import { changeRow, isUnmoved } from './change-row.ts';
import { patienceMs } from './deps.ts';
import { type Hub, refOf, type RowPlace } from './hub.ts';
import { rowName } from './observe.ts';
import { rowKey } from './refs.ts';
import { type RowDocument, withNote } from './row-documents.ts';
import { cellStatus } from './row-facts.ts';

/**
 * 状态 is the bot's alone: a hand-made change steers nothing, and where a fresh read happens to show one it is put right,
 * with a hint. While the writer still holds cells of the row, or a result waits to be written, the cell merely lags.
 */
export async function putRightByHand(hub: Hub, place: RowPlace, record: RawRecord, row: RowDocument): Promise<void> {
  const { columns, table } = place.table;
  const shown = cellStatus(columns, record.fields);
  if (shown === row.status) return;
  const writer = hub.writerOf(table.appToken);
  if (writer.isPending(table.tableId, place.recordId) || (await isMoving(hub, row))) return;
  const shownWords = shown === '' ? '空' : shown;
  const words = `「状态」由机器人维护，手工改成「${shownWords}」不起作用，已恢复为「${row.status}」。`;
  const key = rowKey(refOf(place));
  const isTold = hub.messenger.canReach(row.submitter);
  const text = `${rowName(place, row.title)}${words}`;
  const message = { key: `status/${key}/${hub.deps.clock.nowMs()}`, submitter: row.submitter, text };
  const noted = await changeRow(hub, place, (now) => {
    if (now === undefined || !isUnmoved(row, now)) return undefined;
    return isTold ? { row: now, also: [hub.messenger.put(message)] } : { row: withNote(now, words) };
  });
  if (noted === undefined) return;
  if (isTold) hub.messenger.ring();
  const status = row.status === '' ? null : row.status;
  void writer.write({
    tableId: table.tableId,
    recordId: place.recordId,
    cells: protocolCells(columns, isTold ? { 状态: status } : { 状态: status, 提示: hintText(noted) }),
    withinMs: patienceMs.gather,
  });
}

/** A run that has ended but whose result is not written yet is about to change 状态 by itself. */
async function isMoving(hub: Hub, row: RowDocument): Promise<boolean> {
  if (row.current === undefined) return row.status === '生成中';
  const execution = await hub.deps.store.execution(executionId(row.current.executionId));
  if (execution === undefined) return true;
  return execution.endedAt !== undefined;
}
