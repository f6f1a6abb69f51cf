import { createPostgresBackend, withBackend } from 'bullmq';
import { serve } from '../lib/child.mjs';
import { warmUp } from '../lib/in-flight.mjs';

/** A plain queue: one job a step, no chain between them. Jobs are added beforehand and not counted. */
serve(async ({ executions, warm, inFlight, url }) => {
  const { Queue, Worker } = withBackend(createPostgresBackend);
  const connection = { connectionString: url, max: 20, migrate: true };
  const runAll = async (name, total) => {
    const queue = new Queue(name, { connection });
    for (let value = 0; value < total; value += 500) {
      const count = Math.min(500, total - value);
      await queue.addBulk(
        Array.from({ length: count }, (_unused, index) => ({ name: 'step', data: { value: value + index } })),
      );
    }
    let done = 0;
    let finish;
    const finished = new Promise((resolve) => {
      finish = resolve;
    });
    const startedAt = performance.now();
    const worker = new Worker(name, async (job) => ({ value: job.data.value + 1 }), {
      connection,
      concurrency: inFlight,
    });
    worker.on('completed', () => {
      if (++done === total) finish();
    });
    await finished;
    const seconds = (performance.now() - startedAt) / 1000;
    await worker.close();
    await queue.close();
    return seconds;
  };
  await warmUp(warm, (from, count) => runAll(`warm-up-${from}`, count * 5));
  return { steps_per_s: (executions * 5) / (await runAll('steps', executions * 5)) };
});
