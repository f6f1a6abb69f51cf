import { statSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { readExecution } from '../../src/cli/render/execution-view.ts';
import { createCalendar, ledgerBy } from '../../src/monitor/index.ts';
import { checkpointStore, pruneStore } from '../../src/store/index.ts';
import { serve } from '../lib/child.mjs';
import { median } from '../lib/figures.mjs';
import { openStore, temporaryDirectory } from '../lib/world.mjs';
import { copyHistory } from './history.mjs';
import { startWorker } from './worker.mjs';

const dayMs = 86_400_000;
const historyDays = 180;
/** Bought today, whatever the history: so many a day are another question. */
const rowsToday = 100;
const idleMs = 5_000;
const timedRows = 30;
const megabyte = 1_000_000;

/** A store with so many ended rows behind it, and what a worker on it costs. */
serve(async ({ rows }) => {
  const directory = temporaryDirectory();
  const path = join(directory.path, 'gridloom.db');
  try {
    const emptyBytes = await begin(directory.path, path);
    const nowMs = Date.now();
    copyHistory(path, { rows, days: historyDays, upToMs: nowMs - dayMs });
    const bytesPerRow = (statSync(path).size - emptyBytes) / rows;
    copyHistory(path, { rows: rowsToday, days: 0.01, upToMs: nowMs - 60_000, from: rows });
    const living = await live(directory.path, rows);
    return { rows, db_bytes_per_row: bytesPerRow, ...living, ...(await forget(path, rows, nowMs)) };
  } finally {
    directory.remove();
  }
});

/** A first row, from which the history is copied. */
async function begin(directory, path) {
  const worker = await startWorker(directory, openStore(directory));
  await worker.runRow(1);
  await worker.stop();
  checkpointStore(path);
  return statSync(path).size;
}

async function live(directory, rows) {
  const openedAt = performance.now();
  const store = openStore(directory);
  const worker = await startWorker(directory, store);
  const start_ms = performance.now() - openedAt;
  for (let row = 10; row < 40; row += 1) await worker.runRow(row);
  const idle_cpu_ratio = await idleCpuRatio(worker);
  global.gc?.();
  const rss_mb = process.memoryUsage.rss() / megabyte;
  const rowMs = [];
  for (let row = 100; row < 100 + timedRows; row += 1) rowMs.push(await worker.runRow(row));
  const metrics_ms = await timed(async (round) => {
    await worker.runRow(1_000 + round);
    const startedAt = performance.now();
    await worker.metrics.flush();
    return performance.now() - startedAt;
  });
  const reads = await timeReads(store, rows);
  await worker.stop();
  return { start_ms, idle_cpu_ratio, rss_mb, row_ms: median(rowMs), metrics_ms, ...reads };
}

/** The engine's sweep comes every 5 s by itself; the metrics are written each second. */
async function idleCpuRatio({ metrics }) {
  metrics.start();
  const before = process.cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, idleMs));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / idleMs;
}

async function timeReads(store, rows) {
  const calendar = createCalendar('Asia/Shanghai');
  const month = calendar.monthOf(Date.now());
  const dayStart = calendar.startOfDay(calendar.dayOf(Date.now()));
  const sourceRefPrefix = `bitable:app/table/past${Math.floor(rows / 2)}#`;
  const [middle] = await store.executions({ sourceRefPrefix, limit: 1 });
  const took = async (read) => {
    const startedAt = performance.now();
    await read();
    return performance.now() - startedAt;
  };
  const reads = {
    budget_ms: async () => await store.charges({ agent: 'try-on', fromMs: dayStart, states: ['reserved', 'settled'] }),
    row_cost_ms: async () => await store.charges({ sourceRefPrefix }),
    list_ms: async () => await store.executions({ limit: 30 }),
    held_ms: async () => await store.executions({ limit: 30, statuses: ['held'] }),
    failed_ms: async () => await store.executions({ limit: 30, statuses: ['failed'] }),
    show_ms: async () => await readExecution(store, middle.id),
    ledger_ms: async () => ledgerBy(await store.charges(calendar.monthRange(month)), 'agent', month, 'Asia/Shanghai'),
  };
  const figures = {};
  for (const [name, read] of Object.entries(reads)) figures[name] = await timed(() => took(read));
  return figures;
}

async function timed(measureOnce) {
  const all = [];
  for (let round = 0; round < 7; round += 1) all.push(await measureOnce(round));
  return median(all);
}

/** Half of the history is forgotten beside a beating loop; as much comes anew, and should fit into the room left. */
async function forget(path, rows, nowMs) {
  const lag = monitorEventLoopDelay({ resolution: 2 });
  lag.enable();
  const startedAt = performance.now();
  const { executions } = await pruneStore(path, nowMs - (historyDays / 2) * dayMs);
  const prune_s = (performance.now() - startedAt) / 1_000;
  lag.disable();
  const againAt = performance.now();
  await pruneStore(path, nowMs - (historyDays / 2) * dayMs);
  const prune_again_s = (performance.now() - againAt) / 1_000;
  checkpointStore(path);
  const before = statSync(path).size;
  copyHistory(path, { rows: executions, days: 0.5, upToMs: nowMs - 3_600_000, from: 10 * rows + 1_000 });
  return {
    forgotten: executions,
    prune_s,
    prune_again_s,
    prune_lag_p99_ms: Math.max(0, lag.percentile(99) / 1e6 - 2),
    prune_lag_max_ms: lag.max / 1e6 - 2,
    // What the file grows by when as many rows come as were forgotten: what is kept of a row for ever.
    kept_bytes_per_row: executions === 0 ? 0 : (statSync(path).size - before) / executions,
  };
}
