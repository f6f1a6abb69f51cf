import { acknowledgeEnd, type Delivery, rowCostMicros, rowIsGone } from './acknowledge.ts';
import { hintText, moneyAndTime, protocolCells, type ProtocolValues } from './cells.ts';
import { chainKey, chainStage, type Ended } from './chain-stage.ts';
import { type ReadyArtifacts, readyArtifacts, withArtifacts, withEnd, withUndelivered } from './deliver-result.ts';
import { type Hub, refOf, type RowPlace, stageLabel } from './hub.ts';
import { rowName } from './observe.ts';
import { resultPatienceMs } from './pace.ts';
import { formatExecutionMark, rowKey } from './refs.ts';
import { noteRefusal } from './write-protocol.ts';
import { failureWords, hintLines, partialWords } from './result-words.ts';
import { loadRow, type RowDocument, withoutCurrent } from './row-documents.ts';
import type { UploadFault } from './upload.ts';
import type { WriteOutcome } from './writer-entry.ts';

interface Verdict {
  /** `chain`: straight into the next stage. */
  readonly status: '待确认' | '完成' | '失败' | '已取消' | 'chain';
  readonly error: string | null;
  readonly isPartial: boolean;
}

/**
 * Writes the end of the row's current execution: artifacts, 状态, words, money. Order: uploads (remembered), one write
 * (merged, repeatable), the next stage where nobody is waited for (same key, same execution), then the row's memory and
 * the acknowledgement in one commit. A crash anywhere repeats it without doubling anything.
 */
export async function deliverEnded(
  hub: Hub,
  place: RowPlace,
  row: RowDocument,
  stageIndex: number,
  entry: Ended,
  others: () => number,
): Promise<Delivery> {
  const { agent } = place.table;
  const stage = agent.stages[stageIndex];
  if (stage === undefined) return await acknowledgeEnd(hub, place, entry, row, undefined);
  const { message } = entry;
  const ready = await readyArtifacts(hub, place, stage, row, message.output);
  if (!ready.ok && ready.failure.kind === 'later') return 'later';
  // 取消 may have come in while the files were on their way.
  const now = (await loadRow(hub.deps.store, rowKey(refOf(place)))) ?? row;
  const judged = ready.ok
    ? judge(hub, place, now, stageIndex, message, ready.value)
    : uploadVerdict(stageLabel(agent, stageIndex), ready.failure);
  const label = stageLabel(agent, stageIndex);
  const chained = await hub.deps.store.executionByKey(chainKey(entry, stageIndex + 1));
  // Chained before a crash: what was decided then stands, whatever the setting says now.
  const verdict: Verdict = chained === undefined ? judged : { status: 'chain', error: null, isPartial: false };
  let after = withEnd(row, stage, message, hintLines(label, message.marks));
  after = ready.ok
    ? withArtifacts(after, stage, ready.value, agent.keep_versions ?? 1, verdict.isPartial)
    : withUndelivered(after, stage);
  const none: ReadyArtifacts = { cells: {}, merges: [], tokens: new Map(), keyMembers: [], hashes: [] };
  const written = await writeEnd(hub, place, entry, after, stageIndex, verdict, ready.ok ? ready.value : none, others);
  hub.deps.failpoints.hit('outbox:after-write');
  if (written.kind === 'gone') return await rowIsGone(hub, place, entry);
  if (written.kind === 'refused') {
    return await writeRefused(hub, place, entry, withUndelivered(row, stage), label, written);
  }
  if (verdict.status === 'chain') return await chainStage(hub, place, entry, after, stageIndex, written);
  const ended: RowDocument = { ...withoutCurrent(after), status: verdict.status, stage: stageIndex };
  return await acknowledgeEnd(hub, place, entry, ended, endText(place, row.title, label, verdict));
}

function uploadVerdict(label: string, fault: UploadFault): Verdict {
  const words = fault.kind === 'failed' ? fault.words : '回传表格失败，再选「提交」只重传。';
  return { status: '失败', error: `${label}：${words}`, isPartial: false };
}

