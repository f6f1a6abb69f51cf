import { describe, expect, it } from 'vitest';
import { type AlertInput, createEventAlerts } from '../../src/monitor/index.ts';
import { createKit, event, executionRecord, type Kit } from './kit.ts';

function setUp(kit: Kit = createKit()) {
  const alerts: AlertInput[] = [];
  const recoveries: string[] = [];
  const alerter = {
    alert: (input: AlertInput) => {
      alerts.push(input);
      return Promise.resolve();
    },
    recover: ({ key }: { key: string }) => {
      recoveries.push(key);
      return Promise.resolve();
    },
  };
  const open = () => createEventAlerts({ ...kit, alerter });
  return { kit, alerts, recoveries, open };
}

const failure = (kind: string) => ({ kind, code: '429', message: 'slow down' });

describe('event alerts', () => {
  it('starts a new installation at the end of the log, so that old trouble is not told anew', async () => {
    const { kit, alerts, open } = setUp();
    await kit.store.commit([event(kit, 'candidates-exhausted', { node: 'draw', failure: failure('overload') })]);
    const follower = open();
    await follower.catchUp();
    expect(alerts).toHaveLength(0);
    await kit.store.commit([event(kit, 'candidates-exhausted', { node: 'draw', failure: failure('overload') })]);
    await follower.catchUp();
    expect(alerts).toHaveLength(1);
  });

  it('tells what a new installation wrote before the log was first read: another one at its table, say', async () => {
    const { kit, alerts, open } = setUp();
    const follower = open();
    await kit.clock.advance(1);
    await kit.store.commit([
      event(kit, 'notice', { name: 'foreign-installation', text: '行 rec1', severity: 'error' }),
    ]);
    await follower.catchUp();
    expect(alerts).toHaveLength(1);
  });

  it('goes on where it stopped, over a restart, and tells each event once', async () => {
    const { kit, alerts, open } = setUp();
    await open().catchUp();
    await kit.store.commit([
      event(kit, 'node-held', { provider: 'kie', attemptId: 'a1', failure: failure('overdue') }),
    ]);
    await open().catchUp();
    await kit.store.commit([event(kit, 'node-started', { node: 'draw' })]);
    await open().catchUp();
    await open().catchUp();
    expect(alerts.map((alert) => alert.title)).toEqual(['有付费调用待核对：kie']);
  });

  it('is woken by commits and needs no call', async () => {
    const { kit, alerts, open } = setUp();
    const follower = open();
    follower.start();
    await kit.clock.advance(1_000);
    await kit.store.commit([event(kit, 'provider-paused', { provider: 'kie', failure: failure('balance') })]);
    await kit.clock.advance(1_000);
    expect(alerts).toMatchObject([{ title: '厂商已暂停：kie', key: 'provider:kie', severity: 'error' }]);
    expect(alerts[0]?.text).toContain('请充值');
    follower.stop();
  });

  it('ends a pause with a recovery', async () => {
    const { kit, recoveries, open } = setUp();
    await open().catchUp();
    await kit.store.commit([event(kit, 'provider-resumed', { provider: 'kie' })]);
    await open().catchUp();
    expect(recoveries).toEqual(['provider:kie']);
  });

  it.each([
    [
      'candidate-switched',
      {
        node: 'shots[3]',
        title: '逐格出图',
        from: { provider: 'kie', model: 'veo' },
        to: { provider: 'toapis', model: 'sora' },
        failure: failure('overload'),
      },
      '已切换厂商：kie/veo → toapis/sora',
    ],
    [
      'candidates-exhausted',
      { node: 'shots[3]', title: '逐格出图', failure: failure('rate-limit') },
      '全部厂商都失败了：逐格出图',
    ],
    ['node-degraded', { node: 'write', failure: failure('unavailable') }, '已降级：write'],
    ['node-held', { provider: 'kie', attemptId: 'a1', failure: failure('unknown-outcome') }, '有付费调用待核对：kie'],
    ['budget-warning', { budget: 'try-on', spent: '80', limit: '100' }, '预算已用八成：try-on'],
    ['budget-reached', { budget: 'try-on', spent: '100', limit: '100' }, '预算已用完：try-on'],
    ['status-unrecognised', { provider: 'kie', statusWord: 'baking' }, '厂商返回了未知状态：kie'],
    ['execution-ended', { status: 'failed', failure: failure('overload') }, '任务失败：厂商繁忙'],
    ['notice', { name: 'foreign-installation', text: '表 tbl1' }, '同一张表被另一套程序占用，已停止接单'],
  ] as const)('turns %s into words that say what to do', async (type, data, title) => {
    const { kit, alerts, open } = setUp();
    await open().catchUp();
    const execution = executionRecord(kit);
    await kit.store.commit([event(kit, type, data, type === 'notice' ? undefined : execution)]);
    await open().catchUp();
    expect(alerts.map((alert) => alert.title)).toEqual([title]);
    expect(alerts[0]?.text.length).toBeGreaterThan(5);
    expect(alerts[0]?.text).not.toContain('slow down');
    expect(alerts[0]?.text).not.toMatch(/undefined|\[object/);
  });

  it('leaves the operator alone with what staff caused', async () => {
    const { kit, alerts, open } = setUp();
    await open().catchUp();
    for (const kind of ['invalid-input', 'content-policy', 'canceled'])
      await kit.store.commit([event(kit, 'execution-ended', { status: 'failed', failure: failure(kind) })]);
    await kit.store.commit([event(kit, 'execution-ended', { status: 'succeeded' })]);
    await open().catchUp();
    expect(alerts).toHaveLength(0);
  });

  it('tells of a degradation once, not also of the exhaustion before it', async () => {
    const { kit, alerts, open } = setUp();
    await open().catchUp();
    const [one, other] = [executionRecord(kit), executionRecord(kit)];
    const facts = { node: 'write', title: '构思', failure: failure('output-invalid') };
    await kit.store.commit([
      event(kit, 'candidates-exhausted', facts, other),
      event(kit, 'candidates-exhausted', facts, one),
      event(kit, 'node-degraded', facts, one),
    ]);
    await open().catchUp();
    expect(alerts.map((alert) => alert.title)).toEqual(['全部厂商都失败了：构思', '已降级：构思']);
  });

  it('reads a backlog of thousands of events in one go', async () => {
    const { kit, alerts, open } = setUp();
    await open().catchUp();
    for (let index = 0; index < 12; index += 1)
      await kit.store.commit(
        Array.from({ length: 100 }, () => event(kit, 'candidate-switched', { from: 'kie', to: 'toapis' })),
      );
    await open().catchUp();
    expect(alerts).toHaveLength(1_200);
  });
});

describe('event alerts of calls in doubt', () => {
  it('leaves out what the vendor can be asked about, and tells of a second purchase by policy as a warning', async () => {
    const { kit, alerts, open } = setUp();
    await open().catchUp();
    const facts = { provider: 'toapis', attemptId: 'a1', failure: failure('unknown-outcome') };
    await kit.store.commit([event(kit, 'attempt-unknown', { ...facts, handling: 'find', policy: 'hold' })]);
    await kit.store.commit([event(kit, 'attempt-unknown', { ...facts, handling: 'retry', policy: 'retry' })]);
    await open().catchUp();
    expect(alerts).toMatchObject([{ severity: 'warning', title: '结果不明，已按策略重买：toapis' }]);
  });

  it('names no person where the budget of a submitter is spent', async () => {
    const { kit, alerts, open } = setUp();
    await open().catchUp();
    const data = { scope: 'submitter', budget: 'ou_7d8a6e', spentCny: '50.0000', limitCny: '50.0000' };
    await kit.store.commit([event(kit, 'budget-reached', data)]);
    await open().catchUp();
    expect(JSON.stringify(alerts)).not.toContain('ou_7d8a6e');
    expect(alerts[0]?.text).toContain('50.0000 / 50.0000');
  });
});
