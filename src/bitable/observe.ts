import type { RawRecord } from '../feishu/index.ts';
import { commandId } from '../kernel/index.ts';
import { hintText, type ProtocolValues } from './cells.ts';
import { readPersons, readText } from './codec-read.ts';
import { decide, type Decision, type RowFacts } from './decision-table.ts';
import { goneOn } from './gone-on.ts';
import { type Hub, refOf, type RowPlace, stageAt, stageLabel } from './hub.ts';
import { formatExecutionMark, rowKey, tagOfExecutionMark } from './refs.ts';
import {
  type CommandDocument,
  cellsSchema,
  deleteCommand,
  loadRow,
  newRow,
  openCommands,
  putCommand,
  putRow,
  type RowDocument,
  stageOf,
  withoutCurrent,
  withStage,
} from './row-documents.ts';
import { cellMembers, cellStatus, keyArtifact, rowFacts } from './row-facts.ts';
import { normalizeWord, type OperationWord, parseOperation, type RowStatus } from './words.ts';

/**
 * One fresh read of one row, turned into commands. States of a command: `stored` (on our disk, still in the cell) →
 * `cleared` (the clear was answered) → `executed`; and apart from that `closed`, once a read issued after the clear's
 * answer shows 操作 without the word. Until it is closed the same word is the same command and is cleared again; another
 * word is a new one. Typed over while `stored`, a command is closed at once, and `cleared` when the newer word is: words
 * are executed in the order in which they were typed. Invariant: a word is acted on only after it is stored, and only once,
 * whatever the reads repeat.
 */
export interface Observation {
  /** The command whose cells (the clear of 操作 among them) must be written now. */
  readonly clear?: CommandDocument;
  /** Commands wait for their execution. */
  readonly execute: boolean;
  /** Another installation works on this row. */
  readonly foreignTag?: string;
  readonly row: RowDocument | undefined;
}

/** Who edits, as far as anyone told us: from the event, or from the search's automatic fields. */
export interface Editors {
  readonly operatorId?: string;
  readonly createdById?: string;
}

export async function observeRow(hub: Hub, place: RowPlace, record: RawRecord, editors: Editors): Promise<Observation> {
  const { store, clock, instanceTag } = hub.deps;
  const key = rowKey(refOf(place));
  const row = await loadRow(store, key);
  const commands = await openCommands(store, `${key}#`);
  const foreignTag = foreignTagOf(place, record, instanceTag);
  if (foreignTag !== undefined) return { execute: false, foreignTag, row };
  const word = wordOf(place, record);
  const last = commands.findLast((command) => !command.closed);
  if (last !== undefined && last.phase !== 'stored' && word !== last.word) {
    const isOver = last.phase === 'executed';
    await store.commit([isOver ? deleteCommand(key, last) : putCommand(clock, key, { ...last, closed: true })]);
  }
  const execute = commands.some((command) => command.phase === 'cleared');
  if (last !== undefined && (word === last.word || (word === '' && last.phase === 'stored'))) {
    return { clear: last, execute, row };
  }
  if (word === '') return { execute, row };
  const resumed = await goneOn(hub, row);
  const made = newCommand(hub, place, record, resumed ?? row, word, editors);
  const over = last?.phase === 'stored' ? last : undefined;
  const shown: ProtocolValues = resumed === undefined ? {} : { 状态: resumed.status, 报错: null };
  // The cells of a word that was typed over before it was cleared go out with the clear of the word that took its place.
  const command = { ...made.command, cells: { ...over?.cells, ...json(shown), ...made.command.cells } };
  hub.deps.failpoints.hit('intake:before-store');
  await store.commit([
    putRow(clock, key, made.row),
    putCommand(clock, key, command),
    ...(over === undefined ? [] : [putCommand(clock, key, { ...over, closed: true })]),
  ]);
  hub.deps.failpoints.hit('intake:after-store');
  return { clear: command, execute, row: made.row };
}

