import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChargeRecord } from '../../src/engine/ports/index.ts';
import { createCalendar, ledgerBy } from '../../src/monitor/index.ts';
import { attemptRecord, chargeRecord, createKit, executionRecord, timezone } from './kit.ts';

const kit = createKit();
const attempt = attemptRecord(kit, executionRecord(kit));
const charge = (over: Partial<ChargeRecord>): ChargeRecord => chargeRecord(kit, attempt, over);
const cny = (micros: number, over: Partial<ChargeRecord> = {}): ChargeRecord =>
  charge({ amount: { currency: 'CNY', micros }, cnyMicros: micros, ...over });

describe('ledger', () => {
  it('P164 keeps currencies apart, loses no small sum, and counts the failed but billed call', () => {
    const charges = [
      ...Array.from({ length: 3 }, () => cny(500_000)),
      ...Array.from({ length: 2 }, () => charge({ amount: { currency: 'USD', micros: 20_000 }, cnyMicros: 142_000 })),
      ...Array.from({ length: 1_000 }, () => charge({ amount: { currency: 'USD', micros: 600 }, cnyMicros: 4_260 })),
      cny(1_000_000),
    ];
    const { total } = ledgerBy(charges, 'vendor', '2026-11', timezone);
    expect(total.totals).toEqual({ CNY: 2_500_000, USD: 640_000 });
    expect(total.cnyMicros).toBe(2_500_000 + 284_000 + 4_260_000);
    expect(total.calls).toBe(1_006);
  });

  it('P161 leaves out what was released, and shows what is open apart', () => {
    const { total } = ledgerBy(
      [cny(500_000), cny(700_000, { state: 'released' }), cny(900_000, { state: 'reserved' })],
      'agent',
      '2026-11',
      timezone,
    );
    expect(total).toMatchObject({ calls: 2, cnyMicros: 500_000, openCnyMicros: 900_000 });
  });

  it('counts a month in the configured zone', () => {
    const { fromMs, toMs } = createCalendar(timezone).monthRange('2026-11');
    expect(new Date(fromMs).toISOString()).toBe('2026-10-31T16:00:00.000Z');
    const charges = [
      cny(1, { reservedAt: fromMs - 1 }),
      cny(10, { reservedAt: fromMs }),
      cny(100, { reservedAt: toMs - 1 }),
      cny(1_000, { reservedAt: toMs }),
    ];
    expect(ledgerBy(charges, 'agent', '2026-11', timezone).total.cnyMicros).toBe(110);
    expect(ledgerBy(charges, 'agent', '2026-12', timezone).total.cnyMicros).toBe(1_000);
  });

  it('gives the same total whatever it is grouped by', () => {
    const arbitrary = fc.array(
      fc.record({
        micros: fc.integer({ min: 0, max: 1e9 }),
        agent: fc.constantFrom('try-on', 'deck', undefined),
        submitter: fc.constantFrom('ou_1', 'ou_2', undefined),
        provider: fc.constantFrom('kie', 'toapis'),
        state: fc.constantFrom('settled', 'reserved', 'released'),
      }),
    );
    fc.assert(
      fc.property(arbitrary, (parts) => {
        const charges = parts.map(({ micros, agent, submitter, provider, state }) =>
          cny(micros, {
            provider,
            state,
            labels: { ...(agent === undefined ? {} : { agent }), ...(submitter === undefined ? {} : { submitter }) },
          }),
        );
        const totals = (['agent', 'vendor', 'submitter'] as const).map((by) => {
          const ledger = ledgerBy(charges, by, '2026-11', timezone);
          expect(ledger.rows.reduce((sum, row) => sum + row.cnyMicros, 0)).toBe(ledger.total.cnyMicros);
          return ledger.total;
        });
        expect(totals[1]).toEqual(totals[0]);
        expect(totals[2]).toEqual(totals[0]);
      }),
    );
  });
});
