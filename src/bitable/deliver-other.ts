import type { OutboxMessage, OutboxRecord } from '../engine/ports/index.ts';
import type { Artifact, StageDefinition } from '../contract/index.ts';
import { hintText, moneyAndTime } from './cells.ts';
import { acknowledge, type Delivery, rowCostMicros, rowIsGone } from './acknowledge.ts';
import { artifactsIn } from './deliver-result.ts';
import { type Hub, refOf, type RowPlace, stageLabel } from './hub.ts';
import { rowName } from './observe.ts';
import { rowKey } from './refs.ts';
import { heldWords } from './result-words.ts';
import { openCommands, pendingStart, type RowDocument, stageOf, withNote, withStage } from './row-documents.ts';
import { keyArtifact } from './row-facts.ts';
import { uploadArtifact } from './upload.ts';
import { writeProtocol } from './write-protocol.ts';
import type { AttachmentMerge } from './writer-entry.ts';

type Held = OutboxRecord & { readonly message: Extract<OutboxMessage, { kind: 'held' }> };
type Late = OutboxRecord & { readonly message: Extract<OutboxMessage, { kind: 'late-result' }> };

/**
 * A call in doubt: the row becomes 待核对 and says which call, at whom, for how much. Not where the execution has gone on
 * meanwhile, nor where a start is stored: 提交 on a 待核对 that is none would stop a purchase and make it again.
 */
export async function deliverHeld(
  hub: Hub,
  place: RowPlace,
  row: RowDocument,
  stageIndex: number,
  entry: Held,
): Promise<Delivery> {
  const label = stageLabel(place.table.agent, stageIndex);
  const words = heldWords(label, entry.message);
  const after = { ...row, status: '待核对', stage: stageIndex, heldAttemptId: entry.message.attemptId } as const;
  if (await isAboutToStart(hub, place)) return 'later';
  if (!(await isStillHeld(hub, entry, row))) {
    await acknowledge(hub, place, entry, (now) => now, undefined);
    return 'done';
  }
  const outcome = await writeProtocol(hub, place, {
    状态: '待核对',
    报错: words,
    进度: null,
    ...moneyAndTime(after, await rowCostMicros(hub, place)),
  });
  hub.deps.failpoints.hit('outbox:after-write');
  if (outcome.kind === 'gone') return await rowIsGone(hub, place, entry);
  if (outcome.kind === 'refused') return 'later';
  const { status, stage, heldAttemptId } = after;
  const change = async (now: RowDocument): Promise<RowDocument> => {
    const isHeld = (await isStillHeld(hub, entry, now)) && !(await isAboutToStart(hub, place));
    return isHeld ? { ...now, status, stage, heldAttemptId } : now;
  };
  const changed = await acknowledge(hub, place, entry, change, `${rowName(place, row.title)}${words}`);
  if (changed !== undefined && changed.status !== status) {
    await writeProtocol(hub, place, { 状态: changed.status === '' ? null : changed.status, 报错: null });
  }
  return 'done';
}

async function isStillHeld(hub: Hub, entry: Held, row: RowDocument): Promise<boolean> {
  if (row.current?.executionId !== entry.executionId) return false;
  return (await hub.deps.store.execution(entry.executionId))?.status === 'held';
}

async function isAboutToStart(hub: Hub, place: RowPlace): Promise<boolean> {
  return pendingStart(await openCommands(hub.deps.store, `${rowKey(refOf(place))}#`)) !== undefined;
}

/**
 * The end of an execution that the row has moved on from: it dies, but its money is in 成本 and it is named in 提示. A
 * rerun was asked for by a person: it is named even where it cost nothing.
 */
export async function deliverStale(
  hub: Hub,
  place: RowPlace,
  row: RowDocument,
  stageIndex: number,
  entry: OutboxRecord & { readonly isRerun: boolean },
): Promise<Delivery> {
  const charges = await hub.deps.store.charges({ executionId: entry.executionId });
  const hasCost = charges.some((charge) => charge.state !== 'released' && charge.cnyMicros > 0);
  const isTold = hasCost || entry.isRerun;
  const line = `${stageLabel(place.table.agent, stageIndex)}：${staleWords(entry, hasCost)}`;
  const after = isTold ? withNote(row, line) : row;
  const values = { 提示: hintText(after), ...moneyAndTime(after, await rowCostMicros(hub, place)) };
  if (isTold && (await writeProtocol(hub, place, values)).kind === 'refused') return 'later';
  await acknowledge(hub, place, entry, (now) => (isTold ? withNote(now, line) : now), undefined);
  return 'done';
}

