import { writeFileSync } from 'node:fs';
import { createEngine } from '../../src/engine/index.ts';
import { encodeCommand } from '../../src/store/shared/encode.ts';
import { serve } from '../lib/child.mjs';
import { followEnds } from '../lib/ends.mjs';
import { keepInFlight } from '../lib/in-flight.mjs';
import { emptyDefinitions, engineDeps, ok, openStore, temporaryDirectory } from '../lib/world.mjs';
import { fiveSteps } from './workflow.mjs';

/**
 * The product through its door, after some executions that are not counted: submit, five function nodes, the end taken from the outbox and acknowledged. The clock
 * runs from the first submit to the last end. With `recordTo`, every row written is recorded for the raw limit to repeat
 * (and the figure of that run is not used).
 */
serve(async ({ executions, warmUp, inFlight, threaded, recordTo }) => {
  const directory = temporaryDirectory();
  const recording = { lists: [], groups: [] };
  const store = openStore(directory.path, {
    threaded,
    ...(recordTo === undefined ? {} : { onGroup: (lists) => recording.groups.push(lists) }),
  });
  if (recordTo !== undefined) record(store, recording);
  const engine = createEngine(
    engineDeps(directory.path, {
      store,
      definitions: definitionsOnce(),
      functions: new Map([['add-one', async ({ value }) => ok({ value: value + 1 })]]),
    }),
  );
  const ended = followEnds(store);
  await engine.start();
  const runOne = async (value) => {
    const receipt = await engine.submit({
      workflow: 'five-steps',
      input: { value },
      sourceRef: `cli:bench-${value}`,
      labels: {},
      generation: 0,
      idempotencyKey: `bench-${value}`,
    });
    if (!receipt.ok) throw new Error(JSON.stringify(receipt.failure));
    await ended(receipt.value.executionId);
  };
  await keepInFlight(warmUp, inFlight, async (value) => await runOne(executions + value));
  recording.lists.length = 0;
  recording.groups.length = 0;
  const cpuAtStart = process.cpuUsage();
  const startedAt = performance.now();
  await keepInFlight(executions, inFlight, runOne);
  const seconds = (performance.now() - startedAt) / 1000;
  const cpu = process.cpuUsage(cpuAtStart);
  await engine.stop(1_000);
  const last = await store.executions({ limit: executions + warmUp, statuses: ['succeeded'] });
  if (last.length !== executions + warmUp) throw new Error(`only ${last.length} of ${executions} succeeded`);
  await store.close();
  if (recordTo !== undefined) writeFileSync(recordTo, JSON.stringify(recording));
  directory.remove();
  return { steps_per_s: (executions * 5) / seconds, cpu_us_per_step: (cpu.user + cpu.system) / (executions * 5) };
});

function definitionsOnce() {
  const definitions = emptyDefinitions([fiveSteps]);
  return () => definitions;
}

function record(store, recording) {
  const { commit } = store;
  store.commit = (commands) => {
    if (commands.length > 0) recording.lists.push(commands.map(encodeCommand));
    return commit(commands);
  };
}
