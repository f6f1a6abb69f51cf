import { measure } from './lib/child.mjs';
import { median, ratio, round } from './lib/figures.mjs';
import { goals } from './lib/goals.mjs';

const measureScript = new URL('./growth/measure.mjs', import.meta.url);
const shippedSizes = [10, 100, 1_000, 10_000, 100_000];
const asLaunched = { asLaunched: true, timeoutMs: 1_200_000 };

/** What must not follow the number of rows that were ever run, each as the largest history to a thousand rows (the third size). */
const flat = ['start_ms', 'idle_cpu_ratio', 'row_ms', 'metrics_ms', 'budget_ms', 'row_cost_ms', 'list_ms', 'held_ms'];

/**
 * A worker on a store with 10 to 100,000 rows behind it, all kept: its start, its idling, a row, the metrics, the reads of
 * budgets and command line, memory and room on disk; then half of the history is forgotten beside a beating loop.
 */
export async function benchGrowth({ runs = 1, say, sizes = shippedSizes }) {
  const figures = {};
  for (const rows of sizes) {
    const results = [];
    for (let run = 1; run <= runs; run += 1) {
      results.push(await measure(measureScript, { rows }, asLaunched));
      say(`growth: ${rows} rows, run ${run} of ${runs}: ${JSON.stringify(results.at(-1))}`);
    }
    const names = Object.keys(results[0]);
    figures[rows] = Object.fromEntries(names.map((name) => [name, round(median(results.map((one) => one[name])))]));
  }
  const largest = figures[sizes.at(-1)];
  const ratios = Object.fromEntries(
    [...flat, 'rss_mb'].map((name) => [name, ratio(largest[name], figures[sizes[2]][name])]),
  );
  return {
    bench: 'growth',
    runs,
    product: figures,
    limit: { start_ms: 1, idle_cpu_ratio: 1, row_ms: 1, rss_mb: 1 },
    peers: {},
    ratios,
    goals: goals({
      row_ms: [ratios.row_ms, { atMost: 1.5 }],
      idle_cpu_ratio: [ratios.idle_cpu_ratio, { atMost: 1.5 }],
      start_ms: [ratios.start_ms, { atMost: 2 }],
      // SQLite's page cache, 8 MB a connection, is full once there is enough to fill it.
      rss_mb: [ratios.rss_mb, { atMost: 1.2 }],
      prune_lag_p99_ms: [largest.prune_lag_p99_ms, { atMost: 50 }],
    }),
  };
}
