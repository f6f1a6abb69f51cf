import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { waitUntil } from '../../src/app/index.ts';
import { createSystemClock } from '../../src/kernel/index.ts';
import { openOutside, quickSettings } from '../support/outside.ts';
import { startWorkerProcess, type WorkerProcess } from '../support/worker-process.ts';
import { listeningAddresses } from './listening.ts';

const clock = createSystemClock();
const undo: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function says(worker: WorkerProcess, words: string): Promise<void> {
  const isSaid = await waitUntil(clock, () => Promise.resolve(worker.output().includes(words)), 20, 25_000);
  expect(isSaid, worker.output()).toBe(true);
}

/** Linux only: the kernel's own word on who listens. */
describe.runIf(process.platform === 'linux')('the process listens', () => {
  it('on nothing at all in live mode, also while it works', async () => {
    const outside = await openOutside();
    undo.push(async () => await outside.close());
    const worker = startWorkerProcess({ ...outside.env, GRIDLOOM__FEISHU__WAKEUPS: 'true' });
    undo.push(async () => await worker.kill());
    await says(worker, 'is live');
    const picture = await outside.picture();
    outside.sandbox.table.createRow(outside.table, { 产品图: [{ file_token: picture }], 操作: '提交' });
    const seen: (readonly string[])[] = [];
    const isBought = await waitUntil(
      clock,
      () => {
        seen.push(listeningAddresses(worker.process.pid ?? 0));
        return Promise.resolve(outside.sandbox.books.acceptedTasks().length > 0);
      },
      20,
      25_000,
    );
    expect(isBought, worker.output()).toBe(true);
    expect(seen.flat()).toEqual([]);
  }, 60_000);

  it('on loopback alone on the sandbox', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'gridloom-listen-'));
    undo.push(async () => await rm(directory, { recursive: true, force: true, maxRetries: 3 }));
    const worker = startWorkerProcess({
      ...quickSettings,
      GRIDLOOM_DATA_DIR: join(directory, 'data'),
      GRIDLOOM_MONITOR_DIR: join(directory, 'webmon'),
    });
    undo.push(async () => await worker.kill());
    await says(worker, 'open the table');
    const addresses = listeningAddresses(worker.process.pid ?? 0);
    expect(addresses.length).toBeGreaterThan(0);
    for (const address of addresses) expect(address).toMatch(/^127\.0\.0\.1:\d+$/);
  }, 60_000);

  it('twin: a socket that is open to everyone is seen', async () => {
    const server = createServer().listen(0, '0.0.0.0');
    undo.push(async () => {
      await new Promise<void>((done) => {
        server.close(() => done());
      });
    });
    await new Promise((done) => {
      server.once('listening', done);
    });
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    expect(listeningAddresses(process.pid)).toContain(`0.0.0.0:${port}`);
  });
});
