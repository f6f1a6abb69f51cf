import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openPageKit, type PageKit, settled } from './browser/page-kit.ts';
import { sampleFiles } from './browser/sample.ts';
import { sampleId } from './browser/sample-id.ts';

let kit: PageKit;
beforeAll(async () => {
  kit = await openPageKit();
});
afterAll(() => kit.close());
afterEach(() => {
  kit.server.date = undefined;
});

describe('monitor page', () => {
  it('says in one headline that all is well, and shows Chinese numbers and words', async () => {
    const { page } = await kit.open(sampleFiles(Date.now()), 'now');
    await expect.poll(() => page.locator('h1').innerText()).toBe('一切正常');
    expect(await settled(page)).toMatch(/进行中[\s\S]*今日花费[\s\S]*¥62\.48/);
  });
  it('lists what is not well, with what to do', async () => {
    const { page } = await kit.open(sampleFiles(Date.now(), { trouble: true }), 'now');
    const verdict = page.locator('.verdict');
    await expect.poll(() => verdict.innerText()).toContain('有 4 件事要留意');
    const text = await verdict.innerText();
    expect(text).toContain('toapis 余额不足');
    expect(text).toContain('约还能做 6 次，请充值');
    expect(text).toContain('npx gridloom resolve');
  });
  it('P171 turns red when the file is ten minutes old, by the server clock even if the browser clock is wrong', async () => {
    const now = Date.now();
    const { page } = await kit.open(sampleFiles(now - 600_000), 'now');
    await expect.poll(() => page.locator('h1').innerText()).toMatch(/数据已 10 分.*没有更新/);
    expect(await page.locator('.verdict').getAttribute('class')).toContain('bad');
    expect(await page.title()).toMatch(/^●/);

    kit.server.date = () => now - 598_000;
    const living = await kit.open(sampleFiles(now - 600_000), 'now');
    await expect.poll(() => living.page.locator('h1').innerText()).toBe('一切正常');
  });
  it('P171 turns red by itself when the server goes away while the page is open', async () => {
    const { page } = await kit.open(sampleFiles(Date.now()), 'now');
    await expect.poll(() => page.locator('h1').innerText()).toBe('一切正常');
    await page.clock.install();
    await page.reload();
    await expect.poll(() => page.locator('h1').innerText()).toBe('一切正常');
    await page.context().setOffline(true);
    await page.clock.runFor(40_000);
    await expect.poll(() => page.locator('h1').innerText()).toContain('没有更新');
  });
  it('P171 tells a living process whose loop no longer polls from a working one', async () => {
    const files = sampleFiles(Date.now());
    const workers = [{ id: 'w1', started_at: Date.now() - 9e6, last_tick_at: Date.now() - 17 * 3_600_000 }];
    const { page } = await kit.open({ ...files, metrics: { ...files.metrics, workers } }, 'now');
    await expect.poll(() => page.locator('.verdict').innerText()).toContain('主循环没有在轮询');
  });
  it('says that there are no data when the worker has never run', async () => {
    const { page } = await kit.open(undefined, 'now');
    await expect.poll(() => page.locator('h1').innerText()).toBe('读不到数据');
  });
  it('pages, filters and searches 5,000 executions, and keeps the filter in the address', async () => {
    const { page } = await kit.open(sampleFiles(Date.now(), { executions: 5_000 }), 'executions');
    await settled(page);
    expect(await page.locator('tbody tr').count()).toBe(50);
    expect(await page.locator('.pager').innerText()).toContain('共 5,000 条');
    await page.getByRole('link', { name: '下一页' }).click();
    await expect.poll(() => page.locator('.pager').innerText()).toContain('第 51–100 条');
    await page.getByRole('link', { name: '失败', exact: true }).click();
    await expect.poll(() => page.locator('tbody tr').first().innerText()).toContain('失败');
    await page.getByRole('searchbox').fill('seedream');
    await expect.poll(() => page.url()).toContain('q=seedream');
    await expect
      .poll(async () => (await page.locator('tbody tr').allInnerTexts()).every((row) => row.includes('seedream')))
      .toBe(true);
    expect(await page.getByRole('searchbox').evaluate((input) => input === document.activeElement)).toBe(true);
  });
  it('shows one execution: graph with states, timeline, cost of each call, failures in words', async () => {
    const { page } = await kit.open(sampleFiles(Date.now()), `execution/${sampleId(1)}`);
    const text = await settled(page);
    expect(text).toContain('厂商繁忙，稍后再选「提交」。');
    expect(text).toContain('¥1.31');
    expect(await page.getByRole('listitem', { name: '逐格出图：厂商生成中 4/6' }).count()).toBe(1);
    expect(await page.locator('.timeline li').count()).toBe(8);
  });
  it('keeps focus, scrolling and opened details through a refresh', async () => {
    const { page } = await kit.open(sampleFiles(Date.now()), 'money');
    await settled(page);
    await page.locator('summary').first().click();
    await page.evaluate(() => scrollTo(0, 300));
    await page.getByRole('button', { name: 'English' }).focus();
    const before = await page.evaluate(() => scrollY);
    kit.server.files = sampleFiles(Date.now(), { trouble: true });
    await expect.poll(() => page.locator('main').innerText(), { timeout: 8_000 }).toContain('81 积分');
    expect(await page.locator('details[open]').count()).toBe(1);
    expect(await page.evaluate(() => scrollY)).toBe(before);
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('English');
  });
  it('speaks English and changes theme, and remembers both', async () => {
    const { page } = await kit.open(sampleFiles(Date.now()), 'now', { locale: 'en-GB', theme: 'dark' });
    await expect.poll(() => page.locator('h1').innerText()).toBe('All is well');
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
    await page.getByRole('button', { name: '中文' }).click();
    await page.getByRole('button', { name: '浅色' }).click();
    await page.reload();
    await expect.poll(() => page.locator('h1').innerText()).toBe('一切正常');
    expect(await page.locator('html').getAttribute('data-theme')).toBe('light');
  });
  it('is used by keyboard alone: skip link, tabs, table links', async () => {
    const { page } = await kit.open(sampleFiles(Date.now()), 'now');
    await settled(page);
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.className)).toBe('skip');
    await page.getByRole('link', { name: '厂商', exact: true }).first().focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toContain('#/vendors');
    await expect.poll(() => page.locator('nav a[aria-current="page"]').innerText()).toBe('厂商');
  });
});
