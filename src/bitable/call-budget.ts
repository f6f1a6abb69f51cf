import { z } from 'zod';
import type { Settings } from '../contract/index.ts';
import type { Store } from '../engine/ports/index.ts';
import type { FeishuClient } from '../feishu/client.ts';
import type { Clock, JsonObject } from '../kernel/index.ts';
import { collections, putDocument } from './row-documents.ts';

/**
 * Feishu's free plan caps the calls of a month for the whole company. Calls are counted by endpoint, a document a month;
 * the search keeps its full pace while there is plenty, and is stretched so that what is left lasts to the month's end,
 * half of it kept for rows. Told at 80 %.
 */
export interface CallBudget {
  /** Takes the client's counts over into the month's document. */
  record(): Promise<void>;
  /** Least time between two searches of one table, as of now. */
  searchSpacingMs(tables: number): number;
  status(): CallStatus;
}

export interface CallStatus {
  /** `2026-11` in the zone of the operator. */
  readonly month: string;
  readonly calls: number;
  /** Undefined on a paid plan. */
  readonly budget: number | undefined;
  /** Calls of this month at the pace so far. */
  readonly forecast: number;
  readonly byEndpoint: Readonly<Record<string, number>>;
  readonly searchSpacingMs: number;
}

const monthDocument = z.object({
  total: z.number(),
  byEndpoint: z.record(z.string(), z.number()),
  warned: z.boolean(),
});
type MonthDocument = z.infer<typeof monthDocument>;

/** Below this share of the budget nothing is stretched. */
const freeShare = 0.2;
const warnShare = 0.8;
/** Share of what is left that searches may use; the rest is for rows. */
const searchShare = 0.5;
/** A search is never put off longer than this. */
const maxSpacingMs = 15 * 60_000;
const dayMs = 86_400_000;

export async function createCallBudget(options: {
  readonly client: FeishuClient;
  readonly store: Store;
  readonly clock: Clock;
  readonly settings: Settings;
  readonly timeZone: string;
  readonly notice: (data: JsonObject) => Promise<void>;
}): Promise<CallBudget> {
  const { client, store, clock, settings } = options;
  const budget = settings.feishu.plan === 'basic' ? settings.feishu.monthly_call_budget : undefined;
  let month = monthAt(clock.nowMs(), options.timeZone);
  let counts = await loadMonth(store, month.name);
  const spacing = (tables: number): number => {
    const pace = settings.poll.interval;
    if (budget === undefined || counts.total < budget * freeShare) return pace;
    const left = Math.max(1, (budget - counts.total) * searchShare);
    const leftMs = Math.max(0, month.endMs - clock.nowMs());
    return Math.min(maxSpacingMs, Math.max(pace, Math.ceil((leftMs * Math.max(1, tables)) / left)));
  };
  return {
    record: async () => {
      const taken = client.takeCallCounts();
      const sum = Object.values(taken).reduce((total, count) => total + count, 0);
      const now = monthAt(clock.nowMs(), options.timeZone);
      if (now.name !== month.name) {
        month = now;
        counts = await loadMonth(store, month.name);
      }
      if (sum === 0) return;
      const byEndpoint = { ...counts.byEndpoint };
      for (const [name, count] of Object.entries(taken)) byEndpoint[name] = (byEndpoint[name] ?? 0) + count;
      const total = counts.total + sum;
      const isFull = budget !== undefined && total >= budget * warnShare && !counts.warned;
      counts = { total, byEndpoint, warned: counts.warned || isFull };
      await store.commit([putDocument(clock, collections.calls, month.name, counts)]);
      if (!isFull) return;
      await options.notice({
        name: 'feishu-quota',
        text: `本月飞书调用已用 ${total} 次，达到预算 ${budget} 次的八成；查询间隔已放慢。可升级飞书版本，或调整 feishu.monthly_call_budget。`,
      });
    },
    searchSpacingMs: spacing,
    status: () => ({
      month: month.name,
      calls: counts.total,
      budget,
      forecast: forecastOf(counts.total, month, clock.nowMs()),
      byEndpoint: counts.byEndpoint,
      searchSpacingMs: spacing(1),
    }),
  };
}

async function loadMonth(store: Store, name: string): Promise<MonthDocument> {
  const record = await store.document(collections.calls, name);
  return record === undefined ? { total: 0, byEndpoint: {}, warned: false } : monthDocument.parse(record.value);
}

interface Month {
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** The month of an instant in a zone; its bounds to within a day's offset, which is all that a forecast needs. */
export function monthAt(nowMs: number, timeZone: string): Month {
  const parts = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit' }).formatToParts(nowMs);
  const find = (type: string): string => parts.find((part) => part.type === type)?.value ?? '01';
  const name = `${find('year')}-${find('month')}`;
  const startMs = Date.UTC(Number(find('year')), Number(find('month')) - 1, 1);
  const endMs = Date.UTC(Number(find('year')), Number(find('month')), 1);
  return { name, startMs, endMs };
}

function forecastOf(calls: number, month: Month, nowMs: number): number {
  const pastMs = Math.max(dayMs / 24, nowMs - month.startMs);
  return Math.round((calls * (month.endMs - month.startMs)) / pastMs);
}
