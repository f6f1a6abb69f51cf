import { z } from 'zod';
import type { EventRecord } from '../engine/ports/index.ts';
import type { CallFacts } from './call-facts.ts';

const count = z.number();
const vendorDay = z.object({
  calls: count,
  retries: count,
  succeeded: count,
  failed: count,
  /** Failure kind → times. */
  errors: z.record(z.string(), count),
});
const pointDay = z.object({ approved: count, rejected: count, waitMs: count, waits: count });
const moneyDay = z.object({
  spentCnyMicros: count,
  openCnyMicros: count,
  calls: count,
  estimatedCalls: count,
  unpricedCalls: count,
  byAgent: z.record(z.string(), count),
  byVendor: z.record(z.string(), count),
  totals: z.record(z.string(), count),
});
const day = z.object({
  succeeded: count,
  partial: count,
  failed: count,
  canceled: count,
  degraded: count,
  switched: count,
  vendors: z.record(z.string(), vendorDay),
  /** `agent/stage` → how people decided there. */
  points: z.record(z.string(), pointDay),
  money: moneyDay,
});

/** The counters of one day. Everything but `money` is folded from events, once each; money comes from the ledger. */
export type DayCounts = z.infer<typeof day>;
export type MoneyDay = z.infer<typeof moneyDay>;
export type VendorDay = z.infer<typeof vendorDay>;
export type PointDay = z.infer<typeof pointDay>;

/** What is kept over restarts: the counters, and the event up to which they are folded. */
export const metricsStateSchema = z.object({
  cursor: z.number(),
  days: z.record(z.string(), day),
  /** Provider → the last latencies of settled calls, ms. */
  latencies: z.record(z.string(), z.array(count)),
  /** Provider → why it is paused. */
  paused: z.record(z.string(), z.object({ since: count, reason: z.string() })),
  unrecognised: z.record(z.string(), count),
});
export type MetricsState = z.infer<typeof metricsStateSchema>;

export const emptyMetricsState = (): MetricsState => ({
  cursor: -1,
  days: {},
  latencies: {},
  paused: {},
  unrecognised: {},
});

export const emptyMoneyDay = (): MoneyDay => ({
  spentCnyMicros: 0,
  openCnyMicros: 0,
  calls: 0,
  estimatedCalls: 0,
  unpricedCalls: 0,
  byAgent: {},
  byVendor: {},
  totals: {},
});

export function dayCounts(state: MetricsState, name: string): DayCounts {
  return (state.days[name] ??= {
    succeeded: 0,
    partial: 0,
    failed: 0,
    canceled: 0,
    degraded: 0,
    switched: 0,
    vendors: {},
    points: {},
    money: emptyMoneyDay(),
  });
}

const keptDays = 31;
const keptLatencies = 200;

/** Forgets days that no view shows any more. */
export function trimDays(state: MetricsState, today: string): void {
  const names = Object.keys(state.days)
    .filter((name) => name <= today)
    .sort()
    .slice(-keptDays);
  state.days = Object.fromEntries(names.map((name) => [name, state.days[name]]).filter(hasCounts));
}

function hasCounts(entry: (string | DayCounts | undefined)[]): entry is [string, DayCounts] {
  return entry[1] !== undefined;
}

/** Folds one event into its day. `call` is the call that it is about. */
export function countEvent(state: MetricsState, event: EventRecord, dayName: string, call?: CallFacts): void {
  const counts = dayCounts(state, dayName);
  switch (event.type) {
    case 'execution-ended': {
      const status = event.data['status'];
      if (status === 'succeeded' || status === 'partial' || status === 'failed' || status === 'canceled')
        counts[status] += 1;
      return;
    }
    case 'node-degraded':
      counts.degraded += 1;
      return;
    case 'candidate-switched':
      counts.switched += 1;
      return;
    case 'attempt-intended':
    case 'attempt-refused':
    case 'attempt-unknown':
    case 'attempt-settled':
    case 'attempt-overdue':
      if (call !== undefined) countCall(state, counts, event, call);
      return;
    case 'status-unrecognised': {
      const provider = call?.provider ?? stringOf(event.data['provider']);
      if (provider !== '') state.unrecognised[provider] = (state.unrecognised[provider] ?? 0) + 1;
      return;
    }
    case 'provider-paused': {
      const provider = stringOf(event.data['provider']);
      if (provider !== '') state.paused[provider] = { since: event.at, reason: failureKindOf(event) };
      return;
    }
    case 'provider-resumed': {
      const resumed = stringOf(event.data['provider']);
      state.paused = Object.fromEntries(Object.entries(state.paused).filter(([provider]) => provider !== resumed));
      return;
    }
    default:
  }
}

function countCall(state: MetricsState, counts: DayCounts, event: EventRecord, call: CallFacts): void {
  // A lost answer counts when it is lost, not again when nobody looks for it any more.
  if (event.type === 'attempt-unknown' && event.data['afterFind'] === true) return;
  const vendor = (counts.vendors[call.provider] ??= { calls: 0, retries: 0, succeeded: 0, failed: 0, errors: {} });
  if (event.type === 'attempt-intended') {
    vendor.calls += 1;
    if (call.ordinal > 1) vendor.retries += 1;
    return;
  }
  const settledAs = event.type === 'attempt-settled' ? stringOf(event.data['state']) : '';
  if (settledAs === 'succeeded') {
    vendor.succeeded += 1;
    const latencies = (state.latencies[call.provider] ??= []);
    latencies.push(Math.max(0, event.at - call.intendedAt));
    if (latencies.length > keptLatencies) latencies.shift();
    return;
  }
  vendor.failed += 1;
  const kind = failureKindOf(event) || defaultKind(event.type, settledAs);
  vendor.errors[kind] = (vendor.errors[kind] ?? 0) + 1;
}

function defaultKind(type: EventRecord['type'], settledAs: string): string {
  if (type === 'attempt-unknown') return 'unknown-outcome';
  return type === 'attempt-overdue' ? 'overdue' : settledAs || 'internal';
}

function failureKindOf(event: EventRecord): string {
  const failure = event.data['failure'];
  if (typeof failure === 'object' && failure !== null && 'kind' in failure) return stringOf(failure.kind);
  return stringOf(event.data['failureKind']) || stringOf(event.data['kind']);
}

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
