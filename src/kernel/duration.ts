import { fail, ok, type Result } from './result.ts';

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const pattern = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;

/** Reads `200ms`, `3s`, `10m`, `24h`, `7d` into milliseconds. A bare number, a sign or an unknown unit is a fault. */
export function parseDuration(text: string): Result<number, string> {
  const match = pattern.exec(text.trim());
  if (match === null) return fail(`"${text}" is not a duration; write it like 200ms, 3s, 10m, 24h or 7d`);
  const [, amount = '', unit = ''] = match;
  const factor = unitMs[unit === 'ms' || unit === 's' || unit === 'm' || unit === 'h' || unit === 'd' ? unit : 'ms'];
  const valueMs = Math.round(Number(amount) * factor);
  return Number.isSafeInteger(valueMs) ? ok(valueMs) : fail(`"${text}" is too long a duration`);
}

/** Writes milliseconds in the largest unit that divides them. */
export function formatDuration(valueMs: number): string {
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    if (valueMs !== 0 && valueMs % unitMs[unit] === 0) return `${valueMs / unitMs[unit]}${unit}`;
  }
  return `${valueMs}ms`;
}
