import { writeFileSync } from 'node:fs';
import { createEngine } from '../../src/engine/index.ts';
import { encodeCommand } from '../../src/store/shared/encode.ts';
import { serve } from '../lib/child.mjs';
import { followEnds } from '../lib/ends.mjs';
import { keepInFlight, warmUp } from '../lib/in-flight.mjs';
import { emptyDefinitions, engineDeps, ok, openStore, temporaryDirectory } from '../lib/world.mjs';
import { fiveSteps } from './workflow.mjs';

/**
 * The product through its door, warm: submit, five function nodes, the end taken from the outbox and acknowledged. The
 * clock runs from the first submit to the last end. With `recordTo`, every row written from the start on is recorded for
 * the raw limit to repeat (and the figure of that run is not used).
 */
serve(async ({ executions, warm, inFlight, writer, recordTo }) => {
  const directory = temporaryDirectory();
  const recording = { lists: [], groups: [] };
  let isInThread = writer === 'thread';
  const store = openStore(directory.path, {
    writer,
    onMoved: () => {
      isInThread = true;
    },
    onGroup: (lists) => recording.groups.push(lists),
  });
  if (recordTo !== undefined) record(store, recording);
  const runOne = await startProduct(directory, store);
  const runBatch = (from, count) => keepInFlight(count, inFlight, (index) => runOne(from + index));
  const from = await warmUp(warm, runBatch);
  const warmUpGroups = recording.groups.length;
  const cpuAtStart = process.cpuUsage();
  const startedAt = performance.now();
  await runBatch(from, executions);
  const seconds = (performance.now() - startedAt) / 1000;
  const cpu = process.cpuUsage(cpuAtStart);
  const groups = recording.groups.slice(warmUpGroups);
  await runOne.stop();
  await mustHaveSucceeded(store, from + executions);
  await store.close();
  if (recordTo !== undefined) save({ ...recording, warmUpGroups, countedGroups: groups.length }, recordTo);
  directory.remove();
  return {
    steps_per_s: (executions * 5) / seconds,
    cpu_us_per_step: (cpu.user + cpu.system) / (executions * 5),
    lists_per_group: groups.reduce((sum, lists) => sum + lists, 0) / groups.length,
    is_writer_in_thread: isInThread ? 1 : 0,
  };
});

async function startProduct(directory, store) {
  const definitions = emptyDefinitions([fiveSteps]);
  const functions = new Map([['add-one', async ({ value }) => ok({ value: value + 1 })]]);
  const engine = createEngine(engineDeps(directory.path, { store, definitions: () => definitions, functions }));
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
  return Object.assign(runOne, { stop: () => engine.stop(1_000) });
}

async function mustHaveSucceeded(store, executions) {
  const last = await store.executions({ limit: executions, statuses: ['succeeded'] });
  if (last.length !== executions) throw new Error(`only ${last.length} of ${executions} succeeded`);
}

/** Commands never change, so they are kept as they are, and encoded when nothing is measured any more. */
function record(store, recording) {
  const { commit } = store;
  store.commit = (commands) => {
    if (commands.length > 0) recording.lists.push(commands);
    return commit(commands);
  };
}

function save({ lists, ...rest }, recordTo) {
  writeFileSync(recordTo, JSON.stringify({ lists: lists.map((list) => list.map(encodeCommand)), ...rest }));
}
