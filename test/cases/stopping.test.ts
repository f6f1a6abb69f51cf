import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitUntil } from '../../src/app/index.ts';
import { createSystemClock, sleep } from '../../src/kernel/index.ts';
import { noLatencies } from '../../src/sandbox/index.ts';
import { openOutside, type Outside } from '../support/outside.ts';
import { startWorkerProcess, type WorkerProcess } from '../support/worker-process.ts';

/** Process managers give some 1.6 s between the polite signal and SIGKILL. */
const pm2KillMs = 1_600;
const rows = 3;
const clock = createSystemClock();

let outside: Outside;
let worker: WorkerProcess;
beforeEach(async () => {
  // Tasks at the vendor outlast the worker that bought them.
  outside = await openOutside('try-on', { ...noLatencies, imageTaskMs: 4_000 });
});
afterEach(async () => {
  await worker.kill();
  await outside.close();
});

/** Three rows whose pictures are under way at the vendor. */
async function threeInFlight(): Promise<readonly string[]> {
  const ids = [];
  for (let row = 0; row < rows; row += 1) {
    const picture = await outside.picture();
    ids.push(outside.sandbox.table.createRow(outside.table, { 产品图: [{ file_token: picture }], 操作: '提交' }));
  }
  worker = startWorkerProcess(outside.env);
  const areBought = await waitUntil(clock, () => Promise.resolve(accepted() === rows), 20, 20_000);
  expect(areBought, worker.output()).toBe(true);
  return ids;
}

const accepted = (): number => outside.sandbox.books.acceptedTasks().length;

async function expectAllArrive(ids: readonly string[]): Promise<void> {
  worker = startWorkerProcess(outside.env);
  const { table } = outside.sandbox;
  const areDone = await waitUntil(
    clock,
    () => Promise.resolve(ids.every((id) => table.text(outside.table, id, '状态') === '待确认')),
    50,
    25_000,
  );
  expect(areDone, JSON.stringify(ids.map((id) => table.row(outside.table, id)))).toBe(true);
  for (const id of ids) expect(table.row(outside.table, id)?.['上身图']).toHaveLength(1);
  expect(accepted()).toBe(rows);
}

describe('P152 told to stop with paid work under way', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'P152 %s: the process is gone before a process manager would kill it, and the next one collects everything',
    async (signal) => {
      const ids = await threeInFlight();
      const startedMs = clock.monotonicMs();
      worker.process.kill(signal);
      const { code } = await worker.ended;
      expect(code, worker.output()).toBe(0);
      expect(clock.monotonicMs() - startedMs).toBeLessThan(pm2KillMs);
      await expectAllArrive(ids);
    },
    60_000,
  );

  it('P152 SIGKILL while it tidies up: nothing is lost, nothing is bought again', async () => {
    const ids = await threeInFlight();
    worker.process.kill('SIGTERM');
    await sleep(clock, 20);
    await worker.kill('SIGKILL');
    await expectAllArrive(ids);
  }, 60_000);
});
