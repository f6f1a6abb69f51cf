import type { OutboxMessage } from '../engine/ports/index.ts';
import { acknowledge, type Delivery, rowCostMicros, rowIsGone } from './acknowledge.ts';
import { hintText, moneyAndTime } from './cells.ts';
import type { Ended } from './chain-stage.ts';
import { type Hub, type RowPlace, stageAt, stageLabel } from './hub.ts';
import { rowName } from './observe.ts';
import { failureWords } from './result-words.ts';
import { type RowDocument, stageOf, withNote, withoutCurrent, withStage } from './row-documents.ts';
import { writeProtocol } from './write-protocol.ts';

/** Whether a rerun has brought nothing whole to a row that had something: the row then stays as it was. */
export function isVainRerun(row: RowDocument, message: OutboxMessage): boolean {
  const before = row.current?.rerunOver;
  if (before === undefined || before === '' || before === '失败' || row.cancelRequested) return false;
  return message.kind === 'ended' && message.status !== 'succeeded';
}

/** A rerun that failed: 状态 and the artifacts go back to what they were, and 提示 says what became of it. */
export async function deliverVainRerun(
  hub: Hub,
  place: RowPlace,
  row: RowDocument,
  stageIndex: number,
  entry: Ended,
): Promise<Delivery> {
  const { agent } = place.table;
  const { stage } = stageAt(agent, stageIndex);
  const { message } = entry;
  const before = row.current?.rerunOver ?? '';
  const what = vainWords(stageLabel(agent, stageIndex), message);
  const line = `${what}（重跑 ${entry.executionId}，可用 npx gridloom show 查看）；原来的结果不变。`;
  const change = (now: RowDocument): RowDocument => {
    const activeMs = stageOf(now, stage).activeMs + message.activeMs;
    return withNote(withoutCurrent(withStage({ ...now, status: before }, stage, { activeMs })), line);
  };
  const after = change(row);
  const outcome = await writeProtocol(hub, place, {
    状态: before === '' ? null : before,
    报错: null,
    进度: null,
    提示: hintText(after),
    ...moneyAndTime(after, await rowCostMicros(hub, place)),
  });
  hub.deps.failpoints.hit('outbox:after-write');
  if (outcome.kind === 'gone') return await rowIsGone(hub, place, entry);
  if (outcome.kind === 'refused') return 'later';
  await acknowledge(hub, place, entry, change, `${rowName(place, row.title)}${line}`);
  return 'done';
}

function vainWords(label: string, message: Ended['message']): string {
  if (message.status === 'canceled') return `${label}：重跑已取消`;
  if (message.status === 'partial') return `${label}：重跑只做成了一部分`;
  return failureWords(label, message.failure, message.failedNode).replace(/。$/, '');
}
