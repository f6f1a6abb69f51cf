import type { ChargeRecord, Store } from '../engine/ports/index.ts';
import type { AttemptId } from '../kernel/index.ts';
import type { Calendar } from './calendar.ts';
import { dayCounts, emptyMoneyDay, type MetricsState, type MoneyDay } from './day-counts.ts';

/**
 * Money by day, always equal to the ledger. A charge belongs to the day on which it was bought. Charges of today and
 * yesterday are known one by one, so a change is a difference; an older charge that still settles has its whole day read
 * again from the ledger. Everything is read again at a start and when the day changes.
 */
export interface MoneyBook {
  /** Reads today and yesterday anew. */
  reload(nowMs: number): Promise<void>;
  /** Takes up the charges of an attempt as they are now. */
  update(attemptId: AttemptId): Promise<void>;
}

/** What of a charge the page shows. */
interface Known {
  readonly day: string;
  readonly charge: ChargeRecord;
}

export function createMoneyBook(deps: {
  readonly store: Store;
  readonly calendar: Calendar;
  readonly state: () => MetricsState;
}): MoneyBook {
  let known = new Map<string, Known>();
  let knownFrom = '9999-99-99';
  const { calendar } = deps;

  const readDay = async (day: string): Promise<void> => {
    const charges = await deps.store.charges({
      fromMs: calendar.startOfDay(day),
      toMs: calendar.startOfDay(calendar.addDays(day, 1)),
    });
    const sums = emptyMoneyDay();
    for (const charge of charges) add(sums, charge, 1);
    dayCounts(deps.state(), day).money = sums;
    if (day >= knownFrom) for (const charge of charges) known.set(charge.id, { day, charge });
  };
  return {
    reload: async (nowMs) => {
      const today = calendar.dayOf(nowMs);
      const yesterday = calendar.addDays(today, -1);
      known = new Map();
      knownFrom = yesterday;
      await readDay(yesterday);
      await readDay(today);
    },
    update: async (id) => {
      for (const charge of await deps.store.chargesOfAttempt(id)) {
        const day = calendar.dayOf(charge.reservedAt);
        if (day < knownFrom) {
          await readDay(day);
          continue;
        }
        const { money } = dayCounts(deps.state(), day);
        const before = known.get(charge.id);
        if (before !== undefined) add(money, before.charge, -1);
        add(money, charge, 1);
        known.set(charge.id, { day, charge });
      }
    },
  };
}

function add(sums: MoneyDay, charge: ChargeRecord, sign: 1 | -1): void {
  if (charge.state === 'released') return;
  sums.calls += sign;
  if (charge.state === 'reserved') {
    sums.openCnyMicros += sign * charge.cnyMicros;
    return;
  }
  sums.spentCnyMicros += sign * charge.cnyMicros;
  if (charge.source === 'price_table') sums.estimatedCalls += sign;
  if (charge.source === 'unpriced') sums.unpricedCalls += sign;
  bump(sums.byAgent, charge.labels.agent ?? '-', sign * charge.cnyMicros);
  bump(sums.byVendor, charge.provider, sign * charge.cnyMicros);
  bump(sums.totals, charge.amount.currency, sign * charge.amount.micros);
}

function bump(sums: Record<string, number>, key: string, by: number): void {
  sums[key] = (sums[key] ?? 0) + by;
}

/** The sum of several days. */
export function addMoneyDays(days: readonly MoneyDay[]): MoneyDay {
  const total = emptyMoneyDay();
  for (const each of days) {
    total.spentCnyMicros += each.spentCnyMicros;
    total.openCnyMicros += each.openCnyMicros;
    total.calls += each.calls;
    total.estimatedCalls += each.estimatedCalls;
    total.unpricedCalls += each.unpricedCalls;
    for (const [key, micros] of Object.entries(each.byAgent)) bump(total.byAgent, key, micros);
    for (const [key, micros] of Object.entries(each.byVendor)) bump(total.byVendor, key, micros);
    for (const [key, micros] of Object.entries(each.totals)) bump(total.totals, key, micros);
  }
  return total;
}