function staleWords(entry: OutboxRecord & { readonly isRerun: boolean }, hasCost: boolean): string {
  const what = `${entry.isRerun ? '管理员的重跑' : '之前一次执行'}（${entry.executionId}）`;
  if (entry.message.kind === 'held') return `${what}有一次调用待核对，管理员已收到提醒。`;
  const cost = hasCost ? '，费用已计入成本' : '';
  if (!entry.isRerun) return `${what}已结束，结果未采用${cost}。`;
  return `${what}已结束，这一行已往下走，结果未采用${cost}；可用 npx gridloom show 查看。`;
}

/**
 * A paid result that came too late for its execution: kept behind the newest version, named in 提示. Nobody waits for it
 * any more, and what its execution would have written beside it is missing: alone in the cell it does not make the stage
 * done. A new start has it from the engine's memory, without paying again.
 */
export async function deliverLate(
  hub: Hub,
  place: RowPlace,
  row: RowDocument,
  stage: StageDefinition,
  stageIndex: number,
  entry: Late,
): Promise<Delivery> {
  const key = keyArtifact(stage);
  const files = isKept(place, stage) ? artifactsIn(entry.message.output) : [];
  const tokens = await uploadKept(hub, place, stage, files);
  if (tokens === 'later') return 'later';
  const label = stageLabel(place.table.agent, stageIndex);
  const where = tokens.length > 0 ? `已放在「${key.column}」末尾` : '可用 npx gridloom show 查看';
  const line = `${label}：一个迟到的结果${where}，费用已计入成本。`;
  const change = (now: RowDocument): RowDocument => {
    const own = stageOf(now, stage.stage);
    const older = (own.versions[key.column] ?? []).filter((version) => version.join() !== tokens.join());
    const versions = tokens.length === 0 ? own.versions : { ...own.versions, [key.column]: [...older, [...tokens]] };
    const rejected = [...new Set([...own.rejected, ...tokens])];
    return withStage(withNote(now, line), stage.stage, { versions, rejected });
  };
  const after = change(row);
  const values = { 提示: hintText(after), ...moneyAndTime(after, await rowCostMicros(hub, place)) };
  const outcome = await writeProtocol(hub, place, values, { merges: behindAll(place, stage, tokens) });
  hub.deps.failpoints.hit('outbox:after-write');
  if (outcome.kind === 'gone') return await rowIsGone(hub, place, entry);
  if (outcome.kind === 'refused') {
    // The platform does not take a remembered token: the kept files are uploaded once more at the next try (P031).
    const isForeign = outcome.failure.class === 'foreign-attachment';
    if (isForeign) for (const file of files) await hub.files.forget(place.table.table.appToken, file.hash);
    return 'later';
  }
  await acknowledge(hub, place, entry, change, undefined);
  return 'done';
}

function isKept({ table }: RowPlace, stage: StageDefinition): boolean {
  const key = keyArtifact(stage);
  return key.type === 'attachment' && table.columns.artifacts.get(key.column) !== undefined;
}

async function uploadKept(
  hub: Hub,
  place: RowPlace,
  stage: StageDefinition,
  files: readonly Artifact[],
): Promise<readonly string[] | 'later'> {
  const tokens: string[] = [];
  for (const artifact of files) {
    const name = keyArtifact(stage).file_name ?? artifact.name;
    const token = await uploadArtifact(hub, place.table.table.appToken, artifact, name);
    if (token.ok) tokens.push(token.value);
    else if (token.failure.kind === 'later') return 'later';
  }
  return tokens;
}

function behindAll({ table }: RowPlace, stage: StageDefinition, tokens: readonly string[]): readonly AttachmentMerge[] {
  const column = table.columns.artifacts.get(keyArtifact(stage).column);
  if (column === undefined || tokens.length === 0) return [];
  return [{ column: column.name, tokens, versions: [], keep: 1, first: false }];
}
