import { afterEach, describe, expect, it } from 'vitest';
import { type AlertInput, createCalendar, createDailySummary } from '../../src/monitor/index.ts';
import { attemptRecord, chargeRecord, createKit, executionRecord, type Kit, timezone } from './kit.ts';

/** 09:00 in Shanghai on 1 December 2026. */
const dueAt = Date.UTC(2026, 11, 1, 1);
const hostZone = process.env['TZ'];

afterEach(() => {
  if (hostZone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = hostZone;
});

function open(kit: Kit) {
  const alerts: AlertInput[] = [];
  const summary = createDailySummary({
    ...kit,
    alerter: {
      alert: (input) => {
        alerts.push(input);
        return Promise.resolve();
      },
    },
    calendar: createCalendar(timezone),
    cron: '0 9 * * *',
    balances: () => [
      {
        provider: 'kie',
        currency: 'credit:kie',
        remainingMicros: 81_000_000,
        at: 0,
        usable: true,
        isLow: true,
        fault: '',
        threshold: null,
        callsLeft: 6,
        driftMicros: 0,
        curve: [],
      },
    ],
  });
  return { alerts, summary };
}

describe('daily summary', () => {
  it('names results, money by vendor and balances of the day before', async () => {
    const kit = createKit(dueAt - 12 * 3_600_000);
    const execution = executionRecord(kit);
    const attempt = attemptRecord(kit, execution);
    await kit.store.commit([
      { type: 'create-execution', record: execution },
      { type: 'create-attempt', record: attempt, epoch: 0 },
      { type: 'create-charge', record: chargeRecord(kit, attempt) },
      { type: 'put-execution', record: { ...execution, status: 'succeeded', endedAt: kit.clock.nowMs() } },
    ]);
    await kit.clock.advance(12 * 3_600_000);
    const { alerts, summary } = open(kit);
    await summary.due();
    expect(alerts[0]?.title).toBe('日报 2026-11-30');
    expect(alerts[0]?.text).toBe(
      [
        '任务：成功 1，部分 0，失败 0，取消 0；在办 0',
        '花费：当日 ¥0.14，本月 ¥0.14',
        '厂商：kie ¥0.14（1 次）',
        '余额：kie 81 积分 ⚠偏低',
      ].join('\n'),
    );
  });

  it.each(['America/New_York', 'Europe/London', 'Asia/Shanghai'])(
    'P154 sends exactly one a Shanghai day on a host in %s, through the clock changes, however often it is called',
    async (zone) => {
      process.env['TZ'] = zone;
      const kit = createKit(Date.UTC(2026, 9, 20, 1));
      const { alerts, summary } = open(kit);
      for (let day = 0; day < 20; day += 1) {
        await summary.due();
        await summary.due();
        await kit.clock.advance(24 * 3_600_000);
      }
      expect(new Set(alerts.map((alert) => alert.title)).size).toBe(20);
      expect(alerts).toHaveLength(20);
    },
  );

  it('P156 sends what was missed once at the next start, marked late, and never twice', async () => {
    const kit = createKit(dueAt - 24 * 3_600_000);
    await open(kit).summary.due();
    await kit.clock.advance(24 * 3_600_000 + 600_000);
    const restarted = open(kit);
    await restarted.summary.catchUp();
    await restarted.summary.catchUp();
    await restarted.summary.due();
    await open(kit).summary.catchUp();
    expect(restarted.alerts.map((alert) => alert.title)).toEqual(['日报 2026-11-30（补发）']);
  });

  it('P156 has nothing to catch up before the due minute, nor on the first day of an installation', async () => {
    const early = createKit(dueAt - 600_000);
    await open(early).summary.catchUp();
    const kit = createKit(dueAt + 6 * 3_600_000);
    const { alerts, summary } = open(kit);
    await summary.catchUp();
    expect(alerts).toHaveLength(0);
    await kit.clock.advance(18 * 3_600_000);
    await summary.due();
    expect(alerts).toHaveLength(1);
  });
});
