import { type Json, type JsonObject, microsPerUnit } from '../kernel/index.ts';
import type { Alerter } from './alert.ts';
import { shorten } from './alert-fold.ts';
import type { BalanceView } from './balance-patrol.ts';
import type { Calendar } from './calendar.ts';
import { type DayCounts, dayCounts, type MetricsState, type PointDay, type VendorDay } from './day-counts.ts';
import type { ExecutionCounts } from './live-executions.ts';
import { addMoneyDays } from './money-book.ts';

/** A worker as the page shows it. */
interface WorkerView {
  readonly id: string;
  readonly startedAt: number;
  /** When its main loop last went through; `null` before the first time. */
  readonly lastTickAt: number | null;
}

/** The platform as the page shows it. */
interface FeishuView {
  readonly plan: string;
  readonly callsThisMonth: number;
  readonly monthlyBudget: number;
  readonly isConnected: boolean;
  readonly lastEventAt: number | null;
}

/** What the metrics take from other parts of the program, each time they are written. */
export interface MetricsInputs {
  readonly mode: string;
  readonly intervalMs: number;
  readonly workers: readonly WorkerView[];
  readonly feishu: FeishuView | undefined;
  readonly balances: readonly BalanceView[];
  readonly alerter: Pick<Alerter, 'recent' | 'raised' | 'channels'>;
  readonly waiting: Readonly<Record<string, number>>;
  readonly isPaused: boolean;
  readonly lagMs: number;
  readonly disk: { readonly freeBytes: number; readonly minFreeBytes: number } | undefined;
}

const shownDays = 30;
const shownAlerts = 50;
const mostReasons = 20;

/** `metrics.json` (contract §4): numbers and names of configuration only. Money is in integer micro-yuan. */
export function metricsJson(
  state: MetricsState,
  counts: ExecutionCounts,
  inputs: MetricsInputs,
  calendar: Calendar,
  nowMs: number,
): JsonObject {
  const today = calendar.dayOf(nowMs);
  const todays = dayCounts(state, today);
  return {
    updated_at: new Date(nowMs).toISOString(),
    timezone: calendar.timezone,
    mode: inputs.mode,
    paused: inputs.isPaused,
    tick_interval_ms: inputs.intervalMs,
    lag_ms: Math.round(inputs.lagMs),
    workers: inputs.workers.map((worker) => ({
      id: worker.id,
      started_at: worker.startedAt,
      last_tick_at: worker.lastTickAt,
    })),
    executions: {
      queued: counts.queued,
      running: counts.running,
      held: counts.held,
      by_agent: counts.byAgent,
      waiting: Object.fromEntries(Object.entries(inputs.waiting).slice(0, mostReasons)),
      today: endedView(todays),
    },
    vendors: vendorsView(state, counts, today),
    feishu: feishuView(inputs.feishu, calendar, nowMs),
    money: moneyView(state, today),
    days: daysView(state, calendar, today),
    people: peopleView(state),
    balances: inputs.balances.map(balanceView),
    alerts: {
      raised: inputs.alerter.raised().map((entry) => ({ ...entry })),
      recent: inputs.alerter
        .recent()
        .slice(0, shownAlerts)
        .map((alert) => ({
          at: alert.at,
          title: shorten(alert.title, 120),
          text: shorten(alert.text, 600),
          severity: alert.severity,
          count: alert.count,
          channels: { ...alert.channels },
        })),
      channels: inputs.alerter.channels(),
    },
    disk:
      inputs.disk === undefined
        ? null
        : { free_bytes: inputs.disk.freeBytes, min_free_bytes: inputs.disk.minFreeBytes },
  };
}

function endedView(counts: DayCounts): JsonObject {
  const { succeeded, partial, failed, canceled, degraded, switched } = counts;
  return { succeeded, partial, failed, canceled, degraded, switched };
}

function vendorsView(state: MetricsState, counts: ExecutionCounts, today: string): JsonObject {
  const week = Object.keys(state.days).sort().slice(-7);
  const names = new Set([
    ...Object.keys(state.latencies),
    ...Object.keys(state.paused),
    ...week.flatMap((day) => Object.keys(state.days[day]?.vendors ?? {})),
  ]);
  const entries = [...names].sort().map((name): [string, Json] => {
    const paused = state.paused[name];
    const samples = state.latencies[name] ?? [];
    return [
      name,
      {
        ...vendorSums([state.days[today]?.vendors[name]]),
        week: vendorSums(week.map((day) => state.days[day]?.vendors[name])),
        in_flight: counts.byVendor[name] ?? 0,
        latency_ms: {
          p50: quantile(samples, 0.5),
          p95: quantile(samples, 0.95),
          p99: quantile(samples, 0.99),
          samples: samples.length,
        },
        unrecognised: state.unrecognised[name] ?? 0,
        paused: paused === undefined ? null : { since: paused.since, reason: paused.reason },
      },
    ];
  });
  return Object.fromEntries(entries);
}

