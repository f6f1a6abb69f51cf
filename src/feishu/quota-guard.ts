import type { Clock } from '../kernel/index.ts';
import { createMonthReader } from './month.ts';

/**
 * Whether the platform may be called at all. It says 99991403 when the company's calls of the month are used up; every call
 * after that is in vain until the first of the next month. One is let through every six hours, since the quota may have been
 * raised meanwhile.
 */
export interface QuotaGuard {
  /** Asked before each request; a refusal is answered as a `quota` failure without sending anything. */
  mayCall(): boolean;
  quotaGone(): void;
  /** The platform did what was asked. */
  answered(): void;
  /** Since when the quota is known to be gone. */
  goneSinceMs(): number | undefined;
}

const probeEveryMs = 6 * 3_600_000;

export function createQuotaGuard(clock: Clock, timeZone: string, goneAtMs?: number): QuotaGuard {
  const monthOf = createMonthReader(timeZone);
  let goneSinceMs = goneAtMs;
  let lastTriedMs = goneAtMs ?? 0;
  return {
    mayCall: () => {
      if (goneSinceMs === undefined) return true;
      const nowMs = clock.nowMs();
      const isNewMonth = monthOf(nowMs).month !== monthOf(goneSinceMs).month;
      if (!isNewMonth && nowMs - lastTriedMs < probeEveryMs) return false;
      lastTriedMs = nowMs;
      return true;
    },
    quotaGone: () => {
      lastTriedMs = clock.nowMs();
      goneSinceMs ??= lastTriedMs;
    },
    answered: () => {
      goneSinceMs = undefined;
    },
    goneSinceMs: () => goneSinceMs,
  };
}
