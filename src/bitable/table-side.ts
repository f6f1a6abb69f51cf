import type { BudgetStatus, CallBudget, WakeEvent } from '../feishu/index.ts';
import { fail, ok, type Result } from '../kernel/index.ts';
import { budgetNotice, newCallBudget } from './call-counting.ts';
import type { ColumnFault } from './columns.ts';
import { type CommandRunner, createCommandRunner } from './command-runner.ts';
import { createHub } from './create-hub.ts';
import { createDeliveryPump } from './deliver.ts';
import type { TableSideDeps } from './deps.ts';
import type { Hub, TableState } from './hub.ts';
import { createWakePace } from './pace.ts';
import { createProgressWatch } from './progress.ts';
import { createDoorbell } from './signal.ts';
import { startFaults } from './table-columns.ts';
import { createTableLoop, type TableLoop } from './table-loop.ts';

/** The table side: turns rows into executions, and what becomes of them into cells. */
export interface TableSide {
  /** Checks every table's columns (all faults at once; nothing runs then) and begins to write results back. */
  start(): Promise<Result<void, readonly ColumnFault[]>>;
  /** One turn of the poll: search, store, clear, execute. Overlapping calls share one turn. */
  tick(): Promise<void>;
  /** An edit that the long connection told of. */
  wake(event: WakeEvent): void;
  /** Takes nothing new, lets what is under way end for a moment, then aborts; what is left is resumed at the next start. */
  stop(): Promise<void>;
  status(): TableSideStatus;
  callsThisMonth(): { readonly thisMonth: number; readonly monthlyBudget: number };
  /** Resolves when no command and no result is under way and no message waits to be sent (tests, demo). */
  idle(): Promise<void>;
}

export interface TableSideStatus {
  readonly tables: readonly {
    readonly agent: string;
    readonly tableId: string;
    readonly halted: TableState['halted'] | null;
    readonly lastSearchAt: number | null;
    readonly isWriterDown: boolean;
  }[];
  readonly starting: number;
  readonly delivering: number;
  readonly lastEventAt: number | null;
  readonly calls: BudgetStatus;
}

const defaultTimeZone = 'Asia/Shanghai';
/** How long `stop` waits for what is under way. */
const drainMs = 3_000;

export function createTableSide(deps: TableSideDeps): TableSide {
  const abort = new AbortController();
  const hub = createHub(deps, abort.signal);
  const runner = createCommandRunner(hub);
  const pump = createDeliveryPump(hub);
  const wakeBell = createDoorbell(deps.clock);
  const life = { isStopping: false, lastEventAt: undefined as number | undefined };
  const timeZone = deps.timeZone ?? defaultTimeZone;
  const budget = deps.callBudget ?? newCallBudget({ ...deps, timeZone });
  const progress = createProgressWatch(hub, timeZone);
  let loops: readonly TableLoop[] = [];
  let ticking: Promise<void> | undefined;
  let unsubscribe: (() => void) | undefined;

  const turnAll = async (search: boolean): Promise<void> => {
    if (life.isStopping || abort.signal.aborted) return;
    await countCalls(hub, budget).catch((error: unknown) => deps.logger.warn('calls could not be counted', { error }));
    const byBase = Map.groupBy(loops, (loop) => loop.table.table.appToken);
    await Promise.all(
      [...byBase.values()].map(async (group) => {
        for (const loop of group) await turnSafely(hub, loop, search);
      }),
    );
    pump.ring();
  };
  const tick = async (search: boolean): Promise<void> => {
    while (ticking !== undefined) await ticking;
    ticking = turnAll(search).finally(() => {
      ticking = undefined;
    });
    await ticking;
  };
  const paceMs = createWakePace(deps.clock, () => deps.engine.activity().driving);
  const wakeLoop = async (): Promise<void> => {
    for (;;) {
      await wakeBell.wait(Number.POSITIVE_INFINITY, abort.signal);
      await createDoorbell(deps.clock).wait(paceMs(), abort.signal);
      if (isAborted(abort.signal)) return;
      await tick(false).catch((error: unknown) => deps.logger.error('a turn after an event failed', { error }));
    }
  };
  const background = (work: Promise<void>): void => {
    work.catch((error: unknown) => {
      if (!abort.signal.aborted) deps.logger.error('a loop of the table side has ended', { error });
    });
  };
  let shared: Promise<void> | undefined;
  return {
    start: async () => {
      const faults = await checkColumns(hub);
      if (faults.length > 0) return fail(faults);
      await budget.load();
      loops = [...hub.tables.values()].map((table) =>
        createTableLoop(hub, runner, table, budget, () => wakeBell.ring()),
      );
      await progress.drain();
      unsubscribe = deps.store.onAppend(() => {
        pump.ring();
        progress.ring();
      });
      for (const loop of [pump.run(), progress.run(), hub.messenger.run(), wakeLoop()]) background(loop);
      hub.messenger.ring();
      tellProjection(hub, budget);
      return ok(undefined);
    },
    tick: async () => {
      shared ??= tick(true).finally(() => {
        shared = undefined;
      });
      await shared;
    },
    wake: (event) => {
      life.lastEventAt = deps.clock.nowMs();
      if (loops.map((loop) => loop.wake(event)).includes(true)) wakeBell.ring();
    },
    stop: async () => {
      life.isStopping = true;
      const limit = new AbortController();
      await Promise.race([
        Promise.all([runner.idle(), pump.idle()]).finally(() => limit.abort()),
        createDoorbell(deps.clock).wait(drainMs, limit.signal),
      ]);
      unsubscribe?.();
      abort.abort();
    },
    status: () => statusOf(hub, loops, runner, pump.size(), life.lastEventAt, budget),
    callsThisMonth: () => ({
      thisMonth: budget.status().used,
      monthlyBudget: deps.settings.feishu.monthly_call_budget,
    }),
    idle: async () => {
      await runner.idle();
      await pump.idle();
      await hub.messenger.flush();
    },
  };
}

