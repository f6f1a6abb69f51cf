import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noLatencies } from '../../src/sandbox/index.ts';
import { openOutside, type Outside } from '../support/outside.ts';
import { startWorkerProcess, type WorkerProcess } from '../support/worker-process.ts';
import { crashTestMs, driveUntil, expectBooksAgree, newRow, statusOf } from './row-drive.ts';

let outside: Outside;
let worker: WorkerProcess | undefined;
beforeEach(async () => {
  // Submits take long enough to be under way when the signal comes, tasks longer than a drain.
  outside = await openOutside('try-on', { ...noLatencies, vendorMs: 700, imageTaskMs: 1_500, videoTaskMs: 1_500 });
});
afterEach(async () => {
  await worker?.kill();
  await outside.close();
});

describe('SIGTERM', () => {
  it(
    'awaits the submit that is under way, ends with 0, and the next start goes on with the same task',
    async () => {
      const recordId = await newRow(outside);
      const first = startWorkerProcess(outside.env);
      worker = first;
      const submits = (): number => outside.sandbox.books.calls()['kie.createTask'] ?? 0;
      await driveUntil(outside, recordId, first, () => submits() > 0);
      const stoppedAtMs = performance.now();
      await first.kill('SIGTERM');
      expect(await first.ended, first.output()).toEqual({ code: 0, signal: null });
      expect(performance.now() - stoppedAtMs).toBeLessThan(30_000);
      expect(first.output()).toContain('stopping: what is under way');
      expect(outside.sandbox.books.acceptedTasks()).toHaveLength(1);

      worker = startWorkerProcess(outside.env);
      await driveUntil(outside, recordId, worker, () => statusOf(outside, recordId) === '完成');
      await worker.kill('SIGTERM');
      await expectBooksAgree(outside);
    },
    crashTestMs,
  );
});
