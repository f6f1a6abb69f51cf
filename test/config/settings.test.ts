import { describe, expect, it } from 'vitest';
import { faultsOf, loadGood, shippedText } from './installation.ts';

const settings = shippedText('config/gridloom.yaml');
const edited = (from: string, to: string): Record<string, string> => {
  if (!settings.includes(from)) throw new Error(`no "${from}" in config/gridloom.yaml`);
  return { 'config/gridloom.yaml': settings.replace(from, to) };
};

describe('settings', () => {
  it('has the contract’s defaults', async () => {
    const read = (await loadGood()).settings;
    expect(read.poll.interval).toBe(30_000);
    expect(read.poll.sweep_interval).toBe(600_000);
    expect(read.retry).toEqual({ attempts: 3, delay: 3_000 });
    expect(read.timeouts).toMatchObject({
      connect: 15_000,
      submit: 180_000,
      query: 30_000,
      text: 180_000,
      transfer_idle: 60_000,
    });
    expect(read.vendor_poll.video).toEqual({ first: 30_000, interval: 10_000, deadline: 1_800_000 });
    expect(read.transfer.max_bytes).toBe(2 * 1024 ** 3);
    expect(read.limits.max_paid_calls).toBe(6);
    expect(read.unknown_outcome).toEqual({ text: 'retry', image: 'hold', video: 'hold' });
  });

  it('takes every scalar from the environment, in its type', async () => {
    const read = (
      await loadGood({
        GRIDLOOM__POLL__INTERVAL: '200ms',
        GRIDLOOM__FEISHU__WAKEUPS: '0',
        GRIDLOOM__FEISHU__PLAN: 'paid',
        GRIDLOOM__LIMITS__MAX_PAID_CALLS: '2',
        GRIDLOOM__LIMITS__DAILY_COST__TRY_ON: '12.50',
        GRIDLOOM__LIMITS__RATE__KIE: '5/1s',
        GRIDLOOM__LIMITS__CONCURRENCY__LLM_PRIMARY: '3',
        GRIDLOOM__LIMITS__DAILY_COST_PER_SUBMITTER: '20',
        GRIDLOOM__BALANCE__THRESHOLD__KIE: '81',
        GRIDLOOM__MONEY__RATES__USD__CNY: '7.25',
        GRIDLOOM__TRANSFER__ALLOW_HOSTS: '127.0.0.1,localhost',
      })
    ).settings;
    expect(read.poll.interval).toBe(200);
    expect(read.feishu).toMatchObject({ wakeups: false, plan: 'paid' });
    expect(read.limits.max_paid_calls).toBe(2);
    expect(read.limits.daily_cost['try-on']).toBe('12.50');
    expect(read.limits.rate['kie']).toBe('5/1s');
    expect(read.limits.concurrency['llm-primary']).toBe(3);
    expect(Number(read.limits.daily_cost_per_submitter)).toBe(20);
    expect(Number(read.balance.threshold['kie'])).toBe(81);
    expect(read.money.rates['USD']?.cny).toBe('7.25');
    expect(read.transfer.allow_hosts).toBe('127.0.0.1,localhost');
  });

  it('refuses an override that means nothing, and suggests what was meant', async () => {
    const faults = await faultsOf({
      GRIDLOOM__POLL__INTERVL: '3s',
      GRIDLOOM__LIMITS__DAILY_COST__TRYON: '1',
      GRIDLOOM__POLL: 'x',
    });
    expect(faults.join('\n')).toContain(
      'GRIDLOOM__POLL__INTERVL is no setting  did you mean "GRIDLOOM__POLL__INTERVAL"?',
    );
    expect(faults.join('\n')).toContain('did you mean "GRIDLOOM__LIMITS__DAILY_COST__TRY_ON"?');
    expect(faults).toHaveLength(3);
  });

  it('names the variable whose value does not fit', async () => {
    const faults = await faultsOf({ GRIDLOOM__RETRY__ATTEMPTS: '99', GRIDLOOM__POLL__INTERVAL: '30' });
    expect(faults.join('\n')).toMatch(/GRIDLOOM__RETRY__ATTEMPTS.*99/);
    expect(faults.join('\n')).toMatch(/GRIDLOOM__POLL__INTERVAL.*not a duration/);
  });

  it.each([
    ['  interval: 30s', '  interval: 30', /config\/gridloom\.yaml:\d+:13 {2}"poll\.interval": 30/],
    ['  wakeups: true', '  wakeup: true', /unknown key "feishu\.wakeup" {2}did you mean "wakeups"/],
    ['  submit: 180s', '  submit: 180s\n  timeout_sec: 30', /unknown key "timeouts\.timeout_sec"/],
    ['  submit: 180s', '  submit: "0s"', /timeouts\.submit is 0/],
    ['  submit: 180s', '  submit: "-1"', /"timeouts\.submit": "-1"/],
    ['  submit: 180s', '  submit: 10s', /timeouts\.connect \(15s\) is longer than timeouts\.submit \(10s\)/],
    [
      '  daily_cost: {}',
      '  daily_cost: { tryon: 5 }',
      /"limits\.daily_cost\.tryon" names nobody {2}did you mean "try-on"/,
    ],
    ['retry:\n', 'retry:\n  attempts: 2\n', /unique/i],
  ])('P159 refuses %j written as %j', async (from, to, expected) => {
    expect((await faultsOf({}, edited(from, to))).join('\n')).toMatch(expected);
  });

  it('P159 lets one override undercut a shipped default', async () => {
    expect((await loadGood({ GRIDLOOM__TIMEOUTS__SUBMIT: '2s' })).settings.timeouts.submit).toBe(2_000);
  });
});
