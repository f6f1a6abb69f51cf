/** Longer than this nobody means it: a stored wait of a month is a fault of the sender. */
const longestMs = 30 * 86_400_000;
const httpDate =
  /^(?:(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?, )?\d{1,2}[ -][A-Z][a-z]{2}[ -]\d{2,4} \d{2}:\d{2}:\d{2} GMT$/;

/** Reads Retry-After (RFC 9110 §10.2.3): seconds or an HTTP date. In the past is 0; what is neither is undefined. */
export function parseRetryAfter(value: string | null, nowMs: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d{1,9}(\.\d+)?$/.test(text)) return Math.min(longestMs, Math.ceil(Number(text) * 1_000));
  const atMs = parseHttpDate(text);
  return atMs === undefined ? undefined : Math.min(longestMs, Math.max(0, atMs - nowMs));
}

/** Reads an HTTP date (RFC 9110 §5.6.7), as in `Date` and Retry-After: epoch milliseconds of a whole second. */
export function parseHttpDate(value: string | null): number | undefined {
  const text = value?.trim() ?? '';
  if (!httpDate.test(text)) return undefined;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : atMs;
}
