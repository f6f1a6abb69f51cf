import { glob, mkdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openOutside, type Outside } from '../support/outside.ts';
import { startWorkerProcess, type WorkerProcess } from '../support/worker-process.ts';
import { crashTestMs, driveUntil, expectBooksAgree, newRow, statusOf } from './row-drive.ts';

/** A data directory that cannot be used ends the start with one clear line, and is left as it was. */
let outside: Outside;
let worker: WorkerProcess | undefined;
let database: string;
beforeEach(async () => {
  outside = await openOutside();
  database = join(outside.env['GRIDLOOM_DATA_DIR'] ?? '', 'gridloom.db');
});
afterEach(async () => {
  await worker?.kill();
  await outside.close();
});

async function refusedStart(): Promise<{ code: number | null; output: string }> {
  worker = startWorkerProcess(outside.env);
  const { code } = await worker.ended;
  return { code, output: worker.output() };
}

describe('a data directory that cannot be used', () => {
  it(
    'is a file: ends with 1 and names it',
    async () => {
      await writeFile(outside.env['GRIDLOOM_DATA_DIR'] ?? '', 'not a directory');
      const { code, output } = await refusedStart();
      expect(code, output).toBe(1);
      expect(output).toContain(outside.env['GRIDLOOM_DATA_DIR']);
    },
    crashTestMs,
  );

  it(
    'was written by a newer version: ends with 1, says so, and changes nothing',
    async () => {
      await mkdir(outside.env['GRIDLOOM_DATA_DIR'] ?? '', { recursive: true });
      const newer = new Database(database);
      newer.pragma('journal_mode = WAL');
      newer.pragma('user_version = 9999');
      newer.exec('CREATE TABLE things_of_tomorrow (a)');
      newer.close();
      const before = await readFile(database);
      const { code, output } = await refusedStart();
      expect(code, output).toBe(1);
      expect(output).toContain('newer version');
      expect(await readFile(database)).toEqual(before);
    },
    crashTestMs,
  );

  it(
    'is corrupt: ends with 1 and names the file',
    async () => {
      await mkdir(outside.env['GRIDLOOM_DATA_DIR'] ?? '', { recursive: true });
      await writeFile(database, Buffer.alloc(8_192, 7));
      const { code, output } = await refusedStart();
      expect(code, output).toBe(1);
      expect(output).toContain('gridloom.db');
      expect(outside.sandbox.books.calls()['kie.createTask'] ?? 0).toBe(0);
    },
    crashTestMs,
  );

  it(
    'is held by another worker: ends with 75, and the first goes on',
    async () => {
      const recordId = await newRow(outside);
      const first = startWorkerProcess(outside.env);
      try {
        await driveUntil(outside, recordId, first, () => statusOf(outside, recordId) !== '');
        const { code, output } = await refusedStart();
        expect(code, output).toBe(75);
        await driveUntil(outside, recordId, first, () => statusOf(outside, recordId) === '完成');
      } finally {
        await first.kill('SIGTERM');
      }
      await expectBooksAgree(outside);
    },
    crashTestMs,
  );
});

describe('a spool whose last file was half written', () => {
  it(
    'is no obstacle: what is missing is fetched again, nothing is bought again',
    async () => {
      const recordId = await newRow(outside);
      const victim = startWorkerProcess({ ...outside.env, GRIDLOOM_FAILPOINT: 'outbox:before-upload' });
      worker = victim;
      await driveUntil(outside, recordId, victim, () => victim.process.signalCode !== null);
      const spoiled = await spoilSpool(join(outside.env['GRIDLOOM_DATA_DIR'] ?? '', 'spool'));
      expect(spoiled).toBeGreaterThan(0);
      worker = startWorkerProcess(outside.env);
      await driveUntil(outside, recordId, worker, () => ['完成', '失败'].includes(statusOf(outside, recordId)));
      const tasks = outside.sandbox.books.acceptedTasks();
      expect(new Set(tasks.map((task) => JSON.stringify(task.request))).size).toBe(tasks.length);
      await worker.kill('SIGTERM');
    },
    crashTestMs,
  );
});

/** Cuts every spooled file in half. */
async function spoilSpool(directory: string): Promise<number> {
  let count = 0;
  for await (const name of glob('**/*', { cwd: directory })) {
    const path = join(directory, name);
    const { size } = await stat(path);
    if (!(await stat(path)).isFile() || size < 2) continue;
    await truncate(path, Math.floor(size / 2));
    count += 1;
  }
  return count;
}
