import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createEngine } from '../../src/engine/index.ts';
import { serve } from '../lib/child.mjs';
import { median } from '../lib/figures.mjs';
import { keepInFlight } from '../lib/in-flight.mjs';
import { engineDeps, openStore, temporaryDirectory } from '../lib/world.mjs';
import { collector, createVendor, filmDefinitions } from './vendor.mjs';

/**
 * So many rows wait on the vendor in one process, from the first submit until every film is there. Lag is that of the
 * whole run, intake and endings included; memory is that of the waiting (the median of its samples), the most seen beside
 * it; CPU is process time over wall time.
 */
serve(async ({ rows, shortestMs, longestMs, slowSyncMs, writer, stopWhenWaiting, directoryPath }) => {
  const directory =
    directoryPath === undefined ? temporaryDirectory() : { path: directoryPath, remove: () => undefined };
  let movedAtMs;
  const store = openStore(directory.path, {
    writer,
    onMoved: () => {
      movedAtMs ??= performance.now();
    },
    ...(slowSyncMs === undefined ? {} : { slowSyncMs }),
  });
  const vendor = createVendor({ shortestMs, longestMs, answerMs: 50 });
  const definitions = filmDefinitions({ shortestMs, longestMs });
  const engine = createEngine(
    engineDeps(directory.path, {
      store,
      definitions: () => definitions,
      providers: new Map([['bench', vendor.provider]]),
      collector,
    }),
  );
  await engine.start();
  const lag = monitorEventLoopDelay({ resolution: 5 });
  lag.enable();
  const cpuAtStart = process.cpuUsage();
  const startedAt = performance.now();
  const rss = { most: 0, waiting: [] };
  let isWaiting = false;
  const watch = setInterval(() => {
    const now = process.memoryUsage.rss();
    rss.most = Math.max(rss.most, now);
    if (isWaiting) rss.waiting.push(now);
  }, 500);

  await keepInFlight(rows, 200, async (row) => {
    const receipt = await engine.submit({
      workflow: 'film',
      input: { prompt: `row ${row}` },
      sourceRef: `bitable:app/table/row${row}#video`,
      labels: { agent: 'try-on', stage: 'video' },
      generation: 0,
      idempotencyKey: `row-${row}`,
    });
    if (!receipt.ok) throw new Error(JSON.stringify(receipt.failure));
  });
  await until(() => vendor.books.submits === rows, 120_000, 'every row is at the vendor');
  const intakeMs = performance.now() - startedAt;
  await until(
    async () => (await store.attemptsInState(['intended'], 1)).length === 0,
    120_000,
    'every handle is stored',
  );
  const waitingAt = { ms: performance.now(), cpu: process.cpuUsage() };
  isWaiting = true;
  if (stopWhenWaiting === true) return { rows, intake_ms: intakeMs };

  const noticed = () => vendor.books.doneTasks.size;
  await until(() => noticed() === rows, longestMs + 180_000, 'every film is noticed').catch(async (error) => {
    console.error(`noticed ${noticed()} of ${rows}`, JSON.stringify(await store.unfinished(3)));
    throw error;
  });
  await until(async () => (await store.unfinished(1)).length === 0, 60_000, 'every execution has ended');
  const wallMs = performance.now() - startedAt;
  const cpu = process.cpuUsage(cpuAtStart);
  const waitingCpu = process.cpuUsage(waitingAt.cpu);
  clearInterval(watch);
  lag.disable();
  await engine.stop(1_000);
  await store.close();
  directory.remove();
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  return {
    rows,
    rss_mb: median(rss.waiting) / 1024 / 1024,
    rss_most_mb: rss.most / 1024 / 1024,
    lag_p50_ms: lag.percentile(50) / 1e6 - 5,
    lag_p99_ms: Math.max(0, lag.percentile(99) / 1e6 - 5),
    lag_max_ms: lag.max / 1e6,
    cpu_ratio: (cpu.user + cpu.system) / 1000 / wallMs,
    cpu_ratio_waiting: (waitingCpu.user + waitingCpu.system) / 1000 / (performance.now() - waitingAt.ms),
    intake_ms: intakeMs,
    polls_per_task: vendor.books.polls / rows,
    notice_delay_ms: mean(vendor.books.delaysMs),
    mean_length_ms: mean(vendor.books.lengthsMs),
    notice_delay_ratio: mean(vendor.books.delaysMs) / mean(vendor.books.lengthsMs),
    success_told_again: vendor.books.toldAgain,
    second_submits: vendor.books.submits - rows,
    // From the first submit on; -1 where the writer stayed where it was.
    writer_moved_after_ms: movedAtMs === undefined ? -1 : Math.max(0, movedAtMs - startedAt),
  };
});

async function until(look, limitMs, what) {
  const startedAt = performance.now();
  while (!(await look())) {
    if (performance.now() - startedAt > limitMs) throw new Error(`not within ${limitMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
