import { describe, expect, it } from 'vitest';
import type { Balance, Failure, Provider } from '../../src/contract/index.ts';
import type { Result } from '../../src/kernel/index.ts';
import { type AlertInput, createBalancePatrol } from '../../src/monitor/index.ts';
import { attemptRecord, chargeRecord, createKit, executionRecord, type Kit } from './kit.ts';

const money = {
  rates: { CNY: { cny: '1', dated: '2026-11-30' }, USD: { cny: '7.10', dated: '2026-11-30' } },
  credit: { kie: { amount: '0.005', currency: 'USD', dated: '2026-08-19' } },
};

type Answer = Result<Balance, Failure>;

function setUp(
  threshold: Record<string, string | number>,
  options: { readonly exclusive?: boolean; readonly kit?: Kit } = {},
) {
  const kit = options.kit ?? createKit();
  const alerts: AlertInput[] = [];
  const recoveries: string[] = [];
  let answer: () => Promise<Answer> = () => Promise.resolve(credits(1_000));
  const provider: Provider = { account: 'kie', adapters: [], balance: () => answer() };
  const patrol = createBalancePatrol({
    ...kit,
    alerter: {
      alert: (input) => {
        alerts.push(input);
        return Promise.resolve();
      },
      recover: ({ key }) => {
        recoveries.push(key);
        return Promise.resolve();
      },
    },
    providers: () => new Map([['kie', provider]]),
    settings: { balance: { interval: 300_000, threshold }, money },
    isExclusive: () => options.exclusive ?? false,
  });
  return {
    kit,
    alerts,
    recoveries,
    patrol,
    answerWith: (next: Answer | (() => Promise<Answer>)) => {
      answer = typeof next === 'function' ? next : () => Promise.resolve(next);
    },
  };
}

const credits = (count: number, usable?: boolean): Answer => ({
  ok: true,
  value: {
    provider: 'kie',
    remaining: { currency: 'credit:kie', micros: count * 1_000_000 },
    ...(usable === undefined ? {} : { usable }),
  },
});

async function spend(kit: Kit, count: number, creditsEach: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const execution = executionRecord(kit);
    const attempt = attemptRecord(kit, execution);
    await kit.store.commit([
      { type: 'create-execution', record: execution },
      { type: 'create-attempt', record: attempt, epoch: 0 },
      {
        type: 'create-charge',
        record: chargeRecord(kit, attempt, { amount: { currency: 'credit:kie', micros: creditsEach * 1_000_000 } }),
      },
    ]);
  }
}

describe('balance patrol', () => {
  it('takes the vendor threshold before the global one', async () => {
    const low = setUp({ default: '1CNY', kie: 2_000 });
    await low.patrol.look();
    expect(low.alerts.map((alert) => alert.title)).toEqual(['余额不足：kie']);

    const enough = setUp({ default: '100000CNY', kie: 500 });
    await enough.patrol.look();
    expect(enough.alerts).toHaveLength(0);
  });

  it('holds credits against a threshold in yuan at the dated rates', async () => {
    // 1,000 credits are 5 USD, 35.50 yuan.
    const below = setUp({ default: '36CNY' });
    await below.patrol.look();
    expect(below.alerts).toHaveLength(1);
    const above = setUp({ default: '35CNY' });
    await above.patrol.look();
    expect(above.alerts).toHaveLength(0);
  });

  it('says for how many more calls it will do', async () => {
    const { kit, alerts, patrol, answerWith } = setUp({ kie: 100 });
    await spend(kit, 4, 12);
    answerWith(credits(81));
    const [view] = await patrol.look();
    expect(view).toMatchObject({ callsLeft: 6, isLow: true });
    expect(alerts[0]?.text).toContain('剩余 81 积分');
    expect(alerts[0]?.text).toContain('6 次调用');
  });

  it('believes a vendor that calls the account unusable, whatever the number says', async () => {
    const { alerts, patrol, answerWith } = setUp({ kie: 10 });
    answerWith(credits(1_000, false));
    await patrol.look();
    expect(alerts).toMatchObject([{ severity: 'error', key: 'balance:kie' }]);
  });

  it('tells of the recovery after a top-up', async () => {
    const { alerts, recoveries, patrol, answerWith } = setUp({ kie: 500 });
    answerWith(credits(81));
    await patrol.look();
    answerWith(credits(5_000));
    await patrol.look();
    expect(alerts).toHaveLength(1);
    expect(recoveries).toContain('balance:kie');
  });

  it('gives up on a vendor that never answers, and goes on with the next round', async () => {
    const { kit, patrol, answerWith } = setUp({ kie: 500 });
    answerWith(() => new Promise<Answer>(() => undefined));
    patrol.start();
    await kit.clock.advance(31_000);
    answerWith(credits(900));
    await kit.clock.advance(301_000);
    expect(patrol.view()[0]).toMatchObject({ remainingMicros: 900_000_000 });
    patrol.stop();
    expect(kit.clock.nextDueInMs()).toBeUndefined();
  });

  it('tells of a refused key at once, of other failures after six rounds, and keeps the last known number', async () => {
    const { alerts, patrol, answerWith } = setUp({ kie: 10 });
    await patrol.look();
    answerWith({ ok: false, failure: { kind: 'network', code: 'ECONNRESET', message: 'reset' } });
    for (let round = 0; round < 8; round += 1) await patrol.look();
    expect(alerts.map((alert) => alert.title)).toEqual(['余额查不到：kie']);
    expect(patrol.view()[0]).toMatchObject({ remainingMicros: 1_000_000_000, fault: 'network' });
    answerWith({ ok: false, failure: { kind: 'auth', code: '401', message: 'no' } });
    await patrol.look();
    expect(alerts.at(-1)?.title).toBe('余额查询被拒：kie');
  });

  it('alerts of drift on an exclusive account when the balance falls faster than the ledger, twice in a row', async () => {
    const { kit, alerts, patrol, answerWith } = setUp({ kie: 10 }, { exclusive: true });
    await patrol.look();
    await kit.clock.advance(300_000);
    await spend(kit, 5, 10);
    answerWith(credits(900));
    await patrol.look();
    expect(alerts).toHaveLength(0);
    await kit.clock.advance(300_000);
    await patrol.look();
    expect(alerts.map((alert) => alert.title)).toEqual(['账目对不上：kie']);
    expect(alerts[0]?.text).toContain('50 积分');
  });

  it('does not alert of drift on a shared account, nor when ledger and balance agree', async () => {
    const shared = setUp({ kie: 10 });
    await shared.patrol.look();
    shared.answerWith(credits(700));
    await shared.patrol.look();
    await shared.patrol.look();
    expect(shared.alerts).toHaveLength(0);
    expect(shared.patrol.view()[0]?.driftMicros).toBe(300_000_000);

    const exact = setUp({ kie: 10 }, { exclusive: true });
    await exact.patrol.look();
    await exact.kit.clock.advance(300_000);
    await spend(exact.kit, 30, 10);
    exact.answerWith(credits(700));
    for (let round = 0; round < 3; round += 1) await exact.patrol.look();
    expect(exact.alerts).toHaveLength(0);
  });

  it('keeps its curve over a restart, thinned to one point each half hour', async () => {
    const { kit, patrol } = setUp({ kie: 10 });
    for (let round = 0; round < 24; round += 1) {
      await patrol.look();
      await kit.clock.advance(300_000);
    }
    const [view] = await setUp({ kie: 10 }, { kit }).patrol.look();
    expect(view?.curve.length).toBeGreaterThanOrEqual(5);
    expect(view?.curve.length).toBeLessThanOrEqual(7);
  });
});
