/**
 * Days and months of one time zone. Every day on the page, in the ledger and in the summary is a day of the operator's zone
 * (`GRIDLOOM_TIMEZONE`), whatever the host's own zone is.
 */
export interface Calendar {
  readonly timezone: string;
  /** `2026-11-30` */
  dayOf(atMs: number): string;
  /** `2026-11` */
  monthOf(atMs: number): string;
  /** `23:08` */
  timeOf(atMs: number): string;
  /** The first instant of a day. */
  startOfDay(day: string): number;
  /** First instant of the month, and of the next one. */
  monthRange(month: string): { readonly fromMs: number; readonly toMs: number };
  /** The day `count` days after (or, negative, before) a day. */
  addDays(day: string, count: number): string;
}

const dayMs = 86_400_000;

/** Throws a RangeError for a zone that the platform does not know. */
export function createCalendar(timezone: string): Calendar {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  const parts = (atMs: number): Map<string, string> =>
    new Map(format.formatToParts(atMs).map((part) => [part.type, part.value]));
  const dayOf = (atMs: number): string => {
    const found = parts(atMs);
    return `${found.get('year') ?? ''}-${found.get('month') ?? ''}-${found.get('day') ?? ''}`;
  };
  const timeOf = (atMs: number): string => {
    const found = parts(atMs);
    return `${found.get('hour') ?? ''}:${found.get('minute') ?? ''}`;
  };
  /** Local wall time as if it were UTC, minus UTC. */
  const offsetMs = (atMs: number): number => {
    const found = parts(atMs);
    const part = (name: string): number => Number(found.get(name) ?? '0');
    const local = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
    return local - Math.floor(atMs / 1_000) * 1_000;
  };
  const startOfDay = (day: string): number => {
    const asUtc = Date.parse(`${day}T00:00:00Z`);
    const guess = asUtc - offsetMs(asUtc);
    const exact = asUtc - offsetMs(guess);
    // Where midnight does not exist (clocks put forward at 0:00), the day begins at the first instant that carries its date.
    return dayOf(exact) === day ? exact : exact + 3_600_000;
  };
  return {
    timezone,
    dayOf,
    timeOf,
    monthOf: (atMs) => dayOf(atMs).slice(0, 7),
    startOfDay,
    monthRange: (month) => {
      const year = Number(month.slice(0, 4));
      const index = Number(month.slice(5, 7));
      const next = index === 12 ? `${year + 1}-01` : `${year}-${String(index + 1).padStart(2, '0')}`;
      return { fromMs: startOfDay(`${month}-01`), toMs: startOfDay(`${next}-01`) };
    },
    addDays: (day, count) => new Date(Date.parse(`${day}T00:00:00Z`) + count * dayMs).toISOString().slice(0, 10),
  };
}
