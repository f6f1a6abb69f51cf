import { copyFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { waitUntil } from '../../src/app/index.ts';
import { createSystemClock, sleep } from '../../src/kernel/index.ts';
import { noLatencies } from '../../src/sandbox/index.ts';
import { openOutside, type Outside } from '../support/outside.ts';
import { startWorkerProcess, type WorkerProcess } from '../support/worker-process.ts';

const clock = createSystemClock();
let outside: Outside;
let worker: WorkerProcess;
beforeEach(async () => {
  outside = await openOutside('try-on', { ...noLatencies, imageTaskMs: 5_000 });
});
afterEach(async () => {
  await worker.kill();
  await outside.close();
});

const accepted = (): number => outside.sandbox.books.acceptedTasks().length;
const status = (id: string): string => outside.sandbox.table.text(outside.table, id, '状态');

async function newRow(): Promise<string> {
  const picture = await outside.picture();
  return outside.sandbox.table.createRow(outside.table, { 产品图: [{ file_token: picture }], 操作: '提交' });
}

async function until(what: () => boolean, limitMs = 25_000): Promise<void> {
  const isSo = await waitUntil(clock, () => Promise.resolve(what()), 30, limitMs);
  expect(isSo, worker.output()).toBe(true);
}

async function command(...args: readonly string[]): Promise<string> {
  const process = startWorkerProcess(outside.env, args);
  expect((await process.ended).code, process.output()).toBe(0);
  return process.output();
}

it('a restored backup only collects what was bought, until the operator says "resume"', async () => {
  const first = await newRow();
  worker = startWorkerProcess(outside.env);
  await until(() => accepted() === 1);
  const copy = join(outside.dataDir, 'copy.db');
  await command('backup', copy);
  if (process.platform !== 'win32') expect((await stat(copy)).mode & 0o077).toBe(0);
  await worker.kill();

  const database = join(outside.env['GRIDLOOM_DATA_DIR'] ?? '', 'gridloom.db');
  for (const ending of ['', '-wal', '-shm']) await rm(`${database}${ending}`, { force: true });
  await copyFile(copy, database);
  worker = startWorkerProcess(outside.env);
  const second = await newRow();
  await until(() => status(first) === '待确认');
  await until(() => status(second) === '生成中');
  await sleep(clock, 1_500);
  expect(accepted()).toBe(1);
  expect(outside.sandbox.table.text(outside.table, second, '进度')).toContain('暂停');

  await command('resume');
  await until(() => status(second) === '待确认');
  expect(accepted()).toBe(2);
}, 120_000);
