import { describe, expect, it } from 'vitest';
import { type Fetch, Secret, TransportError } from '../../src/kernel/index.ts';
import { type AlertMessage, createCalendar, createPushplusChannel } from '../../src/monitor/index.ts';
import { createKit, type Kit, timezone } from './kit.ts';

interface Sent {
  readonly token: string;
  readonly title: string;
  readonly content: string;
}

function setUp(answers: () => Response | Error, token = 'tok-1234567890', kit: Kit = createKit()) {
  const sent: Sent[] = [];
  const fetch: Fetch = (url, init) => {
    expect(url).toBe('http://push.local/send');
    sent.push(JSON.parse(typeof init.body === 'string' ? init.body : '') as Sent);
    const answer = answers();
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  const open = () =>
    createPushplusChannel({
      ...kit,
      fetch,
      calendar: createCalendar(timezone),
      baseUrl: 'http://push.local',
      token: new Secret(token),
    });
  return { kit, sent, open, channel: open() };
}

const accepted = (): Response => Response.json({ code: 200, msg: '请求成功', data: 'x' });
const coded = (code: number) => (): Response => Response.json({ code, msg: '提示' });
const message = (index: number, severity: AlertMessage['severity'] = 'error'): AlertMessage => ({
  id: `id-${index}`,
  title: `标题 ${index}`,
  text: `内容 ${index}`,
  severity,
  at: 0,
});

describe('pushplus', () => {
  it('is silent without a token', async () => {
    const { channel, sent } = setUp(accepted, '');
    expect((await channel.send(message(1))).kind).toBe('off');
    expect(sent).toHaveLength(0);
  });

  it('P167 sends at most five a minute and asks for the rest later', async () => {
    const { channel, sent, kit } = setUp(accepted);
    const verdicts = [];
    for (let index = 0; index < 8; index += 1) verdicts.push(await channel.send(message(index)));
    expect(sent).toHaveLength(5);
    expect(verdicts[5]).toMatchObject({ kind: 'later', atMs: kit.clock.nowMs() + 60_000 });
    await kit.clock.advance(60_000);
    expect((await channel.send(message(9))).kind).toBe('sent');
  });

  it('P167 sends equal content at most three times an hour', async () => {
    const { channel, sent, kit } = setUp(accepted);
    for (let index = 0; index < 3; index += 1) await channel.send(message(1));
    expect((await channel.send(message(1))).kind).toBe('later');
    expect((await channel.send(message(2))).kind).toBe('sent');
    expect(sent).toHaveLength(4);
    await kit.clock.advance(3_600_000);
    expect((await channel.send(message(1))).kind).toBe('sent');
  });

  it('P167 stops ordinary alerts at 180 a day, keeps the rest for fatal ones, and counts on over a restart', async () => {
    const { open, sent, kit } = setUp(accepted);
    let channel = open();
    for (let index = 0; index < 181; index += 1) {
      if (index === 100) channel = open();
      await channel.send(message(index));
      await kit.clock.advance(15_000);
    }
    expect(sent).toHaveLength(180);
    for (let index = 0; index < 21; index += 1) {
      await channel.send(message(1_000 + index, 'fatal'));
      await kit.clock.advance(15_000);
    }
    expect(sent).toHaveLength(200);
    await kit.clock.advance(24 * 3_600_000);
    expect((await channel.send(message(5_000))).kind).toBe('sent');
  });

  it('P167 cuts title and content below the limits, between characters', async () => {
    const { channel, sent } = setUp(accepted);
    await channel.send({ ...message(1), title: '标'.repeat(300), text: '😀'.repeat(25_000) });
    expect(Array.from(sent[0]?.title ?? '')).toHaveLength(100);
    expect(Array.from(sent[0]?.content ?? '').length).toBeLessThanOrEqual(20_000);
    expect(sent[0]?.content.isWellFormed()).toBe(true);
  });

  it.each([[999], [500], [302], [805], [888]])('P167 takes HTTP 200 with code %i for a failed alert', async (code) => {
    const { channel } = setUp(coded(code));
    expect(await channel.send(message(1))).toMatchObject({ kind: 'failed', reason: `pushplus ${code}：提示` });
  });

  it('P167 takes an HTML answer and a lost connection for a failed alert, without throwing', async () => {
    expect((await setUp(() => new Response('<html>502</html>')).channel.send(message(1))).kind).toBe('failed');
    const lost = setUp(() => new TransportError('maybe-sent', 'ECONNRESET', 'reset'));
    expect((await lost.channel.send(message(1))).kind).toBe('failed');
  });

  it('stops for the day after 900, also over a restart', async () => {
    const { open, sent, kit } = setUp(coded(900));
    await open().send(message(1));
    expect((await open().send(message(2))).kind).toBe('later');
    expect(sent).toHaveLength(1);
    await kit.clock.advance(12 * 3_600_000);
    await open().send(message(3));
    expect(sent).toHaveLength(2);
  });

  it('never uses a token again after 903, but takes a new one', async () => {
    const { open, sent, kit } = setUp(coded(903));
    expect((await open().send(message(1))).kind).toBe('off');
    await kit.clock.advance(48 * 3_600_000);
    expect((await open().send(message(2))).kind).toBe('off');
    expect(sent).toHaveLength(1);

    const renewed = setUp(accepted, 'tok-new-0987654321', kit);
    expect((await renewed.channel.send(message(3))).kind).toBe('sent');
  });
});
