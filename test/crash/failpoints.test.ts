import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FailpointName, failpointNames } from '../../src/kernel/index.ts';
import { openOutside, type Outside } from '../support/outside.ts';
import { startWorkerProcess, type WorkerProcess } from '../support/worker-process.ts';
import { crashTestMs, driveUntil, expectBooksAgree, newRow, statusOf } from './row-drive.ts';

/**
 * The real process is killed with SIGKILL at each named place, started again on the same data directory, and must end
 * with the row finished, or in 待核对 where a submit was under way and its vendor cannot be asked. Never is a step bought
 * twice, and the ledger equals the vendor's bill. The list is the kernel's own: a new place is tested from its first day.
 */

/** Between the intent and the answer's record: kie cannot be asked what became of it. */
const mayEndInDoubt = new Set<FailpointName>(['attempt:after-intent', 'attempt:after-send']);

let outside: Outside;
let worker: WorkerProcess | undefined;
beforeEach(async () => {
  outside = await openOutside();
});
afterEach(async () => {
  await worker?.kill();
  await outside.close();
});

describe('SIGKILL at', () => {
  it.each(failpointNames)(
    '%s: the row ends well, nothing is bought twice, the ledger equals the bill',
    async (name) => {
      const recordId = await newRow(outside);
      const victim = startWorkerProcess({ ...outside.env, GRIDLOOM_FAILPOINT: name });
      worker = victim;
      await driveUntil(outside, recordId, victim, () => victim.process.signalCode !== null);
      expect((await victim.ended).signal, victim.output()).toBe('SIGKILL');

      worker = startWorkerProcess(outside.env);
      await driveUntil(outside, recordId, worker, () => ['完成', '待核对'].includes(statusOf(outside, recordId)));
      expect(
        mayEndInDoubt.has(name) ? ['完成', '待核对'] : ['完成'],
        outside.sandbox.table.text(outside.table, recordId, '报错'),
      ).toContain(statusOf(outside, recordId));
      await worker.kill('SIGTERM');
      await expectBooksAgree(outside);
    },
    crashTestMs,
  );
});
