import type { ChargeRecord } from '../engine/ports/index.ts';
import { createCalendar } from './calendar.ts';

export type LedgerBy = 'agent' | 'vendor' | 'submitter';

/** Sums are integers of micro-units; currencies are never added together. */
export interface LedgerRow {
  /** Agent, provider or submitter; `-` where the charge names none. */
  readonly key: string;
  readonly calls: number;
  /** Currency → micros, settled charges. */
  readonly totals: Readonly<Record<string, number>>;
  /** In yuan at the dated rates, settled charges. */
  readonly cnyMicros: number;
  /** Of calls that are under way or in doubt: perhaps spent. Not in `cnyMicros`. */
  readonly openCnyMicros: number;
  /** Settled charges whose sum comes from a price table (估算). */
  readonly estimatedCalls: number;
  /** Settled charges that stand at 0 until the monthly statement. */
  readonly unpricedCalls: number;
}

export interface Ledger {
  readonly month: string;
  readonly by: LedgerBy;
  readonly timezone: string;
  /** Dearest first. */
  readonly rows: readonly LedgerRow[];
  readonly total: LedgerRow;
}

interface Sums {
  calls: number;
  totals: Record<string, number>;
  cnyMicros: number;
  openCnyMicros: number;
  estimatedCalls: number;
  unpricedCalls: number;
}

/**
 * The month's spending. A charge belongs to the month in which it was bought (`reservedAt`), however late it settles, so a
 * closed month only ever changes by the settling of its own calls. `released` charges bought nothing and count nowhere.
 */
export function ledgerBy(charges: readonly ChargeRecord[], by: LedgerBy, month: string, timezone: string): Ledger {
  const { fromMs, toMs } = createCalendar(timezone).monthRange(month);
  const groups = new Map<string, Sums>();
  const total = emptySums();
  for (const charge of charges) {
    if (charge.state === 'released' || charge.reservedAt < fromMs || charge.reservedAt >= toMs) continue;
    const key = chargeKey(charge, by);
    const group = groups.get(key) ?? emptySums();
    groups.set(key, group);
    addCharge(group, charge);
    addCharge(total, charge);
  }
  const rows = [...groups]
    .map(([key, sums]) => ({ key, ...sums }))
    .sort((left, right) => right.cnyMicros - left.cnyMicros || (left.key < right.key ? -1 : 1));
  return { month, by, timezone, rows, total: { key: '', ...total } };
}

function chargeKey(charge: ChargeRecord, by: LedgerBy): string {
  switch (by) {
    case 'agent':
      return charge.labels.agent ?? '-';
    case 'vendor':
      return charge.provider;
    case 'submitter':
      return charge.labels.submitter ?? '-';
  }
}

function addCharge(sums: Sums, charge: ChargeRecord): void {
  sums.calls += 1;
  if (charge.state === 'reserved') {
    sums.openCnyMicros += charge.cnyMicros;
    return;
  }
  sums.totals[charge.amount.currency] = (sums.totals[charge.amount.currency] ?? 0) + charge.amount.micros;
  sums.cnyMicros += charge.cnyMicros;
  if (charge.source === 'price_table') sums.estimatedCalls += 1;
  if (charge.source === 'unpriced') sums.unpricedCalls += 1;
}

const emptySums = (): Sums => ({
  calls: 0,
  totals: {},
  cnyMicros: 0,
  openCnyMicros: 0,
  estimatedCalls: 0,
  unpricedCalls: 0,
});
