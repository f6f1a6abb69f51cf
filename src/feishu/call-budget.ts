import { z } from 'zod';
import type { Clock, JsonObject } from '../kernel/index.ts';
import { createMonthReader } from './month.ts';
import { createQuotaGuard, type QuotaGuard } from './quota-guard.ts';

/**
 * The month's calls. Feishu's free plan caps them for the whole company, and plain polling alone would use them up: so every
 * call is counted, the count outlives a restart, the search is slowed down to what is left, and the operator is told.
 *
 * Levels of a month, each told once: `ok ─▶ warning (80 %) ─▶ reached (100 %)`, and apart from them `gone` (the platform
 * itself said so). `reached` stops nothing: the figure is the operator's own, the platform has the last word.
 */
export interface CallBudget {
  /** Reads what was counted before; to be awaited once, before the rest. */
  load(): Promise<void>;
  /** Adds calls (from `takeCallCounts`), stores the sum, and returns what the operator should be told now. */
  record(counts: Readonly<Record<string, number>>): Promise<readonly BudgetNotice[]>;
  status(): BudgetStatus;
  /**
   * The interval at which the searches of so many tables fit into the rest of the month; never shorter than the given one,
   * at most `maxSearchIntervalMs` unless the given one is longer. On a paid plan the given one.
   */
  searchIntervalMs(intervalMs: number, tables: number): number;
  /** Searches of a whole month (30 days) at an interval, for the line at start. */
  projectedSearches(intervalMs: number, tables: number): number;
  /** To be given to `createFeishuClient`, so that nothing is sent once the quota is gone. */
  readonly guard: QuotaGuard;
}

export interface BudgetStatus {
  readonly month: string;
  readonly used: number;
  readonly usedToday: number;
  readonly byEndpoint: Readonly<Record<string, number>>;
  /** Undefined on a paid plan. */
  readonly budget?: number;
  /** Calls by the month's end if it goes on as it has gone so far. */
  readonly forecast: number;
  readonly level: 'ok' | 'warning' | 'reached' | 'gone';
}

export type BudgetNotice =
  | { readonly name: 'feishu-budget-warning' | 'feishu-budget-reached'; readonly used: number; readonly budget: number }
  | { readonly name: 'feishu-quota-gone' | 'feishu-quota-back'; readonly used: number };

/** Where the months are kept: a thin wrapper over store documents. */
export interface CallCountStore {
  load(month: string): Promise<JsonObject | undefined>;
  save(month: string, value: JsonObject): Promise<void>;
}

export interface CallBudgetDeps {
  readonly clock: Clock;
  readonly store: CallCountStore;
  readonly plan: 'basic' | 'paid';
  readonly monthlyBudget: number;
  /** The platform's month is taken to be China's. */
  readonly timeZone?: string;
}

const searchEndpoint = 'bitable.records.search';
/** This much of the budget is kept for unforeseen work; the search never plans with it. */
const reserveRatio = 0.1;
const warningRatio = 0.8;
/** However little is left, a typed word is found within an hour. */
const maxSearchIntervalMs = 3_600_000;
const dayMs = 86_400_000;

const storedSchema = z.object({
  counts: z.record(z.string(), z.int().nonnegative()),
  days: z.record(z.string(), z.int().nonnegative()),
  told: z.array(z.string()),
  goneAt: z.number().optional(),
});
type MonthBook = z.infer<typeof storedSchema>;
const emptyBook: MonthBook = { counts: {}, days: {}, told: [] };

