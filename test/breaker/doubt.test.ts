import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { attemptId } from '../../src/kernel/index.ts';
import { type Breaker, ledgerDrift, openBreaker, rowCost, told } from './kit.ts';

// The real program on a busy machine.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

/** Five rows whose paid call kie accepted, and then let the answer drop; each is settled in another way. */
describe('a paid call without an answer', () => {
  let breaker: Breaker;
  let rows: readonly string[] = [];
  let calls: readonly string[] = [];
  const tasks = (): number => breaker.outside.sandbox.books.acceptedTasks().length;

  beforeAll(async () => {
    breaker = await openBreaker();
    breaker.outside.sandbox.faults.add({ endpoint: 'kie.createTask', count: 5, action: { kind: 'drop-after' } });
    rows = await Promise.all(Array.from({ length: 5 }, async () => await breaker.row()));
    breaker.start();
    for (const recordId of rows) await breaker.until(recordId, '待核对');
    calls = rows.map((recordId) => /调用号 ([0-9a-f-]+)/.exec(breaker.text(recordId, '报错'))?.[1] ?? '');
  }, 60_000);
  afterAll(async () => {
    await breaker.close();
  });

  it('stands in 待核对, names vendor, call and sum, and alerts once with what to do', async () => {
    expect(breaker.text(rows[0] ?? '', '报错')).toMatch(/kie.*约 18 积分.*调用号/);
    await breaker.wait('the alert', () => told(breaker));
    expect(breaker.alerts().pushes).toEqual(['有付费调用待核对：kie']);
    expect(breaker.alerts().group[0]).toMatch(/npx gridloom resolve [0-9a-f-]+ --accepted/);
    expect(tasks()).toBe(5);
  });

  it('resolve --accepted brings the result into the row; the same task cannot serve another call', async () => {
    const taskId = await taskOf(0);
    const resolved = await breaker.command('resolve', calls[0] ?? '', '--accepted', taskId);
    expect(resolved.code, resolved.output).toBe(0);
    expect(resolved.output).toContain(`attempt ${calls[0]} is taken up as task ${taskId}`);
    await breaker.until(rows[0] ?? '', '待确认');
    const again = await breaker.command('resolve', calls[1] ?? '', '--accepted', taskId);
    expect(again.code).toBe(1);
    expect(breaker.text(rows[1] ?? '', '状态')).toBe('待核对');
    expect(tasks()).toBe(5);
  });

  it('resolve --not-accepted frees the row, which buys once more', async () => {
    const before = tasks();
    expect(await breaker.command('resolve', calls[1] ?? '', '--not-accepted')).toMatchObject({ code: 0 });
    await breaker.until(rows[1] ?? '', '待确认');
    expect(tasks() - before).toBe(1);
  });

  it('提交 buys exactly once more, and tells the operator of no new trouble', async () => {
    const before = tasks();
    breaker.type(rows[2] ?? '', { 操作: '提交' });
    await breaker.until(rows[2] ?? '', '待确认');
    expect(tasks() - before).toBe(1);
    expect(breaker.alerts().pushes).toEqual(['有付费调用待核对：kie']);
  });

  it('取消 ends it without a purchase; 提交 beside a hand-made file buys nothing and names what it lacks', async () => {
    const before = tasks();
    breaker.type(rows[3] ?? '', { 操作: '取消' });
    breaker.type(rows[4] ?? '', { 操作: '提交', 上身图: [{ file_token: await breaker.outside.picture() }] });
    await breaker.until(rows[3] ?? '', '已取消');
    await breaker.until(rows[4] ?? '', '失败');
    expect(breaker.text(rows[4] ?? '', '报错')).toMatch(/「脚本方案」「一致性关键词」是空的/);
    expect(tasks()).toBe(before);
  });

  it('成本 is the sum of what is booked, and the ledger lacks only the five calls whose answer nobody has', async () => {
    for (const recordId of rows) {
      expect(Number(breaker.text(recordId, '成本(元)'))).toBeCloseTo(await rowCost(breaker, recordId), 3);
    }
    // One of the five was taken up by its task id.
    expect(await ledgerDrift(breaker)).toEqual({ 'credit:kie': -4 * 18_000_000 });
  });

  async function taskOf(index: number): Promise<string> {
    const store = breaker.store();
    const request = JSON.stringify((await store.attempt(attemptId(calls[index] ?? '')))?.request);
    await store.close();
    const sources = breaker.outside.sandbox.books
      .acceptedTasks()
      .filter((task) => /"image_input":\["([^"]+)"/.exec(JSON.stringify(task.request))?.[1] !== undefined)
      .find((task) => request.includes(/"image_input":\["([^"]+)"/.exec(JSON.stringify(task.request))?.[1] ?? '?'));
    return sources?.taskId ?? '';
  }
});
