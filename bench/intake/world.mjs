import { fileURLToPath } from 'node:url';
import { assemble, createTickLoop, readConfiguration, sandboxTableId, sandboxTableOf } from '../../src/app/index.ts';
import { createIdSource, createSeededRandom, noFailpoints, randomInt, silentLogger } from '../../src/kernel/index.ts';
import { createMemorySpool } from '../../src/media/index.ts';
import {
  createInProcessFetch,
  createPlainPainter,
  createSandbox,
  realisticLatencies,
} from '../../src/sandbox/index.ts';
import { createSqliteStore } from '../../src/store/index.ts';
import { createPlainPictures } from '../../test/simulation/plain-pictures.ts';
import { createSimClock } from '../../test/simulation/sim-clock.ts';

const origin = 'http://sandbox.test';
const projectDirectory = fileURLToPath(new URL('../..', import.meta.url));
/** Midnight of 1 December 2026 in Shanghai: a month begins. */
const startAtMs = Date.UTC(2026, 10, 30, 16, 0, 0);
/** From the edit in the table to its event on the long connection; nobody has published how long it is. */
export const eventDelayMs = { fromMs: 50, toMs: 250 };

export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** The outside world of one try-on table, under virtual time. */
export async function createWorld({ seed, env = {}, latencies = realisticLatencies }) {
  const read = { value: await configurationFor(env) };
  const luck = (stream) => createSeededRandom(seed * 1_000 + stream);
  const clock = createSimClock(startAtMs, luck(1));
  const agent = read.value.definitions.agents.get('try-on');
  const sandbox = createSandbox({
    clock,
    random: luck(2),
    baseUrl: origin,
    painter: createPlainPainter(),
    latencies,
    people: [{ openId: 'ou_anna', name: 'anna' }],
    tables: [sandboxTableOf(agent, [])],
  });
  await sandbox.seed();
  const tables = new Map([...read.value.environment.tables].filter(([name]) => name === 'try-on'));
  const config = { ...read.value, environment: { ...read.value.environment, tables } };
  const paid = [];
  const world = { clock, sandbox, config, luck, origin, tableId: sandboxTableId('try-on'), random: luck(3), paid };
  return { ...world, fetch: noteFetch(createInProcessFetch(sandbox), clock, paid), staff: createStaff(world) };
}

const configurations = new Map();

/** Read once for all worlds of a run: a file that is being edited meanwhile must not tell them apart. */
async function configurationFor(env) {
  const key = JSON.stringify(env);
  const known = configurations.get(key);
  if (known !== undefined) return known;
  const given = { GRIDLOOM_MODE: 'sandbox', ...env };
  const read = await readConfiguration({ directory: projectDirectory, env: given, sandboxOrigin: origin });
  if (!read.ok) throw new Error(read.failure.map((fault) => `${fault.file}:${fault.line} ${fault.what}`).join('\n'));
  configurations.set(key, read.value);
  return read.value;
}

/** Notes when paid calls leave: chat, and tasks of picture and film. */
function noteFetch(fetch, clock, paid) {
  const isPaid =
    /\/chat\/completions$|\/jobs\/createTask$|\/veo\/generate$|\/images\/generations$|\/videos\/generations$/;
  return async (url, init) => {
    if (init.method === 'POST' && isPaid.test(new URL(url).pathname)) paid.push(clock.monotonicMs());
    return await fetch(url, init);
  };
}

/** The product on this world. `wakeUps`: with a long connection that is alive all the time. */
export async function startProduct(world, { wakeUps }) {
  const { clock, luck, config, sandbox } = world;
  const random = luck(4);
  const ports = {
    clock,
    random,
    ids: createIdSource(clock, random),
    logger: silentLogger,
    failpoints: noFailpoints,
    fetch: world.fetch,
    store: createSqliteStore({ path: ':memory:', clock, logger: silentLogger }),
    spool: createMemorySpool(),
    pictures: createPlainPictures(),
    knowledge: () => Promise.resolve([]),
    sideFile: { append: () => undefined, readAll: () => [], clear: () => undefined },
    freeBytes: () => Promise.resolve(50 * 1024 ** 3),
    owner: 'bench',
    instanceTag: 'bench',
    ...(wakeUps ? { wakeSource: createWakeSource(sandbox, clock, luck(5)) } : {}),
  };
  const assembled = await turning(clock, assemble(config, ports));
  if (!assembled.ok) throw new Error(`the house could not be assembled: ${assembled.failure.message}`);
  const house = assembled.value;
  const started = await turning(clock, house.start());
  if (!started.ok) throw new Error(started.failure.join('; '));
  createTickLoop(house, clock, config.settings.poll.interval).start();
  return house;
}

