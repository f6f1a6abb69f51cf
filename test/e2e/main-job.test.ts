import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitUntil } from '../../src/app/index.ts';
import { createSystemClock } from '../../src/kernel/index.ts';
import { createSharpPainter } from '../../src/sandbox/index.ts';
import { launchBrowser } from '../monitor/browser/launch.ts';
import { quickSettings } from '../support/outside.ts';
import { startWorkerProcess, type WorkerProcess } from '../support/worker-process.ts';

/** `npm start` without credentials, as a newcomer meets it: the real program, its table in a real browser. */
describe('the main job', () => {
  let directory: string;
  let worker: WorkerProcess;
  let browser: Browser;
  let page: Page;
  let recordId = '';
  const clock = createSystemClock();

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gridloom-e2e-'));
    worker = startWorkerProcess({
      ...quickSettings,
      GRIDLOOM_DATA_DIR: join(directory, 'data'),
      GRIDLOOM_MONITOR_DIR: join(directory, 'webmon'),
    });
    await waitUntil(clock, () => Promise.resolve(worker.output().includes('open the table')), 50, 30_000);
    browser = await launchBrowser();
    page = await browser.newPage({ viewport: { width: 1_600, height: 900 }, reducedMotion: 'reduce' });
    page.setDefaultTimeout(40_000);
    await page.goto(tableAddress(worker));
  }, 90_000);

  afterAll(async () => {
    await browser.close();
    await worker.kill();
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  });

  const cell = (column: string): string => `[data-record="${recordId}"] [data-column="${column}"]`;
  const status = async (wanted: string): Promise<void> => {
    await page.waitForFunction(
      ([selector = '', word = '']) => document.querySelector(selector)?.textContent.trim() === word,
      [cell('状态'), wanted],
    );
  };

  it('tells where the table is, and how to reach it on a server', () => {
    expect(worker.output()).toMatch(/open the table\s+http:\/\/127\.0\.0\.1:\d+\//);
    expect(worker.output()).toContain('ssh -L');
  });

  it('a picture, 提交, 通过, 通过: 上身图, 分镜图 and 视频 arrive, with cost, and the film plays', async () => {
    await page.waitForSelector('[data-record]');
    const before = new Set(
      await page.$$eval('[data-record]', (rows) => rows.map((row) => row.getAttribute('data-record') ?? '')),
    );
    await page.click('#add');
    await page.waitForFunction((count) => document.querySelectorAll('[data-record]').length > count, before.size);
    const after = await page.$$eval('[data-record]', (rows) =>
      rows.map((row) => row.getAttribute('data-record') ?? ''),
    );
    recordId = after.find((id) => !before.has(id)) ?? '';
    const picture = await createSharpPainter().draw(
      '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="200"><rect width="200" height="200" fill="#fff"/><circle cx="100" cy="100" r="70" fill="#c33"/></svg>',
      200,
    );
    await page.setInputFiles(`${cell('产品图')} input[type=file]`, {
      name: '红裙.png',
      mimeType: 'image/png',
      buffer: Buffer.from(picture),
    });
    await page.waitForSelector(`${cell('产品图')} img`);

    await page.selectOption(`${cell('操作')} select`, '提交');
    await status('待确认');
    await page.waitForSelector(`${cell('上身图')} img`);
    expect(await page.textContent(cell('脚本方案'))).toContain('{角色}');
    await page.selectOption(`${cell('操作')} select`, '通过');
    await page.waitForSelector(`${cell('分镜图')} img`);
    await status('待确认');
    await page.selectOption(`${cell('操作')} select`, '通过');
    await status('完成');
    expect(await page.textContent(cell('成本(元)'))).toMatch(/¥ [1-9]\d*\.\d{4}/);
    await page.screenshot({ path: join(tmpdir(), 'gridloom-main-job.png') });
    await page.click(`${cell('视频')} [aria-label^="打开"]`);
    const played = await page.waitForFunction(() => {
      const film = document.querySelector<HTMLVideoElement>('#viewer video');
      return film !== null && film.currentTime > 0.2 && film.videoWidth > 0;
    });
    expect(await played.jsonValue()).toBe(true);
  }, 120_000);

  it('writes metrics.json, whole and readable', async () => {
    const metrics: unknown = JSON.parse(await readFile(join(directory, 'webmon', 'metrics.json'), 'utf8'));
    expect(metrics).toMatchObject({ mode: 'sandbox' });
  });
});

function tableAddress(worker: WorkerProcess): string {
  const address = /open the table\s+(\S+)/.exec(worker.output())?.[1];
  if (address === undefined) throw new Error(`the worker did not tell its address:\n${worker.output()}`);
  return address;
}