/** What polling alone will need of the month's calls, in the log at every start (P022). */
function tellProjection(hub: Hub, budget: CallBudget): void {
  const { feishu, poll } = hub.deps.settings;
  const tables = hub.tables.size;
  const polling = budget.projectedSearches(poll.interval, tables);
  const fields = { tables, polling, withWakeups: budget.projectedSearches(poll.sweep_interval, tables) };
  const isAbove = feishu.plan === 'basic' && polling > feishu.monthly_call_budget;
  if (isAbove)
    hub.deps.logger.warn('searches a month exceed the budget without wake-ups; they will be stretched', fields);
  else hub.deps.logger.info('searches a month', fields);
}

async function countCalls(hub: Hub, budget: CallBudget): Promise<void> {
  for (const news of await budget.record(hub.deps.client.takeCallCounts())) await hub.notice(budgetNotice(news));
}

function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

/** One table's trouble leaves the others and the next turn alone. */
async function turnSafely(hub: Hub, loop: TableLoop, search: boolean): Promise<void> {
  try {
    await loop.turn(search);
  } catch (error) {
    if (hub.signal.aborted) return;
    hub.deps.logger.error('a turn of a table failed, the next one tries again', {
      agent: loop.table.agent.agent,
      error,
    });
    await hub.notice({
      name: 'loop-failed',
      text: `智能体 ${loop.table.agent.agent} 的这一轮轮询出错，下一轮会继续：${error instanceof Error ? error.message : 'unknown'}`,
    });
  }
}

/** All tables at once; the same fault of several (one secret for all) is told once. */
async function checkColumns(hub: Hub): Promise<readonly ColumnFault[]> {
  const faults = (await Promise.all([...hub.tables.values()].map((table) => startFaults(hub, table)))).flat();
  return [...new Map(faults.map((fault) => [`${fault.problem}；${fault.remedy}`, fault])).values()];
}

function statusOf(
  hub: Hub,
  loops: readonly TableLoop[],
  runner: CommandRunner,
  delivering: number,
  lastEventAt: number | undefined,
  budget: CallBudget,
): TableSideStatus {
  return {
    tables: loops.map((loop) => ({
      agent: loop.table.agent.agent,
      tableId: loop.table.table.tableId,
      halted: loop.table.halted ?? null,
      lastSearchAt: loop.lastSearchAt() ?? null,
      isWriterDown: hub.writerOf(loop.table.table.appToken).isDown(loop.table.table.tableId),
    })),
    starting: runner.size(),
    delivering,
    lastEventAt: lastEventAt ?? null,
    calls: budget.status(),
  };
}
