import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSeededRandom, createVirtualClock } from '../../src/kernel/index.ts';
import { createDayStart } from '../../src/engine/policy/budget.ts';
import { type CallPolicy, nextStep, type Try } from '../../src/engine/policy/next-step.ts';
import { nextPollDelayMs } from '../../src/engine/policy/poll-schedule.ts';
import { createPricer } from '../../src/engine/policy/pricing.ts';
import { createTimers, type Timed } from '../../src/engine/worker/timers.ts';
import { shippedSettings } from './support/definitions.ts';

describe('the poll schedule', () => {
  function measure(
    typicalMs: number | undefined,
    lengths: readonly number[],
  ): { readonly polls: number; readonly delayRatio: number } {
    const random = createSeededRandom(7);
    const rhythm = { firstMs: 30_000, intervalMs: 10_000, typicalMs };
    let polls = 0;
    let delay = 0;
    for (const length of lengths) {
      let at = 0;
      while (at < length) {
        at += nextPollDelayMs(rhythm, at, random);
        polls += 1;
      }
      delay += at - length;
    }
    const mean = lengths.reduce((sum, each) => sum + each, 0) / lengths.length;
    return { polls: polls / lengths.length, delayRatio: delay / lengths.length / mean };
  }
  const random = createSeededRandom(3);
  const lengths = Array.from({ length: 2_000 }, () => 60_000 + random.next() * 180_000);

  it('tasks of one to four minutes: at most 8 looks, a mean delay below 5 % of their length', () => {
    const { polls, delayRatio } = measure(150_000, lengths);
    expect(polls).toBeLessThanOrEqual(8);
    expect(delayRatio).toBeLessThan(0.05);
  });

  it('a twin: a fixed interval of 10 s needs far more looks for a delay hardly smaller', () => {
    const fixed = lengths.reduce((sum, length) => sum + Math.ceil(length / 10_000), 0) / lengths.length;
    expect(fixed).toBeGreaterThan(14);
  });

  it('with nothing known: first, then spaced by the interval and by the age of the task', () => {
    const { polls } = measure(undefined, lengths);
    expect(polls).toBeLessThan(14);
  });

  it('is never closer than nine tenths of the interval, and a small `first` brings the results at once', () => {
    fc.assert(
      fc.property(fc.nat(4_000_000), fc.nat(600_000), (elapsedMs, typicalMs) => {
        const delay = nextPollDelayMs(
          { firstMs: 30_000, intervalMs: 10_000, typicalMs },
          elapsedMs,
          createSeededRandom(elapsedMs),
        );
        const isFirst = elapsedMs < typicalMs * 0.4;
        if (!isFirst) expect(delay).toBeGreaterThanOrEqual(9_000);
        expect(delay).toBeLessThan(Math.max(600_000, elapsedMs));
      }),
    );
    expect(
      nextPollDelayMs({ firstMs: 200, intervalMs: 200, typicalMs: 150_000 }, 0, createSeededRandom(1)),
    ).toBeLessThan(1_000);
  });
});