export function createCallBudget(deps: CallBudgetDeps): CallBudget {
  const { clock } = deps;
  const timeZone = deps.timeZone ?? 'Asia/Shanghai';
  const monthOf = createMonthReader(timeZone);
  const guard = createQuotaGuard(clock, timeZone);
  let month = monthOf(clock.nowMs()).month;
  let book = emptyBook;
  const budget = deps.plan === 'paid' ? undefined : deps.monthlyBudget;

  const rollOver = (): void => {
    const now = monthOf(clock.nowMs()).month;
    if (now !== month) book = emptyBook;
    month = now;
  };
  const used = (): number => sumOf(book.counts);

  return {
    guard,
    load: async () => {
      rollOver();
      const parsed = storedSchema.safeParse(await deps.store.load(month));
      book = parsed.success ? parsed.data : emptyBook;
      if (book.goneAt !== undefined) guard.quotaGone();
    },
    record: async (counts) => {
      rollOver();
      const { day } = monthOf(clock.nowMs());
      const news = noticesOf(book, sumOf(counts), budget, guard);
      if (sumOf(counts) === 0 && news.length === 0) return [];
      book = nextBook(book, { counts, day, news, goneAt: guard.goneSinceMs() });
      await deps.store.save(month, book);
      return news;
    },
    status: () => {
      rollOver();
      const position = monthOf(clock.nowMs());
      return {
        month,
        used: used(),
        usedToday: book.days[String(position.day)] ?? 0,
        byEndpoint: book.counts,
        ...(budget === undefined ? {} : { budget }),
        forecast: Math.round(used() + (used() * position.leftMs) / Math.max(position.elapsedMs, dayMs)),
        level: levelOf(used(), budget, guard),
      };
    },
    searchIntervalMs: (intervalMs, tables) => {
      rollOver();
      if (budget === undefined) return intervalMs;
      const position = monthOf(clock.nowMs());
      const work = used() - (book.counts[searchEndpoint] ?? 0);
      const workToCome = (work * position.leftMs) / Math.max(position.elapsedMs, dayMs);
      const forSearches = budget * (1 - reserveRatio) - used() - workToCome;
      const fittingMs = forSearches <= 0 ? maxSearchIntervalMs : (tables * position.leftMs) / forSearches;
      return Math.max(intervalMs, Math.ceil(Math.min(fittingMs, maxSearchIntervalMs)));
    },
    projectedSearches: (intervalMs, tables) => Math.round((30 * dayMs * tables) / intervalMs),
  };
}

function levelOf(used: number, budget: number | undefined, guard: QuotaGuard): BudgetStatus['level'] {
  if (guard.goneSinceMs() !== undefined) return 'gone';
  if (budget === undefined || used < budget * warningRatio) return 'ok';
  return used < budget ? 'warning' : 'reached';
}

function noticesOf(
  book: MonthBook,
  added: number,
  budget: number | undefined,
  guard: QuotaGuard,
): readonly BudgetNotice[] {
  const used = sumOf(book.counts) + added;
  const news: BudgetNotice[] = [];
  const isGone = guard.goneSinceMs() !== undefined;
  if (isGone && !book.told.includes('feishu-quota-gone')) news.push({ name: 'feishu-quota-gone', used });
  if (!isGone && book.told.includes('feishu-quota-gone')) news.push({ name: 'feishu-quota-back', used });
  if (budget === undefined) return news;
  const name = used >= budget ? 'feishu-budget-reached' : 'feishu-budget-warning';
  const isDue =
    used >= budget * warningRatio && !book.told.includes(name) && !book.told.includes('feishu-budget-reached');
  return isDue ? [...news, { name, used, budget }] : news;
}

function nextBook(
  book: MonthBook,
  step: {
    readonly counts: Readonly<Record<string, number>>;
    readonly day: number;
    readonly news: readonly BudgetNotice[];
    readonly goneAt: number | undefined;
  },
): MonthBook {
  const counts = { ...book.counts };
  for (const [name, count] of Object.entries(step.counts)) counts[name] = (counts[name] ?? 0) + count;
  const day = String(step.day);
  const names = step.news.map((notice) => notice.name);
  const isBack = names.includes('feishu-quota-back');
  const told = [...book.told, ...names].filter((name) => !(isBack && name.startsWith('feishu-quota')));
  return {
    counts,
    days: { ...book.days, [day]: (book.days[day] ?? 0) + sumOf(step.counts) },
    told: [...new Set(told)],
    ...(step.goneAt === undefined ? {} : { goneAt: step.goneAt }),
  };
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
