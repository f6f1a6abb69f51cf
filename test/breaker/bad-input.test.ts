import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Breaker, ledgerDrift, openBreaker, told } from './kit.ts';

// The real program on a busy machine.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

let breaker: Breaker;
beforeEach(async () => {
  breaker = await openBreaker();
});
afterEach(async () => {
  await breaker.close();
});

describe('what staff or operator get wrong', () => {
  it('no picture, an empty one, a text named .png, 60 MB: 失败 with words for staff, and nobody is paid', async () => {
    const { table } = breaker.outside.sandbox;
    const upload = async (bytes: Uint8Array): Promise<string> =>
      table.createRow(breaker.outside.table, {
        产品图: [{ file_token: await table.uploadFile('裙.png', bytes) }],
        操作: '提交',
      });
    const huge = new Uint8Array(60 * 1024 * 1024);
    huge.set((await table.fileBytes(await breaker.outside.picture())) ?? []);
    const rows: [string, RegExp][] = [
      [table.createRow(breaker.outside.table, { 操作: '提交' }), /请先在「产品图」里放/],
      [await upload(new Uint8Array(0)), /空文件（0 字节）/],
      [await upload(new TextEncoder().encode('no picture at all '.repeat(40))), /不是可用的图片/],
      [await upload(huge), /太大（60 MB，上限 30 MB）/],
    ];
    breaker.start();
    for (const [recordId, words] of rows) {
      await breaker.until(recordId, '失败');
      expect(breaker.text(recordId, '报错')).toMatch(words);
      expect(breaker.text(recordId, '报错')).toContain('再选「提交」');
    }
    expect(breaker.outside.sandbox.books.billTotals()).toEqual({});
    expect(breaker.outside.sandbox.books.acceptedTasks()).toEqual([]);
  });

  it("P102 a vendor's web page in place of the film: fetched again, never made again; 提交 only fetches", async () => {
    const { faults, books } = breaker.outside.sandbox;
    const recordId = await breaker.row();
    breaker.start();
    await breaker.until(recordId, '待确认');
    breaker.type(recordId, { 操作: '通过' });
    await breaker.wait('the storyboard', () => breaker.files(recordId, '分镜图').length > 0);
    await breaker.until(recordId, '待确认');
    const page = faults.add({
      endpoint: 'files.download',
      count: Number.POSITIVE_INFINITY,
      action: { kind: 'answer', status: 200, body: '<!doctype html><html>please log in</html>' },
    });
    breaker.type(recordId, { 操作: '通过' });
    await breaker.until(recordId, '失败');
    expect(breaker.text(recordId, '报错')).toContain('再选「提交」只重传，不会重新生成');
    expect(page.hits()).toBeGreaterThan(1);
    const bought = books.acceptedTasks().length;
    page.remove();
    breaker.type(recordId, { 操作: '提交' });
    await breaker.until(recordId, '完成');
    expect(books.acceptedTasks()).toHaveLength(bought);
    expect(await ledgerDrift(breaker)).toEqual({});
    await breaker.wait('the alert', () => told(breaker));
    expect(breaker.alerts().pushes).toEqual(['任务失败：结果传输失败']);
  });

  it.each([
    ['a secret', { FEISHU_APP_SECRET: 'nope' }, /凭证（飞书代码 10014）.*FEISHU_APP_SECRET/],
    ['a table', { TRY_ON_TABLE_ID: 'tblNotThere000001' }, /tblNotThere000001 不存在.*TRY_ON_TABLE_ID/],
  ])('%s that Feishu does not know ends the start with 78 and what to mend', async (_what, wrong, words) => {
    const worker = breaker.start(wrong);
    expect(await worker.ended).toMatchObject({ code: 78 });
    await breaker.wait('its words', () => worker.output() !== '');
    expect(worker.output()).toMatch(words);
    expect(worker.output().trim().split('\n')).toHaveLength(1);
  });
});
