import { measure } from './lib/child.mjs';
import { medians, round } from './lib/figures.mjs';
import { goals } from './lib/goals.mjs';
import { temporaryDirectory } from './lib/world.mjs';

const waiting = new URL('./inflight/waiting.mjs', import.meta.url);
const restart = new URL('./inflight/restart.mjs', import.meta.url);
const rows = 10_000;
const asLaunched = { asLaunched: true };
/** Tasks of one to four minutes. */
const minutes = { shortestMs: 60_000, longestMs: 240_000 };
/** The same with a slow disk, four times as busy, so that the run is shorter. */
const quarter = { shortestMs: 15_000, longestMs: 60_000 };

/**
 * 10,000 executions wait on vendors in one process, in real time (about ten minutes a run), with the store and the memory
 * settings of a live worker. Beside it: fixed-interval polling of the same tasks, computed; and the writer kept on the
 * event loop, on a disk whose fsync takes 10 ms.
 */
export async function benchInflight({ runs = 1, say }) {
  const results = [];
  // Leaves the compiled code behind, as a first start of the product does.
  await measure(waiting, { rows: 20, ...minutes, stopWhenWaiting: true }, asLaunched);
  for (let run = 1; run <= runs; run += 1) {
    say(`inflight: run ${run} of ${runs}`);
    const main = await measure(waiting, { rows, ...minutes }, asLaunched);
    say(`  waiting: ${JSON.stringify(main)}`);
    const slow = await measure(waiting, { rows, ...quarter, slowSyncMs: 10 }, asLaunched);
    say(`  slow disk, the worker's store: lag p99 ${slow.lag_p99_ms.toFixed(1)} ms`);
    const slowInline = await measure(waiting, { rows, ...quarter, writer: 'loop', slowSyncMs: 10 }, asLaunched);
    say(`  slow disk, writer kept on the loop: lag p99 ${slowInline.lag_p99_ms.toFixed(1)} ms`);
    const again = await measureRestart();
    say(`  restart: ${again.restart_ms.toFixed(0)} ms`);
    results.push({
      product: { ...main, lag_p99_ms_slow_disk: slow.lag_p99_ms, lag_max_ms_slow_disk: slow.lag_max_ms, ...again },
      inline: { lag_p99_ms_slow_disk: slowInline.lag_p99_ms },
    });
  }
  const product = medians(results.map((result) => result.product));
  const fixed = (intervalMs) => fixedPolling(intervalMs, minutes);
  const samePolls = fixed((minutes.shortestMs + minutes.longestMs) / 2 / (product.polls_per_task - 0.5));
  const peers = {
    'fixed-10s': fixed(10_000),
    'fixed-30s': fixed(30_000),
    'fixed-as-many-polls': samePolls,
    'writer-kept-on-the-loop': medians(results.map((result) => result.inline)),
  };
  const ratios = {
    polls_to_fixed_10s: round(product.polls_per_task / peers['fixed-10s'].polls_per_task),
    delay_to_fixed_as_many_polls: round(product.notice_delay_ratio / samePolls.notice_delay_ratio),
  };
  const limit = { rss_mb: 300, lag_p99_ms: 50, polls_per_task: 8, notice_delay_ratio: 0.05, restart_ms: 3_000 };
  return { bench: 'inflight', runs, product, limit, peers, ratios, goals: goalsOf(product, limit) };
}

/** The limits, and that no task is submitted or told of twice. */
function goalsOf(product, limit) {
  const lag = product.lag_p99_ms_slow_disk;
  return goals({
    ...Object.fromEntries(Object.entries(limit).map(([name, atMost]) => [name, [product[name], { atMost }]])),
    lag_p99_ms_slow_disk: [lag, { atMost: limit.lag_p99_ms }],
    second_submits: [product.second_submits, { atMost: 0 }],
  });
}

async function measureRestart() {
  const directory = temporaryDirectory();
  try {
    // Far deadlines, and the process is killed with everything in flight.
    const far = { shortestMs: 600_000, longestMs: 900_000 };
    const input = { rows, ...far, directoryPath: directory.path };
    await measure(waiting, { ...input, stopWhenWaiting: true }, asLaunched);
    return await measure(restart, input, asLaunched);
  } finally {
    directory.remove();
  }
}

/** What polling every so often would need for tasks of evenly spread lengths: looks a task, and mean delay to mean length. */
function fixedPolling(intervalMs, { shortestMs, longestMs }) {
  const tasks = 10_000;
  let polls = 0;
  let delayMs = 0;
  for (let task = 0; task < tasks; task += 1) {
    const lengthMs = shortestMs + ((task + 0.5) / tasks) * (longestMs - shortestMs);
    const needed = Math.ceil(lengthMs / intervalMs);
    polls += needed;
    delayMs += needed * intervalMs - lengthMs;
  }
  const meanLengthMs = (shortestMs + longestMs) / 2;
  return { polls_per_task: round(polls / tasks), notice_delay_ratio: round(delayMs / tasks / meanLengthMs) };
}
