import { describe, expect, it } from 'vitest';
import { settingsSchema } from '../../src/contract/index.ts';
import { createBudgets } from '../../src/engine/policy/budget.ts';
import { createVirtualClock } from '../../src/kernel/index.ts';

const cny = (yuan: number): number => yuan * 1_000_000;
const labels = { agent: 'try-on' };

/** A budget of one yuan a day over a ledger that takes a moment to sum up. */
function open(spentYuan: number, limits: object = { daily_cost: { 'try-on': '1' } }) {
  const clock = createVirtualClock();
  let readings = 0;
  const budgets = createBudgets({
    limits: settingsSchema.shape.limits.parse({ ...plainLimits, daily_cost: {}, ...limits }),
    clock,
    timeZone: 'Asia/Shanghai',
    store: {
      charges: async () => {
        readings += 1;
        await Promise.resolve();
        return [{ cnyMicros: cny(spentYuan) }] as never;
      },
    },
  });
  return { budgets, clock, readings: () => readings };
}
const plainLimits = { concurrency: {}, rate: {}, row_cost: {}, max_paid_calls: 6, starts_per_row_per_hour: 20 };

describe('a budget that several ask at the same moment', () => {
  const ask = async (budgets: ReturnType<typeof open>['budgets'], many: number): Promise<readonly string[]> =>
    (
      await Promise.all(
        Array.from({ length: many }, async (_each, index) => await budgets.reserve(labels, `row${index}#a`, cny(0.4))),
      )
    ).map((verdict) => verdict.kind);

  it('lets as many buy as it has money for, when it has just been opened', async () => {
    const { budgets, readings } = open(0);
    expect(await ask(budgets, 5)).toEqual(['free', 'warning', 'reached', 'reached', 'reached']);
    expect(readings()).toBe(1);
  });

  it('and when its sum is read anew while a purchase is on its way', async () => {
    const { budgets, clock } = open(0.3);
    expect(await ask(budgets, 1)).toEqual(['free']);
    await clock.advance(31_000);
    // The first is in no ledger yet; a new reading alone would forget it.
    expect(await ask(budgets, 1)).toEqual(['reached']);
    // It lands while the ledger is summed up, too late to be seen there.
    await clock.advance(31_000);
    const late = ask(budgets, 1);
    budgets.landed(labels, 'row0#a', cny(0.4));
    expect(await late).toEqual(['reached']);
    // From then on the ledger has it, or nobody.
    await clock.advance(31_000);
    expect(await ask(budgets, 1)).toEqual(['free']);
  });

  it('lets go of the sums of rows that are done with, and reads one anew when its row comes back', async () => {
    const { clock, budgets, readings } = open(0.3, { row_cost: { 'try-on': '1' } });
    const ofRow = async (row: string): Promise<string> => {
      const { kind } = await budgets.reserve(labels, `${row}#a`, cny(0.1));
      if (kind !== 'reached') budgets.landed(labels, `${row}#a`, cny(0.1));
      return kind;
    };
    expect(await ofRow('first')).toBe('free');
    await clock.advance(6 * 60_000);
    expect(await ofRow('second')).toBe('free');
    expect(await ofRow('first')).toBe('free');
    expect(readings()).toBe(3);
    // What was reserved on a sum that is there counts with it.
    expect([await ofRow('first'), await ofRow('first'), await ofRow('first')]).toEqual(['free', 'free', 'free']);
    expect([await ofRow('first'), await ofRow('first'), await ofRow('first')]).toEqual([
      'warning',
      'warning',
      'warning',
    ]);
    expect([await ofRow('first'), readings()]).toEqual(['reached', 3]);
  });

  it('is moved by a settlement of the day, not by one of the day before', async () => {
    const { budgets, clock } = open(0.3);
    const yesterday = { labels, sourceRef: 'row0#a', reservedAt: clock.nowMs() };
    await clock.advance(86_400_000);
    expect(await ask(budgets, 1)).toEqual(['free']);
    budgets.note(yesterday, -cny(0.4));
    expect(await ask(budgets, 1)).toEqual(['reached']);
    budgets.note({ ...yesterday, reservedAt: clock.nowMs() }, -cny(0.4));
    expect(await ask(budgets, 1)).toEqual(['free']);
  });

  it('has again what was reserved and not bought', async () => {
    const { budgets } = open(0);
    expect(await ask(budgets, 2)).toEqual(['free', 'warning']);
    budgets.giveBack(labels, 'row0#a', cny(0.4));
    expect(await ask(budgets, 2)).toEqual(['warning', 'reached']);
  });
});