/** Waits for work that itself waits for virtual time. */
async function turning(clock, work) {
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  while (!isOver) await clock.runUntil(clock.monotonicMs() + 100);
  return await over;
}

/** The long connection without its socket: every edit is told, and told once. */
function createWakeSource(sandbox, clock, random) {
  let stop = () => undefined;
  return {
    start: async (onWake) => {
      stop = sandbox.platform.onRecordChanged((change) => {
        const delayMs = eventDelayMs.fromMs + randomInt(random, eventDelayMs.toMs - eventDelayMs.fromMs);
        clock.after(delayMs, () => onWake(eventOf(change)));
      });
    },
    isAlive: () => true,
    lastEventAtMs: () => undefined,
    stop: async () => stop(),
  };
}

function eventOf({ eventId, appToken, tableId, operatorId, recordId, action, fields }) {
  const after = Object.fromEntries(fields.map((field) => [field.fieldId, field.after ?? null]));
  const fieldIds = fields.map((field) => field.fieldId);
  return { eventId, appToken, tableId, operatorId, records: [{ recordId, action, fieldIds, after }] };
}

/** What people do in the table. */
function createStaff({ sandbox, tableId, clock, random }) {
  const painter = createPlainPainter();
  const { table } = sandbox;
  let pictures = 0;
  return {
    /** A row with a product picture of its own, nothing typed yet. */
    newRow: async () => {
      pictures += 1;
      const bytes = await painter.draw(`<svg id="${pictures}"/>`, 64);
      const token = await table.uploadFile(`product-${pictures}.png`, bytes);
      return table.createRow(tableId, { 产品图: [{ file_token: token }], 产品说明: `样品 ${pictures}` });
    },
    type: (recordId, word) => table.setCells(tableId, recordId, { 操作: word }),
    /** Types the word into each row, at times drawn from a span. */
    typeWithin: (recordIds, word, spanMs) => {
      for (const recordId of recordIds) {
        const atMs = randomInt(random, Math.max(1, spanMs));
        clock.after(atMs, () => table.setCells(tableId, recordId, { 操作: word }));
      }
    },
    status: (recordId) => table.text(tableId, recordId, '状态'),
    /** Lets time go on until all rows have shown the status for some seconds (a naive worker clears before it writes). */
    until: async (recordIds, status, limitMs = 3 * hourMs) => {
      const endMs = clock.monotonicMs() + limitMs;
      const isThere = (recordId) =>
        table.text(tableId, recordId, '状态') === status && table.text(tableId, recordId, '操作') === '';
      for (let calmSeconds = 0; calmSeconds < 3; calmSeconds = recordIds.every(isThere) ? calmSeconds + 1 : 0) {
        if (clock.monotonicMs() > endMs) {
          const states = recordIds.map((id) => `${table.text(tableId, id, '状态')} ${table.text(tableId, id, '报错')}`);
          throw new Error(`not all rows came to ${status}: ${[...new Set(states)].join('; ')}`);
        }
        await clock.runUntil(clock.monotonicMs() + secondMs);
      }
    },
  };
}

/** Calls to the platform since a moment, by endpoint. */
export function callCounter(sandbox) {
  const before = { ...sandbox.books.calls() };
  return () => {
    const counts = Object.entries(sandbox.books.calls())
      .map(([name, count]) => [name, count - (before[name] ?? 0)])
      .filter(([name, count]) => name.startsWith('feishu.') && count > 0);
    const sum = (wanted) => counts.filter(([name]) => wanted(name)).reduce((total, [, count]) => total + count, 0);
    const isMedia = (name) => name.startsWith('feishu.media.');
    return {
      byName: Object.fromEntries(counts),
      all: sum(() => true),
      media: sum(isMedia),
      others: sum((name) => !isMedia(name)),
      writes: sum((name) => /records\.(update|batchUpdate)$/.test(name)),
    };
  };
}