describe('the next step of a call', () => {
  const policy: CallPolicy = {
    candidates: 2,
    attempts: 3,
    delayMs: 1_000,
    factor: 2,
    maxDelayMs: 60_000,
    retryOn: undefined,
    fallbackOn: undefined,
    paidCallsLeft: 6,
    unknownOutcome: 'hold',
    overdue: 'hold',
    canDegrade: false,
  };
  const outcomes = ['open', 'doubt', 'overdue', 'usable', 'output-refused', 'ended'] as const;
  const kinds = [
    'overload',
    'content-policy',
    'balance',
    'unknown-outcome',
    'overdue',
    'generation-failed',
    'invalid-input',
  ] as const;
  const histories = fc.array(
    fc.record({
      candidate: fc.integer({ min: 0, max: 1 }),
      outcome: fc.constantFrom(...outcomes),
      kind: fc.constantFrom(...kinds),
    }),
    { maxLength: 8 },
  );
  const asTries = (
    history: readonly { candidate: number; outcome: Try['outcome']; kind: (typeof kinds)[number] }[],
  ): readonly Try<number>[] =>
    history.map(({ candidate, outcome, kind }, at) => ({
      candidate,
      outcome,
      attempt: at,
      endedAt: at,
      ...(outcome === 'usable' ? {} : { failure: { kind, code: '', message: '' } }),
    }));

  it('never buys while anything is open, in doubt or overdue, and never more than is allowed', () => {
    fc.assert(
      fc.property(histories, fc.integer({ min: -1, max: 3 }), (history, paidCallsLeft) => {
        const tries = asTries(history);
        const step = nextStep({ ...policy, paidCallsLeft }, tries, () => 'ready');
        if (step.kind !== 'try') return;
        expect(
          tries.some(
            (each) =>
              each.outcome === 'open' ||
              each.outcome === 'doubt' ||
              each.outcome === 'overdue' ||
              each.outcome === 'usable',
          ),
        ).toBe(false);
        if (tries.length > 0) expect(paidCallsLeft).toBeGreaterThan(0);
        expect(tries.filter((each) => each.candidate === step.candidate).length).toBeLessThan(
          3 + (step.candidate === 1 ? 8 : 0),
        );
      }),
      { numRuns: 2_000 },
    );
  });

  it('a usable result is used, whatever else there is', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const tries = asTries([...history, { candidate: 0, outcome: 'usable', kind: 'overload' }]);
        expect(nextStep(policy, tries, () => 'paused').kind).toBe('use');
      }),
    );
  });
});

describe('timers', () => {
  it('fire in order of their time, however they were armed, moved and called off', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ id: fc.nat(30), delay: fc.nat(1_000), off: fc.boolean() }), { maxLength: 60 }),
        async (steps) => {
          const clock = createVirtualClock();
          const timers = createTimers(clock);
          const fired: number[] = [];
          const all = Array.from(
            { length: 31 },
            (): Timed => ({
              dueMs: 0,
              slot: -1,
              onDue: () => {
                fired.push(clock.monotonicMs());
              },
            }),
          );
          const expected = new Map<number, number>();
          for (const { id, delay, off } of steps) {
            const timed = all[id]!;
            if (off) {
              timers.disarm(timed);
              expected.delete(id);
            } else {
              timers.arm(timed, delay);
              expected.set(id, delay);
            }
          }
          await clock.advance(2_000);
          expect(fired).toEqual([...expected.values()].sort((left, right) => left - right));
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe('money', () => {
  const pricer = createPricer(shippedSettings().money);
  const model = (items: readonly object[], currency = 'CNY'): Parameters<typeof pricer.settle>[0] => ({
    id: 'm',
    capability: ['text.generate'],
    implementation: 'x',
    model: 'x',
    price: { currency, dated: '2026-01-01', items: items as never },
  });

  it('P164 small sums are kept to the millionth, tokens are priced per million, once rounded', () => {
    const priced = pricer.settle(
      model([
        { unit: 'inputTokens', amount: '0.8', per: 1_000_000 },
        { unit: 'outputTokens', amount: '2', per: 1_000_000 },
      ]),
      { usage: { inputTokens: 1_234, outputTokens: 567 } },
      {},
      undefined,
    );
    expect(priced).toMatchObject({ source: 'price_table', amount: { currency: 'CNY', micros: 987 + 1_134 } });
  });

  it('P164 dollars and credits are turned into yuan at dated rates; each keeps its own sum', () => {
    expect(pricer.settle(model([{ unit: 'calls', amount: '0.0006' }], 'USD'), {}, {}, undefined)).toMatchObject({
      amount: { currency: 'USD', micros: 600 },
      cnyMicros: 4_260,
    });
    expect(
      pricer.settle(model([]), { amount: { currency: 'credit:kie', micros: 20_000_000 } }, {}, undefined),
    ).toMatchObject({ source: 'vendor', cnyMicros: 710_000 });
  });

  it('what nobody knows is 0 and says so', () => {
    expect(pricer.settleFailed(model([]), {}, {})).toMatchObject({ source: 'unknown', cnyMicros: 0 });
  });

  it('a day begins at midnight of the zone', () => {
    const start = createDayStart('Asia/Shanghai')(Date.UTC(2026, 5, 1, 17, 30));
    expect(new Date(start).toISOString()).toBe('2026-06-01T16:00:00.000Z');
  });
});
