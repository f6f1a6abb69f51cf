import { z } from 'zod';

const sum = z.object({ currency: z.string(), micros: z.number() });
const account = z.object({
  remaining: sum,
  usable: z.boolean(),
  at: z.number(),
  /** Why the last look failed; empty when it did not. */
  fault: z.string(),
  failedLooks: z.number(),
  isLow: z.boolean(),
  threshold: sum.nullable(),
  callsLeft: z.number().nullable(),
  /** `[epoch ms, micros]`, oldest first, thinned. */
  curve: z.array(z.tuple([z.number(), z.number()])),
  /** From where the drop is compared with the ledger. */
  anchor: z.object({ at: z.number(), micros: z.number() }),
  driftMicros: z.number(),
  driftedLooks: z.number(),
});

export const balanceStateSchema = z.object({ accounts: z.record(z.string(), account) });
export type BalanceState = z.infer<typeof balanceStateSchema>;
export type AccountState = z.infer<typeof account>;

const curveSpacingMs = 1_800_000;
const curveDays = 14;

/** One point each half hour (the newest one always), fourteen days. */
export function addCurvePoint(curve: AccountState['curve'], atMs: number, micros: number): AccountState['curve'] {
  const fromMs = atMs - curveDays * 86_400_000;
  const kept = curve.filter(([at]) => at >= fromMs);
  const beforeLast = kept.at(-2);
  if (beforeLast !== undefined && atMs - beforeLast[0] < curveSpacingMs) kept.pop();
  kept.push([atMs, micros]);
  return kept;
}
