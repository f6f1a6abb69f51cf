import type { CallBudget, FeishuFailure, RawRecord, WakeEvent } from '../feishu/index.ts';
import { searchSpacingMs } from './call-counting.ts';
import { isEmptyCell } from './codec-read.ts';
import type { BoundColumn } from './columns.ts';
import type { CommandRunner } from './command-runner.ts';
import { type Hub, isReady, type ReadyTable, type TableState } from './hub.ts';
import { searchRows, takeCommands } from './intake.ts';
import { type Editors, wordOf } from './observe.ts';
import { createOrphanWatch, type OrphanWatch } from './orphans.ts';
import { loadColumns } from './table-columns.ts';
import { createStatusGuard } from './status-guard.ts';
import { createWordWitness, witnessWaitMs } from './word-witness.ts';

/**
 * The turns of one table: columns, search (when due), commands, orphans. The search is the truth; an event of the long
 * connection only names rows to look at sooner, and while it is alive the search may be skipped for a while.
 */
export interface TableLoop {
  readonly table: TableState;
  /** One turn. `search`: look at the whole table if that is due; else only at what events named. */
  turn(search: boolean): Promise<void>;
  wake(event: WakeEvent): boolean;
  lastSearchAt(): number | undefined;
}

const hourMs = 3_600_000;
/** A halted table is looked at again so often: the other installation may be gone. */
const haltedLookMs = 10 * 60_000;
/** After 99991403 nothing is asked for so long. */
const quotaPauseMs = hourMs;