function vendorSums(days: readonly (VendorDay | undefined)[]): JsonObject {
  const sums = { calls: 0, retries: 0, succeeded: 0, failed: 0 };
  const errors: Record<string, number> = {};
  for (const day of days) {
    if (day === undefined) continue;
    for (const key of ['calls', 'retries', 'succeeded', 'failed'] as const) sums[key] += day[key];
    for (const [kind, times] of Object.entries(day.errors)) errors[kind] = (errors[kind] ?? 0) + times;
  }
  return { ...sums, errors };
}

/** Nearest rank; null without samples. */
function quantile(samples: readonly number[], share: number): number | null {
  if (samples.length === 0) return null;
  const sorted = samples.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? null;
}

function feishuView(feishu: FeishuView | undefined, calendar: Calendar, nowMs: number): JsonObject | null {
  if (feishu === undefined) return null;
  const { fromMs, toMs } = calendar.monthRange(calendar.monthOf(nowMs));
  // A forecast from the month's first minutes would be noise: at least half a day counts as passed.
  const passedMs = Math.max(nowMs - fromMs, 43_200_000);
  return {
    plan: feishu.plan,
    calls_this_month: feishu.callsThisMonth,
    monthly_budget: feishu.monthlyBudget,
    forecast_calls: Math.round((feishu.callsThisMonth / passedMs) * (toMs - fromMs)),
    connected: feishu.isConnected,
    last_event_at: feishu.lastEventAt,
  };
}

function moneyView(state: MetricsState, today: string): JsonObject {
  const month = today.slice(0, 7);
  const ofMonth = Object.keys(state.days)
    .filter((day) => day.startsWith(month))
    .map((day) => dayCounts(state, day).money);
  return { today: moneySums([dayCounts(state, today).money]), month: moneySums(ofMonth) };
}

function moneySums(days: Parameters<typeof addMoneyDays>[0]): JsonObject {
  const sums = addMoneyDays(days);
  return {
    cny_micros: sums.spentCnyMicros,
    open_cny_micros: sums.openCnyMicros,
    calls: sums.calls,
    estimated_calls: sums.estimatedCalls,
    unpriced_calls: sums.unpricedCalls,
    by_agent: sums.byAgent,
    by_vendor: sums.byVendor,
    totals_micros: sums.totals,
  };
}

function daysView(state: MetricsState, calendar: Calendar, today: string): Json[] {
  return Array.from({ length: shownDays }, (_, index) => {
    const day = calendar.addDays(today, index - shownDays + 1);
    const counts = state.days[day];
    return {
      day,
      cny_micros: counts?.money.spentCnyMicros ?? 0,
      calls: counts?.money.calls ?? 0,
      succeeded: counts?.succeeded ?? 0,
      partial: counts?.partial ?? 0,
      failed: counts?.failed ?? 0,
      canceled: counts?.canceled ?? 0,
    };
  });
}

function peopleView(state: MetricsState): Json[] {
  const points = new Map<string, PointDay>();
  for (const day of Object.values(state.days)) {
    for (const [name, point] of Object.entries(day.points)) {
      const sums = points.get(name) ?? { approved: 0, rejected: 0, waitMs: 0, waits: 0 };
      points.set(name, {
        approved: sums.approved + point.approved,
        rejected: sums.rejected + point.rejected,
        waitMs: sums.waitMs + point.waitMs,
        waits: sums.waits + point.waits,
      });
    }
  }
  return [...points].sort().map(([name, point]) => {
    const slash = name.indexOf('/');
    return {
      agent: name.slice(0, slash),
      stage: name.slice(slash + 1),
      approved: point.approved,
      rejected: point.rejected,
      mean_wait_ms: point.waits === 0 ? null : Math.round(point.waitMs / point.waits),
    };
  });
}

function balanceView(balance: BalanceView): JsonObject {
  return {
    provider: balance.provider,
    currency: balance.currency,
    remaining_micros: balance.remainingMicros,
    remaining: balance.remainingMicros / microsPerUnit,
    at: balance.at,
    usable: balance.usable,
    low: balance.isLow,
    fault: balance.fault,
    threshold: balance.threshold === null ? null : { ...balance.threshold },
    calls_left: balance.callsLeft,
    drift_micros: balance.driftMicros,
    curve: balance.curve.map(([at, micros]) => [at, micros]),
  };
}
