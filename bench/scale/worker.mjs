import { appendFileSync } from 'node:fs';
import { createEngine } from '../../src/engine/index.ts';
import { openScale } from '../../src/app/scale.ts';
import { createSystemClock, Secret, silentLogger } from '../../src/kernel/index.ts';
import { fiveSteps } from '../engine/workflow.mjs';
import { collector, createVendor, filmDefinitions } from '../inflight/vendor.mjs';
import { serveCrew } from '../lib/crew.mjs';
import { followEnds } from '../lib/ends.mjs';
import { keepInFlight } from '../lib/in-flight.mjs';
import { engineDeps, ok, temporaryDirectory } from '../lib/world.mjs';

const far = { shortestMs: 600_000, longestMs: 900_000 };

/** As many rooms at the vendor as the rows of a take-over need, counted in the database as the product does. */
const concurrency = 200;

/**
 * One worker on the shared database, put together as the program does it. `steps`: runs its share of five-step executions. `wait`: brings its share to the
 * vendor and stays there until it is killed. `take-over`: does nothing but be there.
 */
serveCrew(async ({ role, url, owner, executions, inFlight, submitsFile }) => {
  const scale = await openScale({
    databaseUrl: new Secret(url),
    clock: createSystemClock(),
    logger: silentLogger,
    owner,
  });
  const { store, peers } = scale;
  const definitions = filmDefinitions(far);
  const bench = definitions.providers.get('bench');
  definitions.providers.set('bench', { ...bench, concurrency });
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
      peers,
      isGone: (other) => peers.isGone(other),
    }),
  );
  await engine.start();
  await scale.startDispatching(engine);
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
