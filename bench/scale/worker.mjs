import { appendFileSync } from 'node:fs';
import { createEngine } from '../../src/engine/index.ts';
import { createSystemClock, silentLogger } from '../../src/kernel/index.ts';
import { openSharedWorker } from '../../src/store/index.ts';
import { fiveSteps } from '../engine/workflow.mjs';
import { collector, createVendor, filmDefinitions } from '../inflight/vendor.mjs';
import { serveCrew } from '../lib/crew.mjs';
import { followEnds } from '../lib/ends.mjs';
import { keepInFlight } from '../lib/in-flight.mjs';
import { engineDeps, ok, temporaryDirectory } from '../lib/world.mjs';

const far = { shortestMs: 600_000, longestMs: 900_000 };

/**
 * One worker on the shared database. `steps`: runs its share of five-step executions. `wait`: brings its share to the
 * vendor and stays there until it is killed. `take-over`: does nothing but be there.
 */
serveCrew(async ({ role, url, owner, executions, inFlight, submitsFile }) => {
  const worker = await openSharedWorker({
    connectionString: url,
    clock: createSystemClock(),
    logger: silentLogger,
    owner,
  });
  const { store, presence } = worker;
  const definitions = filmDefinitions(far);
  definitions.workflows.set('five-steps', fiveSteps);
  const vendor = countedVendor(submitsFile);
  const engine = createEngine(
    engineDeps(temporaryDirectory().path, {
      store,
      definitions: () => definitions,
      functions: new Map([['add-one', async ({ value }) => ok({ value: value + 1 })]]),
      providers: new Map([['bench', vendor]]),
      collector,
      owner,
      isGone: (other) => presence.isGone(other),
    }),
  );
  await engine.start();
  // Where the engine cannot be told yet, its own sweep (5 s) takes up what is left.
  await worker.startDispatching(async (id) => await engine.takeUp?.(id));
  const submit = (value, workflow, input) =>
    engine.submit({
      workflow,
      input,
      sourceRef: `cli:${owner}-${value}`,
      labels: {},
      generation: 0,
      idempotencyKey: `${owner}-${value}`,
    });
  if (role === 'take-over') return async () => ({});
  if (role === 'wait') {
    return async () => {
      await keepInFlight(executions, 50, (value) => submit(value, 'film', { prompt: `row ${value}` }));
      while ((await store.attemptsInState(['accepted'], executions)).length < executions) {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return {};
    };
  }
  const ended = followEnds(store, { ours: (sourceRef) => sourceRef.startsWith(`cli:${owner}-`) });
  return async () => {
    const startedAt = performance.now();
    await keepInFlight(executions, inFlight, async (value) => {
      const receipt = await submit(value, 'five-steps', { value });
      if (!receipt.ok) throw new Error(JSON.stringify(receipt.failure));
      await ended(receipt.value.executionId);
    });
    return { seconds: (performance.now() - startedAt) / 1000 };
  };
});

/** Every submit is written down where the parent can count it, before it is answered. */
function countedVendor(submitsFile) {
  const { provider } = createVendor({ ...far, answerMs: 20 });
  const [adapter] = provider.adapters;
  const submit = async (request, signal) => {
    if (submitsFile !== undefined) appendFileSync(submitsFile, `${request.key}\n`);
    return await adapter.submit(request, signal);
  };
  return { ...provider, adapters: [{ ...adapter, submit }] };
}
