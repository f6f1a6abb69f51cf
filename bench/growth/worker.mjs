import { createEngine } from '../../src/engine/index.ts';
import { createCalendar, createMetrics } from '../../src/monitor/index.ts';
import { followEnds } from '../lib/ends.mjs';
import { engineDeps, ok } from '../lib/world.mjs';
import { collector, filmDefinitions } from '../inflight/vendor.mjs';

/** An engine with its metrics on a store, and a vendor that has every film ready at once. */
export async function startWorker(directory, store) {
  const definitions = filmDefinitions({ shortestMs: 1_000, longestMs: 1_000 });
  const deps = engineDeps(directory, {
    store,
    definitions: () => definitions,
    providers: new Map([['bench', { account: 'bench', adapters: [scriptedVendor()] }]]),
    collector,
  });
  deps.settings.limits.daily_cost['try-on'] = { micros: 1_000_000_000_000, currency: 'CNY' };
  deps.settings.limits.row_cost['try-on'] = { micros: 1_000_000_000, currency: 'CNY' };
  const engine = createEngine(deps);
  const metrics = createMetrics({
    ...deps,
    calendar: createCalendar('Asia/Shanghai'),
    files: filesInMemory(),
    inputs: metricsInputs,
    isConfirmPoint: () => false,
  });
  const ended = followEnds(store);
  await engine.start();
  await metrics.flush();
  return {
    engine,
    metrics,
    /** From the submission of a row's film to its end on disk, in milliseconds. */
    runRow: async (row) => {
      const startedAt = performance.now();
      const receipt = await engine.submit({
        workflow: 'film',
        input: { prompt: `row ${row}: ${'a dress in the morning light, '.repeat(10)}` },
        sourceRef: `bitable:app/table/row${row}#video`,
        labels: { agent: 'try-on', stage: 'video', submitter: 'ou_1' },
        generation: 0,
        idempotencyKey: `row-${row}`,
      });
      if (!receipt.ok) throw new Error(JSON.stringify(receipt.failure));
      await ended(receipt.value.executionId);
      return performance.now() - startedAt;
    },
    stop: async () => {
      await metrics.stop();
      await engine.stop(1_000);
      await store.close();
    },
  };
}

function scriptedVendor() {
  let films = 0;
  return {
    implementation: 'bench.film',
    version: 1,
    capabilities: ['video.generate'],
    prepare: async ({ key, capability, input }) =>
      ok({ implementation: 'bench.film', version: 1, key, model: 'film', capability, body: input }),
    submit: async () => {
      films += 1;
      const video = { kind: 'remote', url: `https://vendor.example/${films}.mp4`, media: 'video' };
      return { kind: 'completed', output: { videos: [video] }, cost: { usage: { calls: 1 } } };
    },
  };
}

function filesInMemory() {
  const files = new Map();
  return {
    replace: async (name, text) => void files.set(name, text),
    remove: async (name) => void files.delete(name),
    list: async () => [],
  };
}

const metricsInputs = () => ({
  mode: 'live',
  intervalMs: 30_000,
  workers: [],
  feishu: undefined,
  balances: [],
  alerter: { recent: () => [], raised: () => [], channels: () => ({}) },
  waiting: {},
  isPaused: false,
  lagMs: 0,
  disk: undefined,
});
