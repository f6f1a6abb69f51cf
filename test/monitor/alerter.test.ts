import { describe, expect, it } from 'vitest';
import { StorageError } from '../../src/engine/ports/index.ts';
import { createAlerter } from '../../src/monitor/index.ts';
import { createFakeChannel, createKit, type FakeChannel, type Kit } from './kit.ts';

const cooldownMs = 600_000;

function makeAlerter(kit: Kit, channel: FakeChannel) {
  return createAlerter({ ...kit, channels: [channel], cooldownMs });
}

const balance = { title: '余额不足：kie', text: '剩余 81 积分，请充值。', severity: 'warning' } as const;

describe('alerter', () => {
  it('tells a new trouble at once, and folds the same title for the cooldown with a count', async () => {
    const kit = createKit();
    const channel = createFakeChannel();
    const alerter = makeAlerter(kit, channel);
    alerter.start();
    for (let index = 0; index < 40; index += 1) await alerter.alert(balance);
    await kit.clock.advance(0);
    expect(channel.sent.map((message) => message.title)).toEqual(['余额不足：kie']);

    await kit.clock.advance(cooldownMs + 61_000);
    expect(channel.sent).toHaveLength(2);
    expect(channel.sent[1]?.title).toBe('余额不足：kie（又 39 次）');
    expect(channel.sent[1]?.text).toBe(balance.text);
  });

  it('says nothing more once a folded trouble has stopped', async () => {
    const kit = createKit();
    const channel = createFakeChannel();
    const alerter = makeAlerter(kit, channel);
    alerter.start();
    await alerter.alert(balance);
    await kit.clock.advance(5 * cooldownMs);
    expect(channel.sent).toHaveLength(1);
  });

  it('keeps the cooldown over a restart (P169)', async () => {
    const kit = createKit();
    const channel = createFakeChannel();
    for (let start = 0; start < 10; start += 1) {
      const alerter = makeAlerter(kit, channel);
      alerter.start();
      await alerter.alert({ title: '主循环出错', text: '数据库打不开', severity: 'fatal' });
      await kit.clock.advance(30_000);
      await alerter.stop(1_000);
    }
    expect(channel.sent).toHaveLength(1);
    const last = makeAlerter(kit, channel);
    last.start();
    await kit.clock.advance(cooldownMs + 61_000);
    expect(channel.sent[1]?.title).toBe('主循环出错（又 9 次）');
  });

  it('sends after a restart what was recorded but not delivered before the crash', async () => {
    const kit = createKit();
    const dead = createFakeChannel();
    dead.answer = { kind: 'failed', reason: 'no network' };
    const first = makeAlerter(kit, dead);
    first.start();
    await first.alert(balance);
    await kit.clock.advance(0);

    const channel = createFakeChannel();
    const second = makeAlerter(kit, channel);
    second.start();
    await kit.clock.advance(61_000);
    expect(channel.sent.map((message) => message.title)).toEqual([balance.title]);
  });

  it('tries a refused message again, then gives up and shows it as failed', async () => {
    const kit = createKit();
    const channel = createFakeChannel();
    channel.answer = { kind: 'failed', reason: 'pushplus 999' };
    const alerter = makeAlerter(kit, channel);
    alerter.start();
    await alerter.alert(balance);
    await kit.clock.advance(3_600_000);
    expect(alerter.recent()[0]?.channels).toEqual({ fake: 'failed: pushplus 999' });
  });

  it('rests when the only channel that was still owed a message is configured no more', async () => {
    const kit = createKit();
    const dead = createFakeChannel('pushplus');
    dead.answer = { kind: 'failed', reason: 'no network' };
    const first = makeAlerter(kit, dead);
    first.start();
    await first.alert(balance);
    await first.stop(1_000);
    const alerter = makeAlerter(kit, createFakeChannel('feishu-group'));
    alerter.start();
    await kit.clock.advance(2 * cooldownMs);
    expect(kit.clock.nextDueInMs()).toBeUndefined();
  });

  it('tells of the end of a condition once, and only if it had been raised', async () => {
    const kit = createKit();
    const channel = createFakeChannel();
    const alerter = makeAlerter(kit, channel);
    alerter.start();
    const end = { key: 'balance:kie', title: '余额已恢复：kie', text: '剩余 900 积分。' };
    await alerter.recover(end);
    await kit.clock.advance(0);
    expect(channel.sent).toHaveLength(0);

    await alerter.alert({ ...balance, key: 'balance:kie' });
    expect(alerter.raised().map((entry) => entry.key)).toEqual(['balance:kie']);
    await alerter.recover(end);
    await alerter.recover(end);
    await kit.clock.advance(cooldownMs * 2);
    expect(channel.sent.map((message) => message.title)).toEqual(['余额不足：kie', '余额已恢复：kie']);
    expect(alerter.raised()).toEqual([]);
  });

  it('never throws and never rejects: a full disk and a throwing channel leave the work alone', async () => {
    const kit = createKit();
    const store = { ...kit.store, commit: () => Promise.reject(new StorageError('disk full')) };
    const channel = { ...createFakeChannel(), send: () => Promise.reject(new Error('boom')) };
    const alerter = createAlerter({ ...kit, store, channels: [channel], cooldownMs });
    alerter.start();
    await expect(alerter.alert(balance)).resolves.toBeUndefined();
    await expect(alerter.recover({ key: 'x', title: 'x', text: 'x' })).resolves.toBeUndefined();
    await kit.clock.advance(cooldownMs * 2);
    await expect(alerter.stop(1_000)).resolves.toBeUndefined();
  });

  it('turns a storm of 500 different failures into at most five messages that name causes and counts', async () => {
    const kit = createKit();
    const channel = createFakeChannel();
    const alerter = makeAlerter(kit, channel);
    alerter.start();
    const kinds = ['厂商限流', '厂商繁忙', '连不上厂商', '厂商生成失败', '模型返回的内容不合格', '厂商余额不足'];
    for (let index = 0; index < 500; index += 1) {
      await alerter.alert({
        title: `任务失败：${kinds[index % kinds.length] ?? ''}`,
        text: `执行 ${index}：稍后再选「提交」。`,
        severity: 'warning',
      });
      await kit.clock.advance(600);
    }
    await kit.clock.advance(2 * cooldownMs);
    expect(channel.sent.length).toBeGreaterThanOrEqual(3);
    expect(channel.sent.length).toBeLessThanOrEqual(5);
    const told = channel.sent.map((message) => `${message.title}\n${message.text}`).join('\n');
    for (const kind of kinds) expect(told).toContain(kind);
    const total = alerter.recent().reduce((sum, entry) => sum + entry.count, 0);
    expect(total).toBe(500);
  });

  it('folds a storm of 500 distinct titles too, and says how many kinds it left out', async () => {
    const kit = createKit();
    const channel = createFakeChannel();
    const alerter = makeAlerter(kit, channel);
    alerter.start();
    for (let index = 0; index < 500; index += 1)
      await alerter.alert({ title: `异常 ${index}`, text: '请查看日志。', severity: 'error' });
    await kit.clock.advance(3 * cooldownMs);
    expect(channel.sent.length).toBeLessThanOrEqual(5);
    expect(channel.sent.at(-1)?.text).toMatch(/其余 \d+ 类，共 \d+ 次/);
    expect(alerter.recent().reduce((sum, entry) => sum + entry.count, 0)).toBe(500);
  });

  it('lets a fatal alert pass a storm', async () => {
    const kit = createKit();
    const channel = createFakeChannel();
    const alerter = makeAlerter(kit, channel);
    alerter.start();
    for (let index = 0; index < 50; index += 1)
      await alerter.alert({ title: `异常 ${index}`, text: '请查看日志。', severity: 'error' });
    await alerter.alert({ title: '主循环停摆', text: '进程将重启。', severity: 'fatal' });
    await kit.clock.advance(0);
    expect(channel.sent.map((message) => message.title)).toContain('主循环停摆');
  });
});
