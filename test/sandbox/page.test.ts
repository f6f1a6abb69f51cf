import { once } from 'node:events';
import { type ServerType, serve } from '@hono/node-server';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSeededRandom, createSystemClock } from '../../src/kernel/index.ts';
import {
  createSandbox,
  createSharpPainter,
  createSocketHandler,
  noLatencies,
  type Sandbox,
} from '../../src/sandbox/index.ts';
import { launchBrowser } from '../monitor/browser/launch.ts';
import { openWorld, origin, tableId, tryOnTable } from './world.ts';

describe('the table page, guarded', () => {
  const get = async (
    path: string,
    headers: Record<string, string>,
    method: 'GET' | 'POST' = 'GET',
  ): Promise<number> => {
    const world = await openWorld();
    return (await world.call(method, path, method === 'POST' ? { fields: {} } : undefined, headers)).status;
  };

  it('answers only to loopback names, so that a rebound name reaches nothing', async () => {
    expect(await get('/', { host: '127.0.0.1:7010' })).toBe(200);
    expect(await get('/', { host: 'localhost:7010' })).toBe(200);
    expect(await get('/', { host: '[::1]:7010' })).toBe(200);
    expect(await get('/', { host: 'evil.example' })).toBe(421);
    expect(await get('/table/api/world', { host: 'evil.example:7010' })).toBe(421);
  });

  it('takes writes only from its own origin', async () => {
    const rows = `/table/api/tables/${tableId}/rows`;
    expect(await get(rows, { origin }, 'POST')).toBe(200);
    expect(await get(rows, { origin: 'http://evil.example' }, 'POST')).toBe(403);
    expect(await get(rows, {}, 'POST')).toBe(403);
  });

  it('forbids everything foreign by policy, and never lets an attachment run', async () => {
    const world = await openWorld();
    const page = await world.call('GET', '/');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
    const token = await world.sandbox.table.uploadFile('x.html', new TextEncoder().encode('<script>1</script>'));
    const media = await world.call('GET', `/table/media/${token}`);
    expect(media.headers.get('content-disposition')).toContain('attachment');
    expect(media.headers.get('content-security-policy')).toContain('sandbox');
  });

  it('says nothing new while nothing changed', async () => {
    const world = await openWorld();
    const path = `/table/api/tables/${tableId}`;
    const first = await world.call('GET', path);
    const again = (): ReturnType<typeof world.call> =>
      world.call('GET', `${path}?version=${String(first.at('version'))}`);
    expect((await again()).at('unchanged')).toBe(true);
    world.sandbox.table.createRow(tableId, {});
    expect((await again()).list('rows')).toHaveLength(1);
  });
});

describe('the table page, in a real browser', () => {
  let sandbox: Sandbox;
  let server: ServerType;
  let browser: Browser;
  let page: Page;
  const troubles: string[] = [];
  let recordId = '';

  beforeAll(async () => {
    let address = '';
    sandbox = createSandbox({
      clock: createSystemClock(),
      random: createSeededRandom(3),
      baseUrl: () => address,
      latencies: noLatencies,
      tables: [{ ...tryOnTable, columns: [...tryOnTable.columns, { name: '视频', type: 17 }] }],
    });
    await sandbox.seed();
    recordId = sandbox.table.createRow(tableId, { 产品说明: '<img src=x onerror="document.title=\'bad\'">' });
    server = serve({ fetch: createSocketHandler(sandbox), hostname: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    const bound = server.address();
    address = `http://127.0.0.1:${typeof bound === 'object' && bound !== null ? bound.port : 0}`;
    browser = await launchBrowser();
    page = await browser.newPage({ viewport: { width: 1280, height: 640 }, reducedMotion: 'reduce' });
    page.setDefaultTimeout(25_000);
    page.on('pageerror', (error) => troubles.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') troubles.push(message.text());
    });
    await page.goto(`${address}/`);
    await page.waitForSelector(`[data-record="${recordId}"]`);
  });

  afterAll(async () => {
    await browser.close();
    server.close();
    if ('closeAllConnections' in server) server.closeAllConnections();
  });

  const cell = (column: string): string => `[data-record="${recordId}"] [data-column="${column}"]`;

  it('shows what staff typed as text, whatever it is', async () => {
    expect(await page.textContent(cell('产品说明'))).toContain('<img src=x');
    expect(await page.title()).toContain('织表');
  });

  it('lets a person edit a text, put in a picture and choose 操作', async () => {
    await page.click(`${cell('产品说明')} button`);
    await page.fill('#editor textarea', '红裙');
    await page.click('#editor .primary');
    await page.waitForFunction(
      (selector) => document.querySelector(selector)?.textContent === '红裙',
      cell('产品说明'),
    );
    expect(sandbox.table.text(tableId, recordId, '产品说明')).toBe('红裙');

    const picture = await createSharpPainter().draw(
      '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>',
      9,
    );
    const file = { name: '裙.png', mimeType: 'image/png', buffer: Buffer.from(picture) };
    await page.setInputFiles(`${cell('产品图')} input[type=file]`, file);
    await page.waitForSelector(`${cell('产品图')} img[alt="裙.png"]`);
    expect(sandbox.table.row(tableId, recordId)?.['产品图']).toMatchObject([{ name: '裙.png', size: picture.length }]);

    await page.selectOption(`${cell('操作')} select`, '提交');
    await expect.poll(() => sandbox.table.text(tableId, recordId, '操作')).toBe('提交');
    expect(sandbox.books.cellWrites().at(-1)).toMatchObject({ hand: 'staff', column: '操作', after: '提交' });
  });

  it('shows what the bot writes without being reloaded, and plays the film', async () => {
    const bytes = await createSharpPainter().film({ inputs: [], widthPx: 120, heightPx: 160, seconds: 1, seed: 1 });
    const token = await sandbox.table.uploadFile('成片.mp4', bytes);
    sandbox.table.setCells(tableId, recordId, {
      状态: '完成',
      操作: null,
      '成本(元)': 1.5,
      视频: [{ file_token: token }],
    });
    await page.waitForSelector(`${cell('状态')} .chip.green`);
    expect(await page.textContent(cell('成本(元)'))).toBe('¥ 1.5000');
    await page.click(`${cell('视频')} [aria-label="打开 成片.mp4"]`);
    const played = await page.waitForFunction(() => {
      const film = document.querySelector<HTMLVideoElement>('#viewer video');
      return film !== null && film.currentTime > 0.2 && film.videoWidth === 120;
    });
    expect(await played.jsonValue()).toBe(true);
    await page.keyboard.press('Escape');
  });

  it('takes files away, adds and deletes rows', async () => {
    await page.hover(`${cell('产品图')} .file`);
    await page.click(`${cell('产品图')} .drop`);
    await expect.poll(() => sandbox.table.row(tableId, recordId)?.['产品图']).toBeUndefined();
    await page.click('#add');
    await expect.poll(() => sandbox.table.recordIds(tableId).length).toBe(2);
    await page.waitForFunction(() => document.querySelectorAll('[data-record]').length === 2);
    page.once('dialog', (dialog) => void dialog.accept());
    await page.hover(`[data-record="${recordId}"]`);
    await page.click(`[data-record="${recordId}"] .remove`);
    await expect.poll(() => sandbox.table.recordIds(tableId).length).toBe(1);
  });

  it('broke no rule of its own policy and threw no error', () => {
    expect(troubles).toEqual([]);
  });
});
