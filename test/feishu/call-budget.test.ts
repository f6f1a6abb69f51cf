import { describe, expect, it } from 'vitest';
import { type CallCountStore, createCallBudget, createQuotaGuard } from '../../src/feishu/index.ts';
import { createVirtualClock, type JsonObject } from '../../src/kernel/index.ts';
import { createBench, done, refusal } from './support/fake-platform.ts';

const dayMs = 86_400_000;
/** Midnight of 1 June 2026 in Shanghai; June has 30 days. */
const june = Date.parse('2026-06-01T00:00:00+08:00');

function bench(
  options: { budget?: number; plan?: 'basic' | 'paid'; startAtMs?: number; kept?: Map<string, JsonObject> } = {},
) {
  const clock = createVirtualClock(options.startAtMs ?? june);
  const kept = options.kept ?? new Map<string, JsonObject>();
  const store: CallCountStore = {
    load: (month) => Promise.resolve(kept.get(month)),
    save: (month, value) => Promise.resolve(void kept.set(month, value)),
  };
  const budget = createCallBudget({
    clock,
    store,
    plan: options.plan ?? 'basic',
    monthlyBudget: options.budget ?? 50_000,
  });
  return { clock, kept, budget };
}

describe('the call budget', () => {
  it('P022 knows what a poll costs before it is made', () => {
    const { budget } = bench();
    expect(budget.projectedSearches(5_000, 1)).toBe(518_400);
    expect(budget.projectedSearches(30_000, 1)).toBe(86_400);
    expect(budget.projectedSearches(600_000, 1)).toBe(4_320);
  });

  it('P022 stretches the search so that a month of it stays within the budget', async () => {
    for (const [limit, tables] of [
      [50_000, 1],
      [50_000, 3],
      [10_000, 1],
    ] as const) {
      const { budget, clock } = bench({ budget: limit });
      let searches = 0;
      while (clock.nowMs() < june + 30 * dayMs) {
        searches += tables;
        await budget.record({ 'bitable.records.search': tables });
        await clock.advance(budget.searchIntervalMs(30_000, tables) * 20);
        await budget.record({ 'bitable.records.search': tables * 19 });
        searches += tables * 19;
      }
      expect(searches).toBeLessThanOrEqual(limit);
      expect(searches).toBeGreaterThan(limit * 0.8);
    }
  });

  it('leaves the interval alone where it fits, and on a paid plan', async () => {
    const { budget } = bench();
    expect(budget.searchIntervalMs(600_000, 6)).toBe(600_000);
    const paid = bench({ plan: 'paid', budget: 1 });
    await paid.budget.record({ 'im.message': 1_000 });
    expect(paid.budget.searchIntervalMs(30_000, 6)).toBe(30_000);
    expect(paid.budget.status()).toMatchObject({ used: 1_000, level: 'ok' });
    expect(paid.budget.status().budget).toBeUndefined();
  });

  it('keeps room for the work that the month has seen so far', async () => {
    const { budget, clock } = bench();
    await clock.advance(10 * dayMs);
    const idleMs = budget.searchIntervalMs(30_000, 1);
    await budget.record({ 'bitable.records.batch-update': 10_000 });
    expect(budget.searchIntervalMs(30_000, 1)).toBeGreaterThan(2 * idleMs);
  });

  it('never stretches beyond an hour, however little is left', async () => {
    const { budget } = bench({ budget: 100 });
    await budget.record({ 'im.message': 99 });
    expect(budget.searchIntervalMs(30_000, 1)).toBe(3_600_000);
    expect(budget.searchIntervalMs(7_200_000, 1)).toBe(7_200_000);
  });

  it('tells of 80 % and of 100 %, each once a month, also over a restart', async () => {
    const first = bench({ budget: 100 });
    expect(await first.budget.record({ a: 79 })).toEqual([]);
    expect(await first.budget.record({ a: 1 })).toEqual([{ name: 'feishu-budget-warning', used: 80, budget: 100 }]);
    expect(await first.budget.record({ a: 1 })).toEqual([]);
    const second = bench({ budget: 100, kept: first.kept });
    await second.budget.load();
    expect(await second.budget.record({ a: 5 })).toEqual([]);
    expect(await second.budget.record({ a: 14 })).toEqual([{ name: 'feishu-budget-reached', used: 100, budget: 100 }]);
    expect(await second.budget.record({ a: 14 })).toEqual([]);
    expect(second.budget.status().level).toBe('reached');
  });

  it('begins anew on the first, by China’s calendar', async () => {
    const { budget, clock } = bench({ startAtMs: june + 30 * dayMs - 1_000, budget: 100 });
    await budget.record({ a: 90 });
    expect(budget.status()).toMatchObject({ month: '2026-06', used: 90, level: 'warning' });
    await clock.advance(2_000);
    expect(budget.status()).toMatchObject({ month: '2026-07', used: 0, usedToday: 0, level: 'ok' });
  });

  it('forecasts the month from what has passed, by endpoint and by day', async () => {
    const { budget, clock } = bench();
    await budget.record({ a: 60 });
    await clock.advance(10 * dayMs);
    await budget.record({ a: 20, b: 20 });
    expect(budget.status()).toMatchObject({
      used: 100,
      usedToday: 40,
      byEndpoint: { a: 80, b: 20 },
      forecast: 300,
      budget: 50_000,
    });
  });

  it('reads no book that it cannot understand', async () => {
    const { budget } = bench({ kept: new Map([['2026-06', { counts: 'many' }]]) });
    await budget.load();
    expect(budget.status().used).toBe(0);
  });
});

describe('when the platform says that the month is used up', () => {
  it('nothing more is sent, and the operator is told once; one call in six hours finds out that it is over', async () => {
    const { budget, clock } = bench();
    let isGone = true;
    const platform = createBench(
      (request) =>
        request.path.endsWith('/internal') ? undefined : isGone ? refusal(99991403, 400) : done({ items: [] }),
      { clock, quota: budget.guard },
    );
    const list = () => platform.client.listTables('appX');
    expect(await list()).toMatchObject({ ok: false, failure: { code: 99991403, class: 'quota' } });
    expect(await list()).toMatchObject({ ok: false, failure: { code: 0, class: 'quota', outcome: 'refused' } });
    expect(platform.to('/tables')).toHaveLength(1);
    expect(await budget.record(platform.client.takeCallCounts())).toMatchObject([{ name: 'feishu-quota-gone' }]);
    expect(budget.status().level).toBe('gone');
    expect(await budget.record({})).toEqual([]);
    isGone = false;
    await clock.advance(6 * 3_600_000);
    expect((await list()).ok).toBe(true);
    expect(await budget.record(platform.client.takeCallCounts())).toMatchObject([{ name: 'feishu-quota-back' }]);
    expect(budget.status().level).toBe('ok');
  });

  it('that outlives a restart, and ends with the month', async () => {
    const first = bench();
    first.budget.guard.quotaGone();
    await first.budget.record({ a: 1 });
    const second = bench({ kept: first.kept });
    await second.budget.load();
    expect(second.budget.guard.mayCall()).toBe(false);
    await second.clock.advance(5 * 3_600_000);
    expect(second.budget.guard.mayCall()).toBe(false);
    const clock = createVirtualClock(june + 30 * dayMs - 1_000);
    const guard = createQuotaGuard(clock, 'Asia/Shanghai');
    guard.quotaGone();
    expect(guard.mayCall()).toBe(false);
    await clock.advance(2_000);
    expect(guard.mayCall()).toBe(true);
  });
});
