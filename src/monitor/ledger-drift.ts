import type { ChargeRecord } from '../engine/ports/index.ts';
import { type Money, microsPerUnit } from '../kernel/index.ts';
import type { AccountState } from './balance-state.ts';

/** Drift below this is noise: the larger of two units and 2 % of what the ledger holds for the span. */
const toleranceUnits = 2;
const toleranceRatio = 0.02;
const reanchorMs = 86_400_000;

/**
 * The fall of a balance since an anchor, held against the settled charges of the same span in the same unit. What is under
 * way may or may not have been taken by the vendor yet, so open charges widen the allowed range. A rise of the balance is
 * a top-up: the comparison starts anew there, as it does once a day.
 */
export function judgeDrift(
  before: AccountState | undefined,
  remaining: Money,
  charges: readonly ChargeRecord[],
  nowMs: number,
): Pick<AccountState, 'anchor' | 'driftMicros' | 'driftedLooks'> {
  const fresh = { anchor: { at: nowMs, micros: remaining.micros }, driftMicros: 0, driftedLooks: 0 };
  if (before === undefined || remaining.micros > before.remaining.micros) return fresh;
  const { anchor } = before;
  const own = charges.filter((charge) => charge.amount.currency === remaining.currency);
  const settled = sumOf(
    own.filter(
      (charge) => charge.state === 'settled' && (charge.settledAt ?? 0) > anchor.at && (charge.settledAt ?? 0) <= nowMs,
    ),
  );
  // Also what was under way at the anchor: the vendor may have taken it before, we book it after.
  const open = sumOf(
    own.filter(
      (charge) =>
        charge.state === 'reserved' ||
        (charge.state === 'settled' && charge.reservedAt <= anchor.at && (charge.settledAt ?? 0) > anchor.at),
    ),
  );
  const driftMicros = anchor.micros - remaining.micros - settled;
  const allowed = open + Math.max(toleranceUnits * microsPerUnit, settled * toleranceRatio);
  const isDrifted = Math.abs(driftMicros) > allowed;
  if (!isDrifted && nowMs - anchor.at > reanchorMs) return { ...fresh, driftMicros };
  return { anchor, driftMicros, driftedLooks: isDrifted ? before.driftedLooks + 1 : 0 };
}

function sumOf(charges: readonly ChargeRecord[]): number {
  return charges.reduce((sum, charge) => sum + charge.amount.micros, 0);
}
