import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { serve } from '@hono/node-server';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Artifact } from '../../src/contract/index.ts';
import { createCalendar, createEventServer, createFolderReader } from '../../src/monitor/index.ts';
import { launchBrowser } from './browser/launch.ts';
import { settled } from './browser/page-kit.ts';
import { sampleFiles } from './browser/sample.ts';
import { attemptRecord, chargeRecord, createKit, event, executionRecord, timezone } from './kit.ts';

const hash = 'ab'.repeat(32);
const artifact: Artifact = { kind: 'artifact', hash, sizeBytes: 70, mime: 'image/png', name: '上身图.png' };

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

async function serveMonitor() {
  const kit = createKit(Date.now());
  const files = { metrics: sampleFiles(kit.clock.nowMs()).metrics };
  const handle = createEventServer({
    ...kit,
    calendar: createCalendar(timezone),
    page: createFolderReader(join(import.meta.dirname, '../../webmon')),
    data: (name) =>
      Promise.resolve(name === 'metrics.json' ? new TextEncoder().encode(JSON.stringify(files.metrics)) : undefined),
    media: { read: () => Promise.resolve({ ok: true, value: onePixel() }) },
  });
  const server = serve({ fetch: handle, hostname: '127.0.0.1', port: 0 });
  await new Promise<void>((resolve) => server.once('listening', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    kit,
    files,
    url: `http://127.0.0.1:${port}/`,
    close: () => {
      if ('closeAllConnections' in server) server.closeAllConnections();
      server.close();
    },
  };
}

describe('monitor page, served locally', () => {
  it('follows the event stream instead of waiting for its timer', async () => {
    const served = await serveMonitor();
    const page = await browser.newPage({ locale: 'zh-CN' });
    try {
      await page.clock.install();
      await page.goto(served.url);
      await expect.poll(() => page.locator('h1').innerText()).toBe('一切正常');
      served.files.metrics = sampleFiles(served.kit.clock.nowMs(), { trouble: true }).metrics;
      // Less than the five seconds of the timer pass in the browser; the event alone brings the news.
      await expect
        .poll(
          async () => {
            await served.kit.store.commit([event(served.kit, 'node-started', { node: 'draw' })]);
            await page.clock.runFor(100);
            return await page.locator('h1').innerText();
          },
          { interval: 150, timeout: 6_000 },
        )
        .toContain('件事要留意');
    } finally {
      await page.close();
      served.close();
    }
  });

  it('shows results as pictures and spending by submitter', async () => {
    const served = await serveMonitor();
    const { kit } = served;
    const execution = executionRecord(kit);
    const attempt = attemptRecord(kit, execution);
    await kit.store.commit([
      { type: 'create-execution', record: execution },
      { type: 'create-attempt', record: attempt, epoch: 0 },
      { type: 'create-charge', record: chargeRecord(kit, attempt) },
      {
        type: 'put-node',
        epoch: 0,
        record: { executionId: execution.id, path: 'draw', status: 'succeeded', degraded: false, output: [artifact] },
      },
    ]);
    const page = await browser.newPage({ locale: 'zh-CN' });
    const faults: string[] = [];
    page.on('pageerror', (error) => faults.push(error.message));
    try {
      await page.goto(`${served.url}#/execution/${execution.id}`);
      const picture = page.getByRole('img', { name: '上身图.png' });
      await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1);
      await page.goto(`${served.url}#/money`);
      await expect.poll(() => settled(page)).toContain('ou_lin');
      expect(faults).toEqual([]);
    } finally {
      await page.close();
      served.close();
    }
  });
});

/** The smallest PNG. */
function onePixel(): Uint8Array {
  const chunk = (type: string, data: Uint8Array): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const frame = Buffer.alloc(8 + body.length);
    frame.writeUInt32BE(data.length, 0);
    body.copy(frame, 4);
    frame.writeUInt32BE(crc(body), 4 + body.length);
    return frame;
  };
  const header = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0]);
  return Buffer.concat([
    Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.from([0, 60, 90, 160]))),
    chunk('IEND', new Uint8Array()),
  ]);
}

function crc(bytes: Uint8Array): number {
  let value = 0xffffffff;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit += 1) value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0);
  }
  return (value ^ 0xffffffff) >>> 0;
}
