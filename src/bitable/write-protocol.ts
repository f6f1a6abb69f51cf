import type { FeishuFailure } from '../feishu/index.ts';
import { protocolCells, type ProtocolValues } from './cells.ts';
import type { Hub, RowPlace } from './hub.ts';
import type { AttachmentMerge, WriteOutcome } from './writer-entry.ts';

/** Writes the bot's own cells of a row. A refusal is told to the operator here; what it belongs to stays, and is tried again. */
export async function writeProtocol(
  hub: Hub,
  place: RowPlace,
  values: ProtocolValues,
  options: { readonly merges?: readonly AttachmentMerge[]; readonly withinMs?: number } = {},
): Promise<WriteOutcome> {
  const { table, columns } = place.table;
  const outcome = await hub.writerOf(table.appToken).write({
    tableId: table.tableId,
    recordId: place.recordId,
    cells: protocolCells(columns, values),
    merges: options.merges ?? [],
    withinMs: options.withinMs ?? 0,
  });
  if (outcome.kind === 'refused') await noteRefusal(hub, place, outcome.failure);
  return outcome;
}

/** The table refuses a row's cells: its columns are read again where that may help, and the operator is told. */
export async function noteRefusal(hub: Hub, place: RowPlace, failure: FeishuFailure): Promise<void> {
  if (failure.class === 'schema') place.table.columnsAreStale = true;
  await hub.notice({
    name: 'write-back-refused',
    title: '结果写回表格被飞书拒绝',
    text: `智能体 ${place.table.agent.agent} 行 ${place.recordId}：飞书代码 ${failure.code} ${failure.message}`,
  });
}