/** What the row becomes. A result that comes although staff typed 取消 is kept, and the row stays cancelled. */
function judge(
  hub: Hub,
  place: RowPlace,
  row: RowDocument,
  stageIndex: number,
  message: Ended['message'],
  ready: ReadyArtifacts,
): Verdict {
  const { agent } = place.table;
  const label = stageLabel(agent, stageIndex);
  const isPartial = message.status === 'partial' || (message.status === 'failed' && ready.keyMembers.length > 0);
  if (row.cancelRequested || message.status === 'canceled') return { status: '已取消', error: null, isPartial };
  if (isPartial) return { status: '失败', error: partialWords(label, message.marks, message.failure), isPartial };
  if (message.status === 'failed') {
    return { status: '失败', error: failureWords(label, message.failure, message.failedNode), isPartial };
  }
  if (ready.keyMembers.length === 0) {
    return { status: '失败', error: `${label}失败：流程没有给出结果，请联系管理员；可再选「提交」重试。`, isPartial };
  }
  const confirm = agent.stages[stageIndex]?.confirm ?? false;
  const waits = typeof confirm === 'boolean' ? confirm : hub.deps.confirmSetting(confirm.setting);
  if (waits) return { status: '待确认', error: null, isPartial };
  return { status: stageIndex + 1 < agent.stages.length ? 'chain' : '完成', error: null, isPartial };
}

async function writeEnd(
  hub: Hub,
  place: RowPlace,
  entry: Ended,
  row: RowDocument,
  stageIndex: number,
  verdict: Verdict,
  ready: ReadyArtifacts,
  others: () => number,
): Promise<WriteOutcome> {
  const { columns, table, agent } = place.table;
  const isChain = verdict.status === 'chain';
  const values: ProtocolValues = {
    状态: isChain ? '生成中' : verdict.status,
    报错: verdict.error,
    进度: isChain ? `${stageLabel(agent, stageIndex + 1)} · 准备中` : null,
    提示: hintText(row),
    执行编号: formatExecutionMark(entry.executionId, hub.deps.instanceTag),
    ...moneyAndTime(row, await rowCostMicros(hub, place)),
  };
  const write = async (merges: ReadyArtifacts['merges']): Promise<WriteOutcome> =>
    await hub.writerOf(table.appToken).write({
      tableId: table.tableId,
      recordId: place.recordId,
      cells: { ...ready.cells, ...protocolCells(columns, values) },
      merges,
      withinMs: resultPatienceMs(hub.deps.engine.activity().driving + others(), entry.message.activeMs),
    });
  const first = await write(ready.merges);
  if (first.kind !== 'refused' || first.failure.class !== 'foreign-attachment') return first;
  // The platform does not take a remembered token: the kept files are uploaded once more, never made again (P031).
  for (const hash of ready.hashes) await hub.files.forget(table.appToken, hash);
  const stage = agent.stages[stageIndex];
  if (stage === undefined) return first;
  const again = await readyArtifacts(hub, place, stage, row, entry.message.output);
  return again.ok ? await write(again.value.merges) : first;
}

async function writeRefused(
  hub: Hub,
  place: RowPlace,
  entry: Ended,
  row: RowDocument,
  label: string,
  refused: Extract<WriteOutcome, { kind: 'refused' }>,
): Promise<Delivery> {
  const { failure } = refused;
  const error = `${label}：已生成，但写回表格失败（飞书代码 ${failure.code}${failure.logId === undefined ? '' : `，日志号 ${failure.logId}`}）；结果已保留，再选「提交」只重新写回，不会重新生成。`;
  await noteRefusal(hub, place, failure);
  const told = await hub.writerOf(place.table.table.appToken).write({
    tableId: place.table.table.tableId,
    recordId: place.recordId,
    cells: protocolCells(place.table.columns, {
      状态: '失败',
      报错: error,
      进度: null,
      ...moneyAndTime(row, await rowCostMicros(hub, place)),
    }),
    withinMs: 0,
  });
  if (told.kind === 'gone') return await rowIsGone(hub, place, entry);
  // Not even the words can be written now: the entry stays, and the whole result is tried again.
  if (told.kind === 'refused') return 'later';
  return await acknowledgeEnd(
    hub,
    place,
    entry,
    { ...withoutCurrent(row), status: '失败' },
    `${rowName(place, row.title)}${error}`,
  );
}

function endText(place: RowPlace, title: string, label: string, verdict: Verdict): string {
  const name = rowName(place, title);
  switch (verdict.status) {
    case '待确认':
      return `${name}${label}已生成，待确认：满意选「通过」，不满意填「打回意见」后选「打回」。`;
    case '完成':
      return `${name}已完成。`;
    case '已取消':
      return `${name}已取消。`;
    default:
      return `${name}${verdict.error ?? `${label}失败。`}`;
  }
}
