import { type ChargeRecord, ConflictError, type Store } from '../engine/ports/index.ts';
import { type Clock, formatMicros, type Logger } from '../kernel/index.ts';
import type { Alerter } from './alert.ts';
import { monitorCollection } from './alert-state.ts';
import type { BalanceView } from './balance-patrol.ts';
import { formatSum } from './balance-words.ts';
import type { Calendar } from './calendar.ts';
import { ledgerBy } from './ledger.ts';

export interface DailySummaryDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly alerter: Pick<Alerter, 'alert'>;
  readonly calendar: Calendar;
  /** `alerts.daily_summary`, a cron line in the configured zone; its minute and hour tell what "due" is at a start. */
  readonly cron: string;
  readonly balances: () => readonly BalanceView[];
}

export interface DailySummary {
  /** Called by the schedule at the due minute, and at any other time: sends once a day, whoever calls however often. */
  due(): Promise<void>;
  /** Called at a start: sends what was missed while the process was down, marked late. */
  catchUp(): Promise<void>;
}

/**
 * One summary for each day of the configured zone, of the day before. The day is claimed in the store before the message
 * is queued, so two calls (clocks put back, two workers, a start right at the minute) send one. An installation that starts
 * for the first time after the due minute begins with the next day.
 */
export function createDailySummary(deps: DailySummaryDeps): DailySummary {
  const send = async (isLate: boolean): Promise<void> => {
    const today = deps.calendar.dayOf(deps.clock.nowMs());
    if (!(await claim(deps, today))) return;
    const yesterday = deps.calendar.addDays(today, -1);
    const summary = await summarize(deps, yesterday);
    await deps.alerter.alert({
      title: `日报 ${yesterday}${isLate ? '（补发）' : ''}`,
      text: summary,
      severity: 'info',
    });
  };
  const guarded = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      deps.logger.error('daily summary failed', { error: String(error) });
    }
  };
  return {
    due: () => guarded(() => send(false)),
    catchUp: () =>
      guarded(async () => {
        const dueAt = dueMinuteToday(deps);
        if (dueAt === undefined || deps.clock.nowMs() < dueAt) return;
        const [earlier] = await deps.store.documents(monitorCollection, { prefix: dayPrefix, limit: 1 });
        if (earlier === undefined) await claim(deps, deps.calendar.dayOf(deps.clock.nowMs()));
        else await send(true);
      }),
  };
}

const dayPrefix = 'summary:';

/** Tells whether this call is the one that sends for `day`. Older claims are tidied away. */
async function claim(deps: DailySummaryDeps, day: string): Promise<boolean> {
  const nowMs = deps.clock.nowMs();
  try {
    await deps.store.commit([
      {
        type: 'put-document',
        record: { collection: monitorCollection, key: `${dayPrefix}${day}`, value: { at: nowMs }, updatedAt: nowMs },
        ifAbsent: true,
      },
    ]);
  } catch (error) {
    if (error instanceof ConflictError) return false;
    throw error;
  }
  const claims = await deps.store.documents(monitorCollection, { prefix: dayPrefix, limit: 100 });
  const old = claims.filter((entry) => entry.key < `${dayPrefix}${day}`);
  if (old.length > 0)
    await deps.store.commit(
      old.map((entry) => ({ type: 'delete-document', collection: monitorCollection, key: entry.key })),
    );
  return true;
}

/** The due instant of today, when the cron line names one plain minute and hour. */
function dueMinuteToday(deps: DailySummaryDeps): number | undefined {
  const fields = deps.cron.trim().split(/\s+/);
  const [minute = '', hour = ''] = fields.length === 6 ? fields.slice(1) : fields;
  if (!/^\d{1,2}$/.test(minute) || !/^\d{1,2}$/.test(hour)) return undefined;
  const start = deps.calendar.startOfDay(deps.calendar.dayOf(deps.clock.nowMs()));
  return start + (Number(hour) * 60 + Number(minute)) * 60_000;
}

async function summarize(deps: DailySummaryDeps, day: string): Promise<string> {
  const fromMs = deps.calendar.startOfDay(day);
  const toMs = deps.calendar.startOfDay(deps.calendar.addDays(day, 1));
  const charges = (await deps.store.charges({ fromMs: deps.calendar.monthRange(day.slice(0, 7)).fromMs })).filter(
    (charge) => charge.reservedAt < toMs,
  );
  const ended = await countEnded(deps.store, fromMs, toMs);
  const unfinished = await deps.store.unfinished(1_000);
  const held = unfinished.filter((execution) => execution.status === 'held').length;
  return [
    `任务：成功 ${ended.succeeded}，部分 ${ended.partial}，失败 ${ended.failed}，取消 ${ended.canceled}；在办 ${unfinished.length}${held > 0 ? `（待核对 ${held}，请用 npx gridloom resolve 处理）` : ''}`,
    ...spendLines(charges, fromMs, day, deps.calendar.timezone),
    ...balanceLines(deps.balances()),
  ].join('\n');
}

function spendLines(charges: readonly ChargeRecord[], fromMs: number, day: string, timezone: string): string[] {
  const ofDay = charges.filter((charge) => charge.reservedAt >= fromMs);
  const month = day.slice(0, 7);
  const dayLedger = ledgerBy(ofDay, 'vendor', month, timezone);
  const monthLedger = ledgerBy(charges, 'vendor', month, timezone);
  const yuan = (micros: number): string => `¥${formatMicros(micros, 2)}`;
  const vendors = dayLedger.rows.slice(0, 6).map((row) => `${row.key} ${yuan(row.cnyMicros)}（${row.calls} 次）`);
  return [
    `花费：当日 ${yuan(dayLedger.total.cnyMicros)}，本月 ${yuan(monthLedger.total.cnyMicros)}${monthLedger.total.unpricedCalls > 0 ? `，另有 ${monthLedger.total.unpricedCalls} 次待月账` : ''}`,
    ...(vendors.length === 0 ? [] : [`厂商：${vendors.join('，')}`]),
  ];
}

function balanceLines(balances: readonly BalanceView[]): string[] {
  if (balances.length === 0) return [];
  const parts = balances.map(
    (balance) =>
      `${balance.provider} ${formatSum({ currency: balance.currency, micros: balance.remainingMicros })}${balance.isLow ? ' ⚠偏低' : ''}`,
  );
  return [`余额：${parts.join('，')}`];
}

interface Ended {
  succeeded: number;
  partial: number;
  failed: number;
  canceled: number;
}

/** Counts from the newest backwards, a page at a time, until the day is passed; ids sort by the time of their making. */
async function countEnded(store: Store, fromMs: number, toMs: number): Promise<Ended> {
  const counts: Ended = { succeeded: 0, partial: 0, failed: 0, canceled: 0 };
  const page = 500;
  const olderMs = 7 * 86_400_000;
  let before: Awaited<ReturnType<Store['executions']>>[number]['id'] | undefined;
  for (let pages = 0; pages < 200; pages += 1) {
    const found = await store.executions({
      statuses: ['succeeded', 'partial', 'failed', 'canceled'],
      limit: page,
      ...(before === undefined ? {} : { before }),
    });
    for (const execution of found) {
      const endedAt = execution.endedAt ?? 0;
      if (endedAt < fromMs || endedAt >= toMs) continue;
      const { status } = execution;
      if (status === 'succeeded' || status === 'partial' || status === 'failed' || status === 'canceled')
        counts[status] += 1;
    }
    const last = found.at(-1);
    if (found.length < page || last === undefined || last.createdAt < fromMs - olderMs) break;
    before = last.id;
  }
  return counts;
}