export function wordOf(place: RowPlace, record: RawRecord): string {
  return normalizeWord(readText(record.fields[place.table.columns.protocol.操作?.name ?? '']));
}

/** The tag of another installation on a row that is in 生成中; a row without a tag counts as ours. */
export function foreignTagOf(place: RowPlace, record: RawRecord, instanceTag: string): string | undefined {
  const { columns } = place.table;
  if (cellStatus(columns, record.fields) !== '生成中') return undefined;
  const tag = tagOfExecutionMark(readText(record.fields[columns.protocol.执行编号?.name ?? '']));
  return tag === undefined || tag === instanceTag ? undefined : tag;
}

function newCommand(
  hub: Hub,
  place: RowPlace,
  record: RawRecord,
  known: RowDocument | undefined,
  word: string,
  editors: Editors,
): { readonly command: CommandDocument; readonly row: RowDocument } {
  const { agent, columns } = place.table;
  const nowMs = hub.deps.clock.nowMs();
  const facts = rowFacts(agent, columns, record.fields, known);
  const title = readText(record.fields[columns.title ?? ''])
    .trim()
    .slice(0, maxTitleChars);
  const unknown = { ...newRow(agent.agent), status: facts.status, stage: facts.waitingStage };
  const before: RowDocument = { ...(known ?? unknown), title };
  const operation = parseOperation(word);
  const refusal = operation === undefined ? unknownWord(word) : guard(hub, place, before, operation, editors, nowMs);
  const decision: Decision =
    operation === undefined || refusal !== undefined ? { kind: 'refuse' } : decide(operation, facts);
  const submitter = submitterOf(place, record, editors);
  const base = {
    id: commandId(hub.deps.ids.uuid()),
    recordId: place.recordId,
    word,
    storedAt: nowMs,
    phase: 'stored',
    closed: false,
    submitter,
  } as const;
  switch (decision.kind) {
    case 'refuse': {
      const isWrong = known !== undefined && isShownWrongly(known, cellStatus(columns, record.fields));
      const hint = `${rowName(place, title)}${isWrong ? wrongStatusWords : ''}${refusal ?? refusedWords(word, facts)}`;
      const isTold = hub.messenger.canReach(submitter);
      const row = isTold ? before : { ...before, notes: [...before.notes.slice(-4), hint] };
      const cells: ProtocolValues = {
        操作: null,
        ...(isTold ? {} : { 提示: hintText(row) }),
        ...(isWrong ? { 状态: before.status === '' ? null : before.status } : {}),
      };
      return { row, command: { ...base, plan: { kind: 'refuse' }, cells: json(cells), hint } };
    }
    case 'cancel': {
      const running = facts.status === '生成中' && (before.current !== undefined || known?.status === '生成中');
      const row: RowDocument = running
        ? { ...before, cancelRequested: true }
        : { ...before, status: '已取消', cancelRequested: true };
      const cells: ProtocolValues = running
        ? { 操作: null, 进度: '取消中' }
        : { 操作: null, 状态: '已取消', 进度: null };
      return { row, command: { ...base, plan: { kind: 'cancel', running }, cells: json(cells) } };
    }
    case 'finish': {
      const { current } = before;
      const row: RowDocument = { ...withoutCurrent(before), status: '完成' };
      const cancels = decision.held === 'cancel' ? current?.executionId : undefined;
      const cells: ProtocolValues = { 操作: null, 状态: '完成', 报错: null, 进度: null };
      return {
        row,
        command: {
          ...base,
          plan: { kind: 'finish', ...(cancels === undefined ? {} : { cancels }) },
          cells: json(cells),
        },
      };
    }
    case 'start': {
      const row = startingRow(place, record, { ...before, submitter }, decision, nowMs);
      const cells: ProtocolValues = {
        操作: null,
        状态: '生成中',
        报错: null,
        进度: `${stageLabel(agent, decision.stage)} · 准备中`,
        提示: hintText(row),
        执行编号: formatExecutionMark(undefined, hub.deps.instanceTag),
      };
      const plan = { kind: 'start', stage: decision.stage, held: decision.held } as const;
      return { row, command: { ...base, plan, cells: json(cells) } };
    }
  }
}

