import { randomInt } from '../../src/kernel/index.ts';
import { callCounter, dayMs, hourMs, minuteMs, secondMs } from './world.mjs';

/** Staff look at a row some time after it waits for them. */
const lookMs = minuteMs;
const words = [
  ['提交', '待确认'],
  ['通过', '待确认'],
  ['通过', '完成'],
];

/** Calls of a day on which nobody types, after an hour of settling down. */
export async function idleDays({ clock, sandbox }, days) {
  await clock.runUntil(clock.monotonicMs() + hourMs);
  const count = callCounter(sandbox);
  await clock.runUntil(clock.monotonicMs() + days * dayMs);
  return { calls_per_day: count().all / days };
}

/** One row alone through all three stages. */
export async function singleRow({ clock, sandbox, staff }) {
  await clock.runUntil(clock.monotonicMs() + hourMs);
  const row = await staff.newRow();
  const count = callCounter(sandbox);
  for (const [word, end] of words) {
    staff.type(row, word);
    await staff.until([row], end);
    await clock.runUntil(clock.monotonicMs() + lookMs);
  }
  return count();
}

/**
 * A batch, each word typed into all rows within half a minute: 提交, then 通过 when all wait for it, twice. `scattered`:
 * each 通过 as soon as its own row waits for it and somebody has looked, so that hardly any word has company.
 */
export async function batch({ clock, sandbox, staff }, rows, { scattered = false } = {}) {
  await clock.runUntil(clock.monotonicMs() + hourMs);
  const ids = [];
  for (let index = 0; index < rows; index += 1) ids.push(await staff.newRow());
  const count = callCounter(sandbox);
  if (scattered) {
    staff.typeWithin(ids, '提交', 30 * secondMs);
    const watch = confirmEach({ clock, staff }, ids);
    await staff.until(ids, '完成');
    watch.stop();
  } else {
    for (const [word, end] of words) {
      staff.typeWithin(ids, word, 30 * secondMs);
      await clock.runUntil(clock.monotonicMs() + 30 * secondMs);
      await staff.until(ids, end);
      await clock.runUntil(clock.monotonicMs() + lookMs);
    }
  }
  await clock.runUntil(clock.monotonicMs() + minuteMs);
  const { byName, media, others, writes } = count();
  return { byName, media_per_row: media / rows, calls_per_row: others / rows, writes };
}

function confirmEach({ clock, staff }, ids) {
  const seen = new Map();
  let isOn = true;
  const look = () => {
    if (!isOn) return;
    for (const id of ids) {
      if (staff.status(id) !== '待确认') seen.delete(id);
      else if (!seen.has(id)) {
        seen.set(id, true);
        clock.after(lookMs, () => staff.type(id, '通过'));
      }
    }
    clock.after(secondMs, look);
  };
  look();
  return { stop: () => (isOn = false) };
}

/** Rows whose pictures are all ready at the vendor at the same moment: writes until all of them say so. */
export async function endTogether(world, rows) {
  const { clock, sandbox, staff } = world;
  await clock.runUntil(clock.monotonicMs() + hourMs);
  const ids = [];
  for (let index = 0; index < rows; index += 1) ids.push(await staff.newRow());
  const readyMs = clock.monotonicMs() + 5 * minuteMs;
  sandbox.faults.add({
    endpoint: 'kie.createTask',
    count: Number.POSITIVE_INFINITY,
    probability: 0,
    when: () => {
      const leftMs = Math.max(0, readyMs - clock.monotonicMs());
      sandbox.controls.latencies = { ...sandbox.controls.latencies, imageTaskMs: leftMs };
      return true;
    },
    action: { kind: 'delay', delayMs: 0 },
  });
  staff.typeWithin(ids, '提交', 30 * secondMs);
  await clock.runUntil(readyMs);
  const count = callCounter(sandbox);
  await staff.until(ids, '待确认');
  return { writes: count().writes, seconds: (clock.monotonicMs() - readyMs) / secondMs };
}

/** From typing to the first paid call, for rows typed one at a time at moments without pattern. */
export async function starts({ clock, staff, random, paid }, rows) {
  await clock.runUntil(clock.monotonicMs() + hourMs);
  const delaysMs = [];
  for (let index = 0; index < rows; index += 1) {
    const row = await staff.newRow();
    await clock.runUntil(clock.monotonicMs() + randomInt(random, 10 * minuteMs));
    const before = paid.length;
    const typedMs = clock.monotonicMs();
    staff.type(row, '提交');
    await staff.until([row], '待确认');
    delaysMs.push(paid[before] - typedMs);
  }
  return delaysMs;
}
