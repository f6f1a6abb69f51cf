import { measure } from './lib/child.mjs';
import { median, medians, ratio, round } from './lib/figures.mjs';

const script = new URL('./calls/measure.mjs', import.meta.url);

/**
 * Calls to Feishu and time to start, counted by the sandbox under virtual time. The peers are computed from the same runs:
 * a worker that only polls every 30 s, and writes each change of a row in a call of its own.
 */
export async function benchIntake({ runs = 3, say }) {
  const rounds = [];
  for (let run = 1; run <= runs; run += 1) {
    say(`intake: run ${run} of ${runs}`);
    const idle = await measure(script, { kind: 'idle', seed: run });
    say(`  idle: ${JSON.stringify(idle)}`);
    const single = await measure(script, { kind: 'rows', seed: run, rows: 1 });
    const batch = await measure(script, { kind: 'rows', seed: run, rows: 50 });
    say(`  rows: ${JSON.stringify({ single, batch })}`);
    const start = await measure(script, { kind: 'start', seed: run, samples: 15 });
    say(`  start: ${JSON.stringify(start)}`);
    rounds.push({ idle, single, batch, start });
  }
  const product = medians(
    rounds.map(({ idle, single, batch, start }) => ({
      idle_calls_per_day: idle.wakeups,
      idle_calls_per_day_polling: idle.polling,
      calls_per_row_single: single.calls_per_row,
      calls_per_row_batch: batch.calls_per_row,
      media_calls_per_row: batch.media_calls_per_row,
      start_ms_wakeup: start.wakeup,
      start_ms_poll: start.poll,
    })),
  );
  const changes = round(median(rounds.map(({ batch }) => batch.row_changes_per_row)));
  const peers = {
    'poll-30s, a call for each change': { idle_calls_per_day: 2_880, calls_per_row_batch: changes, start_ms: 15_000 },
  };
  // A search every ten minutes is all that the wake-ups leave; a full batch of 500 rows a call cannot be beaten.
  const limit = { idle_calls_per_day: 144, calls_per_row_batch: round(changes / 500), start_ms_poll: 15_000 };
  const [naive] = Object.values(peers);
  const ratios = {
    idle_to_polling: ratio(product.idle_calls_per_day, naive.idle_calls_per_day),
    calls_per_row_to_naive: ratio(product.calls_per_row_batch, naive.calls_per_row_batch),
    start_to_polling: ratio(product.start_ms_wakeup, product.start_ms_poll),
  };
  return { bench: 'intake', runs, product, limit, peers, ratios };
}
