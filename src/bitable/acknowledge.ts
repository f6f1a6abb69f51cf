import type { OutboxRecord } from '../engine/ports/index.ts';
import { executionId } from '../kernel/index.ts';
import { changeRow } from './change-row.ts';
import { type Hub, refOf, type RowPlace } from './hub.ts';
import { rowKey, rowSourcePrefix } from './refs.ts';
import { collections, openCommands, pendingStart, type RowDocument, withoutCurrent } from './row-documents.ts';
import { writeProtocol } from './write-protocol.ts';

/** `later`: the platform is away, the entry stays; `soon`: whose end it is will be known in a moment. */
export type Delivery = 'done' | 'later' | 'soon';

/** All that the row has cost, failures and earlier rounds included, each charge once. */
export async function rowCostMicros(hub: Hub, place: RowPlace): Promise<number> {
  const charges = await hub.deps.store.charges({ sourceRefPrefix: rowSourcePrefix(refOf(place)) });
  return charges.reduce((sum, charge) => (charge.state === 'released' ? sum : sum + charge.cnyMicros), 0);
}

/** The row was deleted while it ran: nothing is written, nothing more is started, the money stays in the ledger (P042). */
export async function rowIsGone(hub: Hub, place: RowPlace, entry: OutboxRecord): Promise<Delivery> {
  const { store } = hub.deps;
  const key = rowKey(refOf(place));
  await hub.notice({
    name: 'orphan-result',
    title: '行已删除，结果未写回',
    text: `智能体 ${place.table.agent.agent} 的行 ${place.recordId} 已不在表里；执行 ${entry.executionId} 的结果与费用可用 npx gridloom show 查看。`,
    severity: 'info',
  });
  await store.commit([
    { type: 'delete-document', collection: collections.row, key },
    { type: 'ack-outbox', seq: entry.seq },
  ]);
  hub.deps.failpoints.hit('outbox:after-ack');
  return 'done';
}

/**
 * The row's new memory, the message to its submitter and the acknowledgement, in one commit. `change` is applied to the row
 * as it is then: a command may have come in while the result was under way.
 */
export async function acknowledge(
  hub: Hub,
  place: RowPlace,
  entry: OutboxRecord,
  change: (now: RowDocument) => RowDocument | Promise<RowDocument>,
  text: string | undefined,
): Promise<RowDocument | undefined> {
  const changed = await changeRow(hub, place, async (now) => {
    const row = now === undefined ? undefined : await change(now);
    const isTold = text !== undefined && row !== undefined && hub.messenger.canReach(row.submitter);
    const told = isTold ? [hub.messenger.put({ key: `end/${entry.seq}`, submitter: row.submitter, text })] : [];
    return { row, also: [...told, { type: 'ack-outbox', seq: entry.seq }] };
  });
  if (text !== undefined) hub.messenger.ring();
  hub.deps.failpoints.hit('outbox:after-ack');
  return changed;
}

/**
 * Acknowledges an end. 取消 that came in while the result was on its way still counts: kept, but 已取消. So does a start,
 * executed already or only stored: the row goes on with what was started, and its cells say so again.
 */
export async function acknowledgeEnd(
  hub: Hub,
  place: RowPlace,
  entry: OutboxRecord,
  row: RowDocument,
  text: string | undefined,
): Promise<Delivery> {
  const isLate = (now: RowDocument): boolean => now.cancelRequested && row.status !== '已取消';
  const after = await acknowledge(
    hub,
    place,
    entry,
    async (now) => {
      const goesOn = await goingOn(hub, place, entry, row, now);
      if (goesOn !== undefined) return goesOn;
      const isEnded = row.current === undefined;
      const status = isLate(now) && isEnded ? '已取消' : row.status;
      return { ...row, status, notes: now.notes, cancelRequested: isEnded ? false : now.cancelRequested };
    },
    text,
  );
  if (after?.current !== undefined && after.cancelRequested) {
    await hub.deps.engine.cancel(executionId(after.current.executionId), '员工选了「取消」');
  } else if (after !== undefined && after.status !== row.status) {
    await writeProtocol(hub, place, { 状态: after.status, 报错: null, 进度: null });
  }
  return 'done';
}

/** The row with the end's result in it where something was started while the end was on its way to the cells. */
async function goingOn(
  hub: Hub,
  place: RowPlace,
  entry: OutboxRecord,
  row: RowDocument,
  now: RowDocument,
): Promise<RowDocument | undefined> {
  const isOver = isSuperseded(now, entry, row);
  const pending = pendingStart(await openCommands(hub.deps.store, `${rowKey(refOf(place))}#`));
  if (!isOver && pending === undefined) return undefined;
  const pendingStage = pending === undefined ? undefined : place.table.agent.stages[pending]?.stage;
  const begun = [pendingStage, isOver ? now.current?.stage : undefined];
  // The memory of a stage that was started is newer than the end's.
  const newer = Object.fromEntries(Object.entries(now.stages).filter(([stage]) => begun.includes(stage)));
  const stages = { ...row.stages, ...newer };
  if (isOver) return { ...now, stages };
  return { ...withoutCurrent(now), stages, ...(row.current === undefined ? {} : { current: row.current }) };
}

/** Something was started while the end was on its way to the cells: neither what has ended, nor what the end itself started. */
function isSuperseded({ current }: RowDocument, entry: OutboxRecord, row: RowDocument): boolean {
  if (current === undefined) return false;
  return current.executionId !== entry.executionId && current.executionId !== row.current?.executionId;
}
