import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OpenWorkflow } from 'openworkflow';
import { BackendSqlite } from 'openworkflow/sqlite';
import { serve } from '../lib/child.mjs';

/** Everything is enqueued beforehand and not counted; the clock runs from the worker's start to the last step. */
serve(async ({ executions, inFlight }) => {
  const directory = mkdtempSync(join(tmpdir(), 'bench-openworkflow-'));
  const backend = BackendSqlite.connect(join(directory, 'openworkflow.db'));
  const client = new OpenWorkflow({ backend });
  let done = 0;
  let finish;
  const finished = new Promise((resolve) => {
    finish = resolve;
  });
  const workflow = client.defineWorkflow({ name: 'five-steps' }, async ({ input, step }) => {
    for (let number = 0; number < 5; number += 1) {
      await step.run({ name: `step-${number}` }, () => ({ value: input.value + number }));
    }
    if (++done === executions) finish();
    return { value: input.value };
  });
  for (let value = 0; value < executions; value += 1) await workflow.run({ value });
  const worker = client.newWorker({ concurrency: inFlight });
  const startedAt = performance.now();
  await worker.start();
  await finished;
  const seconds = (performance.now() - startedAt) / 1000;
  await worker.stop();
  rmSync(directory, { recursive: true, force: true });
  return { steps_per_s: (executions * 5) / seconds };
});
