import type { OutboxMessage, OutboxRecord } from '../engine/ports/index.ts';
import { acknowledgeEnd, type Delivery, rowIsGone } from './acknowledge.ts';
import { type Hub, refOf, type RowPlace, stageLabel } from './hub.ts';
import { rowName } from './observe.ts';
import { readRow } from './read-row.ts';
import { rowKey } from './refs.ts';
import { loadRow, openCommands, pendingStart, type RowDocument, withoutCurrent } from './row-documents.ts';
import { startStage } from './start-stage.ts';
import { writeProtocol } from './write-protocol.ts';
import type { WriteOutcome } from './writer-entry.ts';

export type Ended = OutboxRecord & { readonly message: Extract<OutboxMessage, { kind: 'ended' }> };

/** The same end chains into the same execution, however often it is delivered. */
export function chainKey(entry: OutboxRecord, stageIndex: number): string {
  return `chain:${entry.executionId}:${stageIndex}`;
}

/** Straight into the next stage; its refusal is the row's failure. */
export async function chainStage(
  hub: Hub,
  place: RowPlace,
  entry: Ended,
  row: RowDocument,
  stageIndex: number,
  written: Extract<WriteOutcome, { kind: 'written' }>,
): Promise<Delivery> {
  // The writer has seen the whole row when it had files to merge; after a stage of texts it is read.
  const fields = written.isWhole ? written.fields : await readRow(hub, place);
  if (fields === undefined) return 'later';
  if (fields === 'gone') return await rowIsGone(hub, place, entry);
  const next = stageIndex + 1;
  const key = rowKey(refOf(place));
  const outcome = await startStage(hub, {
    place,
    fields,
    row,
    stage: next,
    idempotencyKey: chainKey(entry, next),
    isWanted: async () => await isStillWanted(hub, key, entry),
  });
  if (outcome.kind === 'started') {
    hub.deps.failpoints.hit('intake:after-submit');
    return await acknowledgeEnd(hub, place, entry, outcome.mark(row), undefined);
  }
  const isCanceled = outcome.kind === 'unwanted';
  const status = isCanceled ? '已取消' : '失败';
  const error = isCanceled ? null : `${stageLabel(place.table.agent, next)}：${outcome.words}`;
  const told = await writeProtocol(hub, place, { 状态: status, 报错: error, 进度: null });
  if (told.kind === 'refused') return 'later';
  const ended: RowDocument = { ...withoutCurrent(row), status, stage: next };
  const text = `${rowName(place, row.title)}${error ?? '已取消。'}`;
  return await acknowledgeEnd(hub, place, entry, ended, text);
}

/** Not after 取消; nor where a word has started something else meanwhile, or is about to: it alone buys. */
async function isStillWanted(hub: Hub, key: string, entry: Ended): Promise<boolean> {
  const { store } = hub.deps;
  const row = await loadRow(store, key);
  if (row?.cancelRequested === true || row?.current?.executionId !== entry.executionId) return false;
  return pendingStart(await openCommands(store, `${key}#`)) === undefined;
}
