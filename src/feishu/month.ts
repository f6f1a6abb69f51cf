const dayMs = 86_400_000;

/** Where an instant lies in its month, in a time zone. */
export interface MonthPosition {
  /** `2026-11`. */
  readonly month: string;
  /** Of the month, 1 to 31. */
  readonly day: number;
  readonly elapsedMs: number;
  readonly leftMs: number;
}

/** Reads instants in one time zone. The formatter is made once: that costs far more than using it. */
export type MonthReader = (nowMs: number) => MonthPosition;

/** Whatever a zone's clocks do, they do on a quarter of an hour: within one, an instant's place follows from its start's. */
const quarterMs = 15 * 60_000;

/** The platform counts by calendar month. A change to or from summer time inside a month is not taken into account. */
export function createMonthReader(timeZone: string): MonthReader {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  let known: { readonly startMs: number; readonly position: MonthPosition } | undefined;
  return (nowMs) => {
    const startMs = Math.floor(nowMs / quarterMs) * quarterMs;
    if (known?.startMs !== startMs) known = { startMs, position: positionOf(format.formatToParts(startMs), startMs) };
    const { month, day, elapsedMs, leftMs } = known.position;
    const sinceMs = nowMs - startMs;
    return { month, day, elapsedMs: elapsedMs + sinceMs, leftMs: leftMs - sinceMs };
  };
}

function positionOf(parts: readonly Intl.DateTimeFormatPart[], nowMs: number): MonthPosition {
  const read = (type: Intl.DateTimeFormatPartTypes): number =>
    Number(parts.find((part) => part.type === type)?.value ?? '0');
  const year = read('year');
  const month = read('month');
  const day = read('day');
  const inDayMs = (read('hour') * 3_600 + read('minute') * 60 + read('second')) * 1_000 + (nowMs % 1_000);
  const days = new Date(Date.UTC(year, month, 0)).getUTCDate();
  const elapsedMs = (day - 1) * dayMs + inDayMs;
  return {
    month: `${year}-${String(month).padStart(2, '0')}`,
    day,
    elapsedMs,
    leftMs: days * dayMs - elapsedMs,
  };
}
