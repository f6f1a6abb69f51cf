import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startWorkerProcess, type WorkerProcess } from '../support/worker-process.ts';
import { type Breaker, ledgerDrift, openBreaker, rowCost, told } from './kit.ts';

let breaker: Breaker;
let other: WorkerProcess | undefined;
beforeEach(async () => {
  breaker = await openBreaker();
});
afterEach(async () => {
  await other?.kill();
  other = undefined;
  await breaker.close();
});

describe('more than one life of the program', () => {
  it('a second installation notices the first before it buys anything, says so, and takes over when told to', async () => {
    const { books, faults } = breaker.outside.sandbox;
    faults.add({ endpoint: 'kie.createTask', action: { kind: 'fate', fate: { durationMs: 60_000 } } });
    const recordId = await breaker.row();
    breaker.start();
    await breaker.wait('the task', () => books.acceptedTasks().length === 1);
    const tag = breaker.text(recordId, '执行编号').split('@')[1] ?? '';
    const env = { ...breaker.outside.env, GRIDLOOM_DATA_DIR: `${breaker.outside.dataDir}/second` };
    other = startWorkerProcess(env);
    await breaker.wait('the alert', () => told(breaker));
    expect(breaker.alerts().pushes).toEqual(['同一张表被另一套程序占用，已停止接单']);
    expect(breaker.alerts().group[0]).toContain(`GRIDLOOM_INSTANCE 设为 ${tag}`);

    await breaker.worker().kill();
    const fresh = await breaker.row();
    const searches = (): number => books.calls()['feishu.records.search'] ?? 0;
    const seen = searches();
    await breaker.wait('several looks at the tables', () => searches() - seen > 12);
    await other.kill();
    expect(breaker.text(fresh, '操作')).toBe('提交');
    expect(books.acceptedTasks()).toHaveLength(1);

    other = startWorkerProcess({ ...env, GRIDLOOM_INSTANCE: tag });
    await breaker.until(fresh, '待确认');
    expect(books.acceptedTasks()).toHaveLength(2);
  }, 90_000);

  it('killed eight times at any moment, three rows end with what they cost booked once', async () => {
    const { books } = breaker.outside.sandbox;
    const rows = [await breaker.row(), await breaker.row(), await breaker.row()];
    breaker.start();
    let kills = 0;
    let lifeMs = 900;
    let bornAt = performance.now();
    await breaker.wait(
      'every row at its end',
      async () => {
        for (const recordId of rows) {
          const isWaiting = breaker.text(recordId, '状态') === '待确认' && breaker.text(recordId, '操作') === '';
          if (isWaiting) breaker.type(recordId, { 操作: '通过' });
        }
        if (kills < 8 && performance.now() - bornAt > lifeMs) {
          await breaker.worker().kill();
          kills += 1;
          // Other moments each time; long enough to get anywhere.
          lifeMs = 1_000 + ((kills * 577) % 1_400);
          breaker.start();
          bornAt = performance.now();
        }
        return rows.every((recordId) => ['完成', '待核对'].includes(breaker.text(recordId, '状态')));
      },
      60_000,
    );
    // One picture, four shots, one film a row; a call that a kill left in doubt is in the bill, not yet in the ledger.
    const done = rows.filter((recordId) => breaker.text(recordId, '状态') === '完成');
    if (done.length === rows.length) {
      expect(books.acceptedTasks()).toHaveLength(18);
      expect(await ledgerDrift(breaker)).toEqual({});
    }
    expect(books.acceptedTasks().length).toBeLessThanOrEqual(18);
    for (const recordId of done) {
      expect(breaker.files(recordId, '视频')).toHaveLength(1);
      expect(Number(breaker.text(recordId, '成本(元)'))).toBeCloseTo(await rowCost(breaker, recordId), 3);
    }
  }, 90_000);
});
