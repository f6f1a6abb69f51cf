import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OpenWorkflow } from 'openworkflow';
import { BackendSqlite } from 'openworkflow/sqlite';
import { serve } from '../lib/child.mjs';
import { warmUp } from '../lib/in-flight.mjs';

/** Everything is enqueued beforehand and not counted; the clock runs from the worker's start to the last step. */
serve(async ({ executions, warm, inFlight }) => {
  const directory = mkdtempSync(join(tmpdir(), 'bench-openworkflow-'));
  const backend = BackendSqlite.connect(join(directory, 'openworkflow.db'));
  const client = new OpenWorkflow({ backend });
  let left = 0;
  let finish;
  const workflow = client.defineWorkflow({ name: 'five-steps' }, async ({ input, step }) => {
    for (let number = 0; number < 5; number += 1) {
      await step.run({ name: `step-${number}` }, () => ({ value: input.value + number }));
    }
    if (--left === 0) finish();
    return { value: input.value };
  });
  const runAll = async (count) => {
    left = count;
    const finished = new Promise((resolve) => {
      finish = resolve;
    });
    for (let value = 0; value < count; value += 1) await workflow.run({ value });
    const worker = client.newWorker({ concurrency: inFlight });
    const startedAt = performance.now();
    await worker.start();
    await finished;
    const seconds = (performance.now() - startedAt) / 1000;
    await worker.stop();
    return seconds;
  };
  await warmUp(warm, (_from, count) => runAll(count));
  const seconds = await runAll(executions);
  rmSync(directory, { recursive: true, force: true });
  return { steps_per_s: (executions * 5) / seconds };
});
