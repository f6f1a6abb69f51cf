import { serve } from '../lib/child.mjs';
import { median } from '../lib/figures.mjs';
import { openWorld } from './world.mjs';

const dayMs = 86_400_000;
const paidPlan = { GRIDLOOM__FEISHU__PLAN: 'paid' };

serve(async ({ kind, seed, rows, samples }) => {
  if (kind === 'idle') return { wakeups: await idleDay(seed, true), polling: await idleDay(seed, false) };
  if (kind === 'rows') return await workThroughRows(seed, rows);
  return { wakeup: await startTimes(seed, true, samples), poll: await startTimes(seed, false, samples) };
});

/** One table, nobody types: calls from the second hour on, for a day. */
async function idleDay(seed, wakeUps) {
  const world = await openWorld({ seed, wakeUps });
  await world.clock.runUntil(3_600_000);
  const before = world.counts().plain;
  await world.clock.runUntil(3_600_000 + dayMs);
  return world.counts().plain - before;
}

/** Rows typed at once, each through its three stages, 通过 typed a minute after it is asked for. */
async function workThroughRows(seed, rows) {
  const world = await openWorld({ seed, wakeUps: true, env: paidPlan });
  await world.clock.runUntil(60_000);
  const recordIds = [];
  for (let number = 0; number < rows; number += 1) recordIds.push(await world.addRow(number));
  const before = world.counts();
  const writesBefore = world.sandbox.books.cellWrites().length;
  for (const recordId of recordIds) world.type(recordId, '提交');
  const confirmAt = new Map();
  const ends = () => recordIds.filter((recordId) => world.status(recordId) === '完成').length;
  for (let minute = 0; ends() < rows; minute += 1) {
    if (minute > 24 * 60) throw new Error(`only ${ends()} of ${rows} rows ended: ${recordIds.map(world.status)}`);
    await world.clock.runUntil(world.clock.monotonicMs() + 60_000);
    for (const recordId of recordIds) {
      if (world.status(recordId) === '失败') throw new Error(world.sandbox.table.text(world.tableId, recordId, '报错'));
      if (world.status(recordId) !== '待确认') confirmAt.delete(recordId);
      else if (!confirmAt.has(recordId)) confirmAt.set(recordId, minute + 1);
      else if (confirmAt.get(recordId) === minute) world.type(recordId, '通过');
    }
  }
  const after = world.counts();
  const writes = world.sandbox.books
    .cellWrites()
    .slice(writesBefore)
    .filter((write) => write.hand === 'app');
  const changes = new Set(writes.map(({ recordId, atMs }) => `${recordId} ${atMs}`)).size;
  return {
    calls_per_row: (after.plain - before.plain) / rows,
    media_calls_per_row: (after.media - before.media) / rows,
    row_changes_per_row: changes / rows,
  };
}

/** From the word to the first paid call, one row after another, typed at any moment of the interval. */
async function startTimes(seed, wakeUps, samples) {
  const world = await openWorld({ seed, wakeUps, env: paidPlan });
  await world.clock.runUntil(120_000);
  const times = [];
  for (let sample = 0; sample < samples; sample += 1) {
    await world.clock.runUntil(world.clock.monotonicMs() + 7_300 * (sample + 1));
    const recordId = await world.addRow(sample);
    const typedAt = world.clock.nowMs();
    const before = world.paid.length;
    world.type(recordId, '提交');
    for (let step = 0; world.paid.length === before; step += 1) {
      if (step > 6_000) throw new Error('no paid call within ten minutes');
      await world.clock.runUntil(world.clock.monotonicMs() + 100);
    }
    times.push(world.paid[before] - typedAt);
    world.type(recordId, '取消');
    await world.clock.runUntil(world.clock.monotonicMs() + 600_000);
  }
  return median(times);
}