function json(values: ProtocolValues): CommandDocument['cells'] {
  return cellsSchema.parse(values);
}

/** The row as it is from the moment its start is stored. */
function startingRow(
  place: RowPlace,
  record: RawRecord,
  before: RowDocument,
  decision: Extract<Decision, { kind: 'start' }>,
  nowMs: number,
): RowDocument {
  const { agent, columns } = place.table;
  const stage = stageAt(agent, decision.stage);
  const own = stageOf(before, stage.stage);
  const key = keyArtifact(stage);
  const members = cellMembers(key.type, record.fields[columns.artifacts.get(key.column)?.name ?? '']);
  const written = readText(record.fields[columns.protocol.打回意见?.name ?? '']).trim();
  const isNews = decision.feedback || written !== (before.lastFeedback ?? '');
  const feedback = decision.raise ? (isNews ? written : '') : own.feedback;
  const row = withStage(before, stage.stage, {
    generation: own.generation + (decision.raise ? 1 : 0),
    rejected: decision.reject ? [...members] : own.rejected,
    hints: [],
    ...(feedback === undefined ? {} : { feedback }),
  });
  return {
    ...row,
    status: '生成中',
    stage: decision.stage,
    cancelRequested: false,
    notes: [],
    starts: [...before.starts.filter((at) => at > nowMs - 3_600_000), nowMs],
    ...(decision.raise && written !== '' ? { lastFeedback: written } : {}),
  };
}

/** Who typed it where Feishu tells, else 提交人, else who made the row; empty when nobody is known. */
function submitterOf(place: RowPlace, record: RawRecord, editors: Editors): string {
  const column = place.table.columns.protocol.提交人;
  const [person] = readPersons(record.fields[column?.name ?? '']);
  return editors.operatorId ?? person?.id ?? editors.createdById ?? record.createdById ?? '';
}

/** Rules beside the table: who may type 通过, and how often a row may start. */
function guard(
  hub: Hub,
  place: RowPlace,
  row: RowDocument,
  word: OperationWord,
  editors: Editors,
  nowMs: number,
): string | undefined {
  const { approvers } = place.table.agent;
  if (word === '通过' && approvers !== undefined && !approvers.includes(editors.operatorId ?? '')) {
    return '只有指定的审核人可以选「通过」，操作已清空。';
  }
  const limit = hub.deps.settings.limits.starts_per_row_per_hour;
  const recent = row.starts.filter((at) => at > nowMs - 3_600_000).length;
  if (word !== '取消' && recent >= limit) {
    void hub.notice({
      name: 'row-parked',
      title: '同一行启动过于频繁，已暂停',
      text: `智能体 ${place.table.agent.agent} 的行 ${place.recordId} 一小时内已启动 ${recent} 次；可能有别的自动化在改「操作」列，请检查。`,
    });
    return `这一行一小时内已启动 ${recent} 次，暂不再启动；请检查是否有别的自动化在改「操作」列，一小时后再试。`;
  }
  return undefined;
}

/** While a row runs its cell may lag behind us; at rest another 状态 was put there by hand. */
function isShownWrongly(row: RowDocument, shown: RowStatus): boolean {
  return row.status !== '生成中' && shown !== row.status;
}

const wrongStatusWords = '「状态」由机器人维护，手工修改不起作用，已恢复。';

function unknownWord(word: string): string {
  return `「${word.slice(0, 20)}」不是可用的操作，请选：提交、通过、打回、取消。`;
}

function refusedWords(word: string, facts: RowFacts): string {
  const status = facts.status === '' ? '空' : facts.status;
  return `状态为「${status}」时不能选「${word}」，操作已清空，状态不变。`;
}

/** Names the row to a person who reads a message. */
export function rowName(place: RowPlace, title: string): string {
  return `【${place.table.agent.title} · ${title === '' ? place.recordId : title}】`;
}

const maxTitleChars = 20;
