import type { Random } from '../../kernel/index.ts';

/** What is known when a look is planned; all in milliseconds. */
export interface PollRhythm {
  /** `vendor_poll.<class>.first` and `.interval`. */
  readonly firstMs: number;
  readonly intervalMs: number;
  /** The model's usual duration, where known. */
  readonly typicalMs: number | undefined;
}

/**
 * The delay until the next look at a task that was accepted `elapsedMs` ago.
 *
 * With a known usual duration T the end is taken to lie evenly between 0.4 T and 1.6 T. The first look is at 0.4 T; from
 * there the best rhythm (least looks for a given mean delay) is proportional to the square root of the time that is left,
 * so looks get denser towards 1.6 T. A T of more than ten times `first` is cut to that: whoever sets `first` to 200 ms
 * wants to see results at once. Past 1.6 T, or with nothing known, the delay grows with the age of the task (a tenth of
 * it), so that it stays small beside what was waited already. Never closer than `interval`; spread by ±10 %, the first
 * look only upwards, lest one just before the window be wasted.
 */
export function nextPollDelayMs(rhythm: PollRhythm, elapsedMs: number, random: Random): number {
  const isFirst = rhythm.typicalMs !== undefined && elapsedMs < earliestOf(rhythm, rhythm.typicalMs);
  const spread = (isFirst ? 1 : 0.9) + 0.2 * random.next();
  return Math.max(1, Math.round(plainDelayMs(rhythm, elapsedMs) * spread));
}

function plainDelayMs(rhythm: PollRhythm, elapsedMs: number): number {
  const { firstMs, intervalMs, typicalMs } = rhythm;
  const ageing = Math.max(intervalMs, elapsedMs / 10);
  if (typicalMs === undefined) return elapsedMs < firstMs ? firstMs - elapsedMs : ageing;
  const usualMs = Math.min(typicalMs, firstMs * 10);
  const earliestMs = earliestOf(rhythm, typicalMs);
  const latestMs = usualMs * 1.6;
  if (elapsedMs < earliestMs) return earliestMs - elapsedMs;
  if (elapsedMs >= latestMs) return ageing;
  // sqrt(T · left) / 9.4: for tasks of one to four minutes about 7.5 looks and a mean delay of 4.3 % of their length.
  return Math.max(intervalMs, Math.sqrt(usualMs * (latestMs - elapsedMs)) / 9.4);
}

function earliestOf(rhythm: PollRhythm, typicalMs: number): number {
  return Math.min(typicalMs, rhythm.firstMs * 10) * 0.4;
}

/** How long to wait before asking again after a check that failed. A vendor's Retry-After is a lower bound. */
export function afterFailedCheckMs(
  rhythm: PollRhythm,
  failures: number,
  retryAfterMs: number | undefined,
  random: Random,
): number {
  const backoff = Math.min(60_000, rhythm.intervalMs * 2 ** Math.min(failures, 10));
  return Math.max(retryAfterMs ?? 0, Math.round(backoff * (0.75 + 0.5 * random.next())));
}
