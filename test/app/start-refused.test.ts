import { createServer } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitUntil } from '../../src/app/index.ts';
import { createSystemClock } from '../../src/kernel/index.ts';
import { quickSettings } from '../support/outside.ts';
import { startWorkerProcess } from '../support/worker-process.ts';

/** What a newcomer does by mistake: `npm start` twice. */
describe('a start that cannot be', () => {
  let directory: string;
  const env = (data: string): Record<string, string> => ({
    ...quickSettings,
    GRIDLOOM_MODE: 'sandbox',
    GRIDLOOM_DATA_DIR: join(directory, data),
    GRIDLOOM_MONITOR_DIR: join(directory, 'webmon'),
  });

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gridloom-start-'));
  });
  afterAll(async () => {
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  });

  it('a second one on the same directory and port names the first and ends with 75, not with the port', async () => {
    const first = startWorkerProcess(env('data'));
    try {
      await waitUntil(
        createSystemClock(),
        () => Promise.resolve(first.output().includes('open the table')),
        50,
        30_000,
      );
      const port = /127\.0\.0\.1:(\d+)\//.exec(first.output())?.[1] ?? '';
      const second = startWorkerProcess(env('data'), ['start', '--port', port]);
      expect((await second.ended).code, second.output()).toBe(75);
      expect(second.output()).toContain(`pid ${first.process.pid ?? 0}`);
    } finally {
      await first.kill();
    }
  }, 60_000);

  it('a misspelt GRIDLOOM_MODE is refused with 78 instead of starting on the sandbox', async () => {
    const worker = startWorkerProcess({ ...env('misspelt'), GRIDLOOM_MODE: 'Live' });
    expect((await worker.ended).code, worker.output()).toBe(78);
    expect(worker.output()).toContain('write live or sandbox');
  }, 60_000);

  it('a port that another program has is told in one line with what to type', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const address = other.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    try {
      const worker = startWorkerProcess(env('other'), ['start', '--port', String(port)]);
      expect((await worker.ended).code, worker.output()).toBe(1);
      expect(worker.output().trim()).toBe(
        `port ${port} is taken by another program; choose another: npm start -- --port ${port + 1}`,
      );
    } finally {
      other.close();
    }
  }, 60_000);
});
