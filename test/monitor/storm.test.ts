import { describe, expect, it } from 'vitest';
import type { FeishuClient } from '../../src/feishu/index.ts';
import { type Fetch, ok, Secret } from '../../src/kernel/index.ts';
import {
  createAlerter,
  createCalendar,
  createEventAlerts,
  createGroupChannel,
  createPushplusChannel,
  createRedactor,
} from '../../src/monitor/index.ts';
import { createKit, event, executionRecord, timezone } from './kit.ts';

interface Told {
  readonly title: string;
  readonly text: string;
}

function setUp() {
  const kit = createKit();
  const pushed: Told[] = [];
  const grouped: Told[] = [];
  const fetch: Fetch = (_url, init) => {
    const { title, content } = JSON.parse(typeof init.body === 'string' ? init.body : '') as Record<string, string>;
    pushed.push({ title: title ?? '', text: content ?? '' });
    return Promise.resolve(Response.json({ code: 200, msg: 'ok' }));
  };
  const feishu: Pick<FeishuClient, 'sendText'> = {
    sendText: (_to, text) => {
      const [title = '', ...lines] = text.split('\n');
      grouped.push({ title, text: lines.join('\n') });
      return Promise.resolve(ok(undefined));
    },
  };
  const secret = new Secret('sk-live-0123456789');
  const alerter = createAlerter({
    ...kit,
    channels: [
      createPushplusChannel({
        ...kit,
        fetch,
        calendar: createCalendar(timezone),
        token: new Secret('t-123456'),
        baseUrl: 'http://p',
      }),
      createGroupChannel({ ...kit, feishu, chatId: 'oc_1' }),
    ],
    cooldownMs: 600_000,
    clean: (text) => createRedactor([secret]).text(text),
  });
  const follower = createEventAlerts({ ...kit, alerter });
  return { kit, pushed, grouped, alerter, follower, secret };
}

describe('a storm of failures', () => {
  it('of 500 rows over vendors, nodes and kinds gives at most five messages a channel, none of them useless', async () => {
    const { kit, pushed, grouped, alerter, follower } = setUp();
    alerter.start();
    follower.start();
    await kit.clock.advance(1_000);
    const kinds = ['overload', 'unavailable', 'rate-limit', 'network', 'generation-failed'];
    for (let index = 0; index < 500; index += 1) {
      const execution = executionRecord(kit);
      const failure = { kind: kinds[index % 5] ?? '', code: '503', message: `request ${index} refused` };
      const node = `shots[${index % 9}]`;
      await kit.store.commit([
        event(
          kit,
          'candidate-switched',
          {
            node,
            title: '逐格出图',
            from: { provider: 'kie', model: 'veo' },
            to: { provider: 'toapis', model: 'sora' },
            failure,
          },
          execution,
        ),
        event(kit, 'candidates-exhausted', { node, title: '逐格出图', failure }, execution),
        ...(index === 40 ? [event(kit, 'provider-paused', { provider: 'kie', failure })] : []),
        event(kit, 'execution-ended', { status: 'failed', node: '逐格出图', failure }, execution),
      ]);
      await kit.clock.advance(120);
    }
    await kit.clock.advance(1_500_000);
    for (const told of [pushed, grouped]) {
      expect(told.length).toBeGreaterThanOrEqual(2);
      expect(told.length).toBeLessThanOrEqual(5);
      expect(new Set(told.map((each) => each.title + each.text)).size).toBe(told.length);
      for (const each of told) expect(each.text).toMatch(/请|稍后|查看|npx/);
      const all = told.map((each) => each.title + each.text).join('\n');
      for (const part of ['厂商已暂停：kie', '全部厂商都失败了：逐格出图', '任务失败：厂商繁忙', '任务失败：厂商限流'])
        expect(all).toContain(part);
    }
    expect(alerter.recent().reduce((sum, each) => sum + each.count, 0)).toBe(1_501);
  });

  it('tells two channels of the same things, and one dead channel does not hold up the other', async () => {
    const { kit, pushed, alerter } = setUp();
    const dead = { name: 'dead', send: () => new Promise<never>(() => undefined), status: () => ({}) };
    expect(alerter).toBeDefined();
    const both = createAlerter({
      ...kit,
      channels: [
        dead,
        {
          name: 'ok',
          status: () => ({}),
          send: (message) => {
            pushed.push(message);
            return Promise.resolve({ kind: 'sent' });
          },
        },
      ],
      cooldownMs: 600_000,
    });
    both.start();
    await both.alert({ title: '余额不足：kie', text: '请充值。', severity: 'warning' });
    await kit.clock.advance(120_000);
    expect(pushed.map((each) => each.title)).toEqual(['余额不足：kie']);
  });

  it('P174 carries no secret, signed link or phone number into alerts', async () => {
    const { kit, pushed, grouped, alerter, secret } = setUp();
    alerter.start();
    await alerter.alert({
      title: `主循环出错 ${secret.reveal()}`,
      text: `GET https://cdn/v.mp4?X-Amz-Signature=abcd1234 ${secret.reveal()} 联系 13812345678`,
      severity: 'fatal',
    });
    await kit.clock.advance(1_000);
    const all = JSON.stringify([pushed, grouped, alerter.recent(), await kit.store.documents('monitor')]);
    expect(pushed).toHaveLength(1);
    expect(all).not.toMatch(/sk-live-0123456789|abcd1234|13812345678/);
  });
});
