import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Breaker, ledgerDrift, openBreaker, rowCost } from './kit.ts';

// The real program on a busy machine.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

/** Rows in one running program: what staff do while it works. */
describe('people at the table', () => {
  let breaker: Breaker;
  const tasks = (): number => breaker.outside.sandbox.books.acceptedTasks().length;
  const say = async (recordId: string, word: string): Promise<void> => {
    breaker.type(recordId, { 操作: word });
    await breaker.wait(`${word} taken`, () => breaker.text(recordId, '操作') === '');
  };

  beforeAll(async () => {
    breaker = await openBreaker();
    breaker.start();
  });
  afterAll(async () => {
    await breaker.close();
  });

  it('取消 while the vendor works: the late picture is kept, and 提交 takes it up with its texts without paying again', async () => {
    breaker.outside.sandbox.faults.add({
      endpoint: 'kie.createTask',
      action: { kind: 'fate', fate: { durationMs: 2_000 } },
    });
    const recordId = await breaker.row();
    await breaker.wait('the task', () => tasks() === 1);
    await say(recordId, '取消');
    await breaker.until(recordId, '已取消');
    await breaker.wait('the late picture', () => breaker.files(recordId, '上身图').length === 1);
    expect(breaker.text(recordId, '脚本方案')).toBe('');
    await say(recordId, '提交');
    await breaker.until(recordId, '待确认');
    expect(tasks()).toBe(1);
    expect(breaker.text(recordId, '脚本方案')).not.toBe('');
    expect(breaker.files(recordId, '上身图')).toHaveLength(1);
  });

  it('取消 while the submit is unanswered: the task is awaited, booked, and never bought anew', async () => {
    breaker.outside.sandbox.faults.add({
      endpoint: 'kie.createTask',
      action: { kind: 'delay-answer', delayMs: 1_500 },
    });
    const before = tasks();
    const recordId = await breaker.row();
    await breaker.wait('the task', () => tasks() > before);
    await say(recordId, '取消');
    await breaker.until(recordId, '已取消');
    await breaker.wait('its charge', async () => (await rowCost(breaker, recordId)) > 0);
    expect(tasks() - before).toBe(1);
  });

  it('提交 typed again and again is one purchase', async () => {
    const before = tasks();
    const recordId = await breaker.row();
    let typed = 0;
    await breaker.wait('eight words', () => {
      if (breaker.text(recordId, '操作') === '') {
        breaker.type(recordId, { 操作: '提交' });
        typed += 1;
      }
      return typed === 8 || breaker.text(recordId, '状态') === '待确认';
    });
    await breaker.until(recordId, '待确认');
    expect(tasks() - before).toBe(1);
  });

  it('one shot is refused for good: the others are attached, the row says which and why, 提交 makes only that one', async () => {
    const recordId = await breaker.row();
    await breaker.until(recordId, '待确认');
    breaker.outside.sandbox.faults.add({
      endpoint: 'kie.createTask',
      skip: 1,
      action: { kind: 'answer', status: 200, body: { code: 422, msg: 'content policy: this shot is not allowed' } },
    });
    const before = tasks();
    await say(recordId, '通过');
    await breaker.until(recordId, '失败');
    const shots = tasks() - before;
    expect(breaker.text(recordId, '报错')).toMatch(/第 \d 项失败（内容被厂商审核拦截.*再选「提交」只补缺的部分/);
    // The overview goes first.
    expect(breaker.files(recordId, '分镜图')).toHaveLength(shots + 1);
    await say(recordId, '提交');
    await breaker.until(recordId, '待确认');
    expect(tasks() - before - shots).toBe(1);
    expect(breaker.alerts().pushes).toEqual([]);
  });

  it('after all of it the ledger is the bill, and 成本 is the ledger', async () => {
    await breaker.wait('the books', async () => Object.keys(await ledgerDrift(breaker)).length === 0);
    const { table } = breaker.outside.sandbox;
    for (const recordId of table.recordIds(breaker.outside.table)) {
      await breaker.wait('its cost', async () => {
        const cost = await rowCost(breaker, recordId);
        return Math.abs(Number(breaker.text(recordId, '成本(元)')) - cost) < 0.001;
      });
    }
  });
});
