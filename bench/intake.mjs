import { median, medians, ratio, round } from './lib/figures.mjs';
import { startNaive } from './intake/naive.mjs';
import { batch, endTogether, idleDays, singleRow, starts } from './intake/scenes.mjs';
import { createWorld, eventDelayMs, startProduct } from './intake/world.mjs';
import { noLatencies, realisticLatencies } from '../src/sandbox/index.ts';

const batchRows = 50;
const startRows = 60;
const paidPlan = { GRIDLOOM__FEISHU__PLAN: 'paid' };

/**
 * What the table side costs: the whole product against the sandbox in one process under virtual time, so that every call
 * is counted and every delay exact. The sandbox answers as slowly as the real services (`realisticLatencies`). Beside it:
 * the naive design of seed 002 on the same world, and the least that could do the job, computed.
 */
export async function benchIntake({ runs = 3, say }) {
  // A month of polling, since the budget stretches it as the month goes on; the same in every run.
  const polling = await measureIdle(1, 30, false);
  const rounds = [];
  for (let run = 1; run <= runs; run += 1) {
    say(`intake: run ${run} of ${runs}`);
    rounds.push(await oneRound(run, say));
  }
  const product = { ...medians(rounds.map((one) => one.product)), idle_calls_per_day_polling: round(polling) };
  const naive = medians(rounds.map((one) => one.naive));
  const limit = medians(rounds.map((one) => leastOf(one)));
  const ratios = {
    to_limit: ratio(product.calls_per_row_batch, limit.calls_per_row_batch),
    to_best_peer: ratio(naive.calls_per_row_batch, product.calls_per_row_batch),
    idle_to_naive: ratio(naive.idle_calls_per_day, product.idle_calls_per_day),
    start_to_limit: ratio(product.start_ms_wakeup, limit.start_ms_wakeup),
    start_to_naive: ratio(naive.start_ms_poll, product.start_ms_wakeup),
  };
  return { bench: 'intake', runs, product, limit, peers: { 'naive-30s': naive }, ratios };
}

async function oneRound(seed, say) {
  const product = await measureProduct(seed);
  say(`  product: ${JSON.stringify(product)}`);
  const naive = await measureNaive(seed);
  say(`  naive: ${JSON.stringify(naive)}`);
  return { product, naive };
}

async function onProduct(seed, scene, { wakeUps = true, ...options } = {}) {
  const world = await createWorld({ seed, ...options });
  const house = await startProduct(world, { wakeUps });
  const figures = await scene(world);
  await stopHouse(world, house);
  return figures;
}

async function measureIdle(seed, days, wakeUps) {
  return (await onProduct(seed, (world) => idleDays(world, days), { wakeUps })).calls_per_day;
}

async function measureProduct(seed) {
  const on = async (scene, options) => await onProduct(seed, scene, options);
  const single = await on(singleRow);
  const together = await on((world) => batch(world, batchRows));
  const scattered = await on((world) => batch(world, batchRows, { scattered: true }));
  const ends = await on((world) => endTogether(world, batchRows));
  const wakeup = await on((world) => starts(world, startRows), { env: paidPlan });
  const instant = await on((world) => starts(world, startRows), {
    env: paidPlan,
    latencies: { ...noLatencies, imageTaskMs: 1_000 },
  });
  const poll = await on((world) => starts(world, startRows), { env: paidPlan, wakeUps: false });
  return {
    idle_calls_per_day: await measureIdle(seed, 1, true),
    calls_per_row_single: single.others,
    calls_per_row_batch: together.calls_per_row,
    calls_per_row_batch_scattered: scattered.calls_per_row,
    media_calls_per_row: together.media_per_row,
    write_calls_50_ends: ends.writes,
    start_ms_wakeup: median(wakeup),
    start_ms_wakeup_worst: Math.max(...wakeup),
    start_ms_wakeup_instant_platform: median(instant),
    start_ms_poll: median(poll),
    start_ms_poll_worst: Math.max(...poll),
  };
}

async function stopHouse({ clock }, house) {
  const stopped = house.stop(0);
  await clock.runUntil(clock.monotonicMs() + 20_000);
  await stopped;
  await house.ports.store.close();
}

async function measureNaive(seed) {
  const on = async (scene) => {
    const world = await createWorld({ seed });
    const { paid } = startNaive(world);
    return await scene({ ...world, paid });
  };
  const together = await on((world) => batch(world, batchRows));
  const poll = await on((world) => starts(world, startRows));
  return {
    idle_calls_per_day: (await on((world) => idleDays(world, 1))).calls_per_day,
    calls_per_row_single: (await on(singleRow)).others,
    calls_per_row_batch: together.calls_per_row,
    start_ms_poll: median(poll),
    start_ms_poll_worst: Math.max(...poll),
  };
}

/**
 * The least that could do the job, computed. A day: one search in each `poll.sweep_interval` and a token every two hours. A
 * row and stage: it is read once, its word cleared once, its result written once (a message and 进度 are not needed); in a
 * batch all rows share each of these. Media: the picture down, each result up once. A start: event, read, clear and picture
 * at the platform's mean pace; by polling, half an interval before it.
 */
function leastOf({ product }) {
  const mean = ({ fromMs, toMs }) => (fromMs + toMs) / 2;
  const { feishuReadMs, feishuWriteMs, feishuMediaMs } = realisticLatencies;
  const tokensPerDay = 12;
  const start = mean(eventDelayMs) + mean(feishuReadMs) + Math.max(mean(feishuWriteMs), mean(feishuMediaMs));
  return {
    idle_calls_per_day: 144 + tokensPerDay,
    idle_calls_per_day_polling: 2_880 + tokensPerDay,
    calls_per_row_single: 9,
    calls_per_row_batch: 9 / batchRows,
    media_calls_per_row: product.media_calls_per_row,
    write_calls_50_ends: 1,
    start_ms_wakeup: start,
    start_ms_poll: start - mean(eventDelayMs) + 15_000,
  };
}
