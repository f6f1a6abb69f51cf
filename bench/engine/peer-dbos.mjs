import { DBOS } from '@dbos-inc/dbos-sdk';
import { serve } from '../lib/child.mjs';
import { keepInFlight, warmUp } from '../lib/in-flight.mjs';

/** Workflows called directly, so many at once; faster than through its queue. */
serve(async ({ executions, warm, inFlight, url }) => {
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl: url, logLevel: 'error', systemDatabasePoolSize: 20 });
  const workflow = DBOS.registerWorkflow(
    async (value) => {
      for (let number = 0; number < 5; number += 1) {
        await DBOS.runStep(async () => ({ value: value + number }), { name: `step-${number}` });
      }
      return value;
    },
    { name: 'fiveSteps' },
  );
  await DBOS.launch();
  const runBatch = (from, count) => keepInFlight(count, inFlight, (index) => workflow(from + index));
  const from = await warmUp(warm, runBatch);
  const startedAt = performance.now();
  await runBatch(from, executions);
  const seconds = (performance.now() - startedAt) / 1000;
  await DBOS.shutdown();
  return { steps_per_s: (executions * 5) / seconds };
});
