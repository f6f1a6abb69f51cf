import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitUntil } from '../../src/app/index.ts';
import { createUploadSessions } from '../../src/app/upload-sessions.ts';
import { createSystemClock, createVirtualClock, silentLogger } from '../../src/kernel/index.ts';
import { createSqliteStore } from '../../src/store/index.ts';
import { openOutside, type Outside } from '../support/outside.ts';
import { startWorkerProcess, type WorkerProcess } from '../support/worker-process.ts';

/** What the app hands to the platform client and to the monitor, seen on the running program. */
const clock = createSystemClock();
let outside: Outside;
let worker: WorkerProcess | undefined;
beforeEach(async () => {
  outside = await openOutside();
});
afterEach(async () => {
  await worker?.kill();
  worker = undefined;
  await outside.close();
});

const platformCalls = (): number =>
  Object.entries(outside.sandbox.books.calls())
    .filter(([name]) => name.startsWith('feishu.'))
    .reduce((sum, [, count]) => sum + count, 0);

async function startWorker(): Promise<void> {
  const started = startWorkerProcess(outside.env);
  worker = started;
  const isUp = await waitUntil(clock, () => Promise.resolve(started.output().includes('live on')), 50, 20_000);
  expect(isUp, started.output()).toBe(true);
}

/** Whether `more` further calls come within a second and a half, ten times the poll's interval. */
async function hasMoreCalls(more: number): Promise<boolean> {
  const before = platformCalls();
  return await waitUntil(clock, () => Promise.resolve(platformCalls() - before >= more), 50, 1_500);
}

describe('the running worker', () => {
  it('calls the platform no more once it has said that the month’s calls are used up', async () => {
    await startWorker();
    expect(await hasMoreCalls(5)).toBe(true);
    outside.sandbox.faults.add({
      endpoint: 'feishu.*',
      count: Number.POSITIVE_INFINITY,
      action: { kind: 'answer', status: 400, body: { code: 99991403, msg: 'quota exceeded' } },
    });
    // One answer is heard, those under way may still come; then silence, although the poll goes on.
    await hasMoreCalls(5);
    expect(await hasMoreCalls(2)).toBe(false);
  });

  it('tells the lag of its loop and the free space of its disk in metrics.json', async () => {
    await startWorker();
    const file = join(outside.env['GRIDLOOM_MONITOR_DIR'] ?? '', 'metrics.json');
    const read = async (): Promise<string> => await readFile(file, 'utf8').catch(() => '');
    expect(await waitUntil(clock, async () => /"free_bytes":\d{6,}/.test(await read()), 100, 8_000)).toBe(true);
    expect(await read()).toMatch(/"lag_ms":\d+/);
  });
});

describe('uploads in parts', () => {
  it('are remembered in the store until they are finished', async () => {
    const virtual = createVirtualClock();
    const store = createSqliteStore({ path: ':memory:', clock: virtual, logger: silentLogger });
    const sessions = createUploadSessions(store, virtual);
    expect(await sessions.load('hash')).toBeUndefined();
    await sessions.save('hash', { uploadId: 'u1', nextSeq: 3 });
    expect(await createUploadSessions(store, virtual).load('hash')).toEqual({ uploadId: 'u1', nextSeq: 3 });
    await sessions.remove('hash');
    expect(await sessions.load('hash')).toBeUndefined();
    await store.close();
  });
});
