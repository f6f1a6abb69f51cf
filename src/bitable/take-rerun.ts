import type { ExecutionRecord } from '../engine/ports/index.ts';
import { hintText, protocolCells } from './cells.ts';
import { changeRow } from './change-row.ts';
import { patienceMs } from './deps.ts';
import { type Hub, type RowPlace, stageLabel } from './hub.ts';
import { formatExecutionMark } from './refs.ts';
import { type RowDocument, stageOf, withNote } from './row-documents.ts';

/**
 * An operator's rerun of a row's execution (`gridloom rerun`). While the row stands where the earlier execution left it
 * (that stage, that generation, nothing else under way), the rerun becomes the row's current execution as if a word had
 * started it: staff see 生成中, and 提交 cannot buy the same beside it. A row that has moved on keeps what it has, and the
 * rerun is named in 提示. Taken when its first event is seen, at the latest when its end is delivered; repeatable.
 */
export async function takeRerun(
  hub: Hub,
  place: RowPlace,
  stage: string,
  execution: ExecutionRecord | undefined,
): Promise<RowDocument | undefined> {
  if (execution?.parentId === undefined) return undefined;
  const index = place.table.agent.stages.findIndex((each) => each.stage === stage);
  const startedAt = hub.deps.clock.nowMs();
  return await changeRow(hub, place, (now) => {
    if (now === undefined || !isWhereItWas(now, stage, index, execution)) return undefined;
    const line = `${stageLabel(place.table.agent, index)}：管理员重跑了这一环节（执行 ${execution.id}）。`;
    const current = { executionId: execution.id, stage, startedAt, rerunOver: now.status };
    return { row: { ...withNote(now, line), status: '生成中', cancelRequested: false, current } };
  });
}

function isWhereItWas(row: RowDocument, stage: string, index: number, execution: ExecutionRecord): boolean {
  const isAtRest = row.current === undefined && row.status !== '生成中' && row.status !== '待核对';
  return isAtRest && row.stage === index && stageOf(row, stage).generation === execution.generation;
}

/** The cells of a row that a rerun has just taken. */
export function showRerun(hub: Hub, place: RowPlace, row: RowDocument): void {
  const mark = formatExecutionMark(row.current?.executionId, hub.deps.instanceTag);
  void hub.writerOf(place.table.table.appToken).write({
    tableId: place.table.table.tableId,
    recordId: place.recordId,
    cells: protocolCells(place.table.columns, {
      状态: '生成中',
      报错: null,
      执行编号: mark,
      提示: hintText(row),
    }),
    withinMs: patienceMs.gather,
  });
}
