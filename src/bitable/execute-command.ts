import type { ExecutionRecord, StoreCommand } from '../engine/ports/index.ts';
import { assertNever, executionId, type JsonObject } from '../kernel/index.ts';
import { hintText } from './cells.ts';
import { changeRow } from './change-row.ts';
import { patienceMs } from './deps.ts';
import { type Hub, refOf, type RowPlace, stageLabel } from './hub.ts';
import { rowName } from './observe.ts';
import { readRow } from './read-row.ts';
import { formatExecutionMark, rowKey } from './refs.ts';
import {
  type CommandDocument,
  deleteCommand,
  loadRow,
  openCommands,
  pendingStart,
  putCommand,
  type RowDocument,
  withNote,
  withoutCurrent,
} from './row-documents.ts';
import { type Release, releaseHeld } from './release-held.ts';
import { startStage, withoutHeld } from './start-stage.ts';
import { writeProtocol } from './write-protocol.ts';

/**
 * Executes one cleared command; every step is repeatable. Returns false when it must wait (write-back is down, the row
 * could not be read, the table refuses what is to be said): the command stays as it is.
 */
export async function executeCommand(
  hub: Hub,
  place: RowPlace,
  command: CommandDocument,
  fields: JsonObject | undefined,
): Promise<boolean> {
  const { plan } = command;
  switch (plan.kind) {
    case 'refuse':
      await tellRefusal(hub, place, command);
      return true;
    case 'finish':
      if (plan.cancels !== undefined) {
        await hub.deps.engine.cancel(executionId(plan.cancels), '成品已由员工放入表格');
      }
      await conclude(hub, place, command, (unchanged) => unchanged);
      return true;
    case 'cancel':
      return await executeCancel(hub, place, command, plan.running);
    case 'start':
      return await executeStart(hub, place, command, plan.stage, plan.held, fields);
    default:
      return assertNever(plan);
  }
}

/** In one commit: the row's new state, and the command executed (or removed when its cell was seen empty). */
async function conclude(
  hub: Hub,
  place: RowPlace,
  command: CommandDocument,
  change: (row: RowDocument, commands: readonly CommandDocument[]) => RowDocument,
): Promise<RowDocument | undefined> {
  const key = rowKey(refOf(place));
  const { store, clock } = hub.deps;
  return await changeRow(hub, place, async (row) => {
    // `closed` may have been set meanwhile.
    const commands = await openCommands(store, `${key}#`);
    const now = commands.find((candidate) => candidate.id === command.id);
    const executed = (open: CommandDocument): StoreCommand =>
      open.closed ? deleteCommand(key, open) : putCommand(clock, key, { ...open, phase: 'executed' });
    return {
      row: row === undefined ? undefined : change(row, commands),
      also: now === undefined ? [] : [executed(now)],
    };
  });
}

async function tellRefusal(hub: Hub, place: RowPlace, command: CommandDocument): Promise<void> {
  const { submitter } = command;
  if (command.hint !== undefined && hub.messenger.canReach(submitter)) {
    await hub.deps.store.commit([hub.messenger.put({ key: `hint/${command.id}`, submitter, text: command.hint })]);
    hub.messenger.ring();
  }
  await conclude(hub, place, command, (unchanged) => unchanged);
}

async function executeCancel(hub: Hub, place: RowPlace, command: CommandDocument, running: boolean): Promise<boolean> {
  const key = rowKey(refOf(place));
  const row = await loadRow(hub.deps.store, key);
  const current = row?.current;
  if (current !== undefined) await hub.deps.engine.cancel(executionId(current.executionId), '员工选了「取消」');
  // What was to be cancelled has ended by itself; a word may have started something new since.
  const isStartedAnew = (commands: readonly CommandDocument[]): boolean =>
    pendingStart(commands.filter((other) => other.id > command.id)) !== undefined;
  const isAtRest = running && current === undefined && !isStartedAnew(await openCommands(hub.deps.store, `${key}#`));
  if (isAtRest && (await writeProtocol(hub, place, { 状态: '已取消', 进度: null })).kind === 'refused') return false;
  const after = await conclude(hub, place, command, (now, commands) =>
    isAtRest && !isStartedAnew(commands) ? { ...now, status: '已取消' } : now,
  );
  if (isAtRest && after !== undefined && after.status !== '已取消')
    await writeProtocol(hub, place, { 状态: after.status });
  return true;
}