export function createTableLoop(
  hub: Hub,
  runner: CommandRunner,
  table: TableState,
  budget: CallBudget,
  ring: () => void,
): TableLoop {
  const { clock, settings } = hub.deps;
  const hints = new Map<string, Editors>();
  const witness = createWordWitness(clock);
  const statusGuard = createStatusGuard(clock);
  const state = {
    lastSearchMs: Number.NEGATIVE_INFINITY,
    lastSearchAt: undefined as number | undefined,
    lastLookMs: Number.NEGATIVE_INFINITY,
    pausedUntilMs: 0,
    columnsNextMs: 0,
  };
  let orphans: OrphanWatch | undefined;

  const ready = async (): Promise<ReadyTable | undefined> => {
    if (isReady(table) && !table.columnsAreStale) return table;
    if (clock.monotonicMs() < state.columnsNextMs) return undefined;
    const load = await loadColumns(hub, table);
    if (load.kind === 'unfit') state.columnsNextMs = clock.monotonicMs() + haltedLookMs / 10;
    if (load.kind === 'away') await report(load.failure);
    return isReady(table) && load.kind !== 'unfit' ? table : undefined;
  };
  const report = async (failure: FeishuFailure): Promise<void> => {
    hub.deps.logger.warn('the table could not be read, the next turn tries again', {
      agent: table.agent.agent,
      code: failure.code,
      class: failure.class,
      logId: failure.logId,
    });
    if (failure.class === 'schema') table.columnsAreStale = true;
    if (failure.class === 'quota') state.pausedUntilMs = clock.monotonicMs() + quotaPauseMs;
    const words = readFailureWords[failure.class];
    if (words === undefined) return;
    await hub.notice({
      name: `feishu-${failure.class}`,
      ...words,
      text: `智能体 ${table.agent.agent}：${words.text}（飞书代码 ${failure.code}）`,
    });
  };
  const isSearchDue = (): boolean => {
    const isAlive = settings.feishu.wakeups && hub.deps.wakeIsAlive?.() === true;
    const spacingMs = searchSpacingMs(budget, settings, hub.tables.size);
    const leastMs = isAlive ? Math.max(settings.poll.sweep_interval, spacingMs) : spacingMs;
    if (leastMs <= settings.poll.interval) return true;
    return clock.monotonicMs() - state.lastSearchMs + settings.poll.interval / 2 >= leastMs;
  };
  const search = async (place: ReadyTable): Promise<void> => {
    const nowMs = clock.monotonicMs();
    const lookEveryMs = place.halted === 'foreign-installation' ? haltedLookMs : hourMs;
    const isLook = nowMs - state.lastLookMs >= lookEveryMs;
    const found = await searchRows(hub, place, isLook);
    if (!found.ok) {
      await report(found.failure);
      return;
    }
    state.lastSearchMs = nowMs;
    state.lastSearchAt = clock.nowMs();
    for (const record of found.records) noteHit(place, record);
    orphans ??= createOrphanWatch(hub, place);
    if (!isLook) return;
    state.lastLookMs = nowMs;
    await orphans.sighted(found.records);
  };
  /** Looked at again here: a filter that the platform ignores returns every row (P004), blank ones too (P012). */
  const noteHit = (place: ReadyTable, record: RawRecord): void => {
    if (wordOf({ table: place, recordId: record.recordId }, record) === '') return;
    const known = hints.get(record.recordId);
    const { lastModifiedById: editor, createdById } = record;
    hints.set(record.recordId, {
      // An app's own edits carry ids of another kind.
      ...(editor?.startsWith('ou_') === true ? { operatorId: editor } : {}),
      ...(createdById === undefined ? {} : { createdById }),
      ...known,
    });
  };
  return {
    table,
    lastSearchAt: () => state.lastSearchAt,
    turn: async (withSearch) => {
      if (clock.monotonicMs() < state.pausedUntilMs) return;
      const place = await ready();
      if (place === undefined) return;
      if (withSearch && isSearchDue()) await search(place);
      if (place.halted !== undefined) return;
      const taken = new Map(hints);
      hints.clear();
      const result = await takeCommands(hub, runner, place, taken, witness);
      if (result.failure !== undefined) {
        for (const [recordId, editors] of taken) if (!hints.has(recordId)) hints.set(recordId, editors);
        await report(result.failure);
        return;
      }
      for (const recordId of result.waiting ?? []) hints.set(recordId, taken.get(recordId) ?? {});
      if ((result.waiting?.size ?? 0) > 0) clock.after(witnessWaitMs, ring);
      await orphans?.confirm();
    },
    wake: (event) => {
      if (event.tableId !== table.table.tableId || event.isOwn === true) return false;
      if (event.appToken !== undefined && event.appToken !== table.table.appToken) return false;
      const operation = table.columns?.protocol.操作;
      if (operation !== undefined) witness.heard(event, operation);
      const edited = event.records.filter((record) => mayHoldWord(record, operation));
      for (const record of edited) {
        hints.set(record.recordId, event.operatorId === undefined ? {} : { operatorId: event.operatorId });
      }
      const touched = statusGuard.touched(event, table.columns?.protocol.状态);
      // Who changed 状态 need not be who typed a word that may stand there as well.
      for (const recordId of touched) if (!hints.has(recordId)) hints.set(recordId, {});
      return edited.length + touched.length > 0;
    },
  };
}

/** An edit of 操作 that did not empty it (our own clears do). */
function mayHoldWord(record: WakeEvent['records'][number], operation: BoundColumn | undefined): boolean {
  if (record.action === 'record_deleted') return false;
  if (operation === undefined) return true;
  if (!record.fieldIds.includes(operation.fieldId)) return false;
  return record.after === undefined || !isEmptyCell(record.after[operation.fieldId]);
}

const readFailureWords: Partial<
  Record<FeishuFailure['class'], { readonly title: string; readonly text: string; readonly severity: 'error' }>
> = {
  permission: {
    title: '机器人没有读取表格的权限',
    text: '请在多维表格右上角「…」→ 更多 → 添加文档应用，加入本应用并给可管理权限；开了高级权限的还要在其中允许',
    severity: 'error',
  },
  config: { title: '表格地址有误', text: '请检查 BITABLE_APP_TOKEN 与各表的编号', severity: 'error' },
  credential: { title: '飞书应用凭证无效', text: '请检查 FEISHU_APP_ID 与 FEISHU_APP_SECRET', severity: 'error' },
  quota: {
    title: '飞书本月调用额度已用完',
    text: '飞书拒绝了一切调用，直到下月 1 日；已停止查询，每小时再试一次。升级飞书版本可立即恢复',
    severity: 'error',
  },
  schema: { title: '表格的列有变动', text: '查询用到的列找不到了，将重新读取列', severity: 'error' },
};