async function executeStart(
  hub: Hub,
  place: RowPlace,
  command: CommandDocument,
  stage: number,
  held: 'none' | 'not-accepted' | 'cancel',
  fields: JsonObject | undefined,
): Promise<boolean> {
  const key = rowKey(refOf(place));
  const { store, failpoints } = hub.deps;
  if (hub.writerOf(place.table.table.appToken).isDown(place.table.table.tableId)) return false;
  const row = await loadRow(store, key);
  if (row === undefined) return true;
  const seen = fields ?? (await readRow(hub, place));
  if (seen === undefined) return false;
  if (seen === 'gone') {
    await store.commit([deleteCommand(key, command)]);
    return true;
  }
  const other = held === 'none' ? await unendedOther(hub, row, command) : undefined;
  if (other !== undefined) {
    if (await isCanceledLater(hub, key, command)) {
      await conclude(hub, place, command, (unchanged) => unchanged);
      return true;
    }
    // On its way to its end: the command waits for that.
    if (other.cancelRequestedAt !== undefined) return false;
    await leaveRunning(hub, place, command, other.id);
    return true;
  }
  const release = await releaseHeld(hub, row, held);
  if (release !== 'free') {
    await keepWaiting(hub, place, command, release);
    return true;
  }
  const isWanted = async (): Promise<boolean> => !(await isCanceledLater(hub, key, command));
  const outcome = await startStage(hub, { place, fields: seen, row, stage, idempotencyKey: command.id, isWanted });
  if (outcome.kind === 'unwanted') {
    await conclude(hub, place, command, withoutCurrent);
    return true;
  }
  if (outcome.kind === 'refused') {
    return await refuseStart(hub, place, command, stage, outcome.words);
  }
  failpoints.hit('intake:after-submit');
  await conclude(hub, place, command, outcome.mark);
  const mark = formatExecutionMark(outcome.executionId, hub.deps.instanceTag);
  void writeProtocol(hub, place, { 执行编号: mark }, { withinMs: patienceMs.lazy });
  return true;
}

/** Nothing is bought beside an execution of the row that has not ended, whatever has come to stand in 状态. */
async function unendedOther(
  hub: Hub,
  row: RowDocument,
  command: CommandDocument,
): Promise<ExecutionRecord | undefined> {
  if (row.current === undefined) return undefined;
  const execution = await hub.deps.store.execution(executionId(row.current.executionId));
  const isOther = execution !== undefined && execution.idempotencyKey !== command.id;
  return isOther && execution.endedAt === undefined ? execution : undefined;
}

async function leaveRunning(hub: Hub, place: RowPlace, command: CommandDocument, running: string): Promise<void> {
  const words = `这一行的执行 ${running} 还没有结束，没有再启动；它的结果到了会自动补上。`;
  const row = await conclude(hub, place, command, (now) => ({ ...withNote(now, words), status: '生成中' }));
  if (row !== undefined) await writeProtocol(hub, place, { 状态: row.status, 提示: hintText(row), 进度: null });
}

const releaseWords: Readonly<Record<Exclude<Release, 'free'>, string>> = {
  accepted: '在核对的调用已确认被厂商受理，没有重新购买；结果到了会自动补上。',
  'bought-again': '在核对的调用已确认厂商没有受理，流程已自动重新购买，没有再买一次；结果到了会自动补上。',
};

/** The doubt was settled before the word came to it: nothing is bought beside what is under way, its result fills the row. */
async function keepWaiting(
  hub: Hub,
  place: RowPlace,
  command: CommandDocument,
  release: Exclude<Release, 'free'>,
): Promise<void> {
  const words = releaseWords[release];
  await conclude(hub, place, command, (row) => withoutHeld(withNote(row, words)));
  const row = await loadRow(hub.deps.store, rowKey(refOf(place)));
  if (row !== undefined)
    await writeProtocol(hub, place, { 提示: hintText(row), 进度: '等待厂商结果' }, { withinMs: patienceMs.gather });
}

/** A later 取消 of the same row waits: what has not been submitted is not submitted. */
async function isCanceledLater(hub: Hub, key: string, command: CommandDocument): Promise<boolean> {
  const commands = await openCommands(hub.deps.store, `${key}#`);
  return commands.some((other) => other.id > command.id && other.plan.kind === 'cancel');
}

async function refuseStart(
  hub: Hub,
  place: RowPlace,
  command: CommandDocument,
  stage: number,
  words: string,
): Promise<boolean> {
  const key = rowKey(refOf(place));
  const label = stageLabel(place.table.agent, stage);
  const told = await writeProtocol(hub, place, { 状态: '失败', 报错: `${label}：${words}`, 进度: null });
  if (told.kind === 'refused') return false;
  const row = await loadRow(hub.deps.store, key);
  const submitter = row?.submitter ?? '';
  if (hub.messenger.canReach(submitter)) {
    const text = `${rowName(place, row?.title ?? '')}失败：${label}：${words}`;
    await hub.deps.store.commit([hub.messenger.put({ key: `end/${command.id}`, submitter, text })]);
    hub.messenger.ring();
  }
  await conclude(hub, place, command, (now) => ({ ...withoutCurrent(now), status: '失败' }));
  return true;
}
