import { fileURLToPath } from 'node:url';
import { assemble, createTickLoop, readConfiguration, sandboxTableId, sandboxTableOf } from '../../src/app/index.ts';
import { createIdSource, createSeededRandom, noFailpoints, silentLogger } from '../../src/kernel/index.ts';
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
const directory = fileURLToPath(new URL('../..', import.meta.url));
const tableId = sandboxTableId('try-on');
/** How long the long connection takes to tell of an edit. */
const wakeDelayMs = 200;

/**
 * The whole product with one try-on table, under virtual time, on the sandbox in this process: a day costs seconds, and every
 * call that reached Feishu stands in the sandbox's own books.
 */
export async function openWorld({ seed, wakeUps, env = {} }) {
  const read = await readConfiguration({
    directory,
    env: { GRIDLOOM_MODE: 'sandbox', SB_CONFIRM: '1', ...env },
    sandboxOrigin: origin,
  });
  if (!read.ok) throw new Error(JSON.stringify(read.failure));
  const agent = read.value.definitions.agents.get('try-on');
  const tables = new Map([...read.value.environment.tables].filter(([name]) => name === 'try-on'));
  const config = { ...read.value, environment: { ...read.value.environment, tables } };
  const luck = (offset) => createSeededRandom(seed * 1_000 + offset);
  const clock = createSimClock(Date.UTC(2026, 10, 30, 16, 0, 0), luck(1));
  const sandbox = createSandbox({
    clock,
    random: luck(2),
    baseUrl: origin,
    painter: createPlainPainter(),
    latencies: realisticLatencies,
    people: [{ openId: 'ou_anna', name: 'Anna' }],
    tables: [sandboxTableOf(agent, [])],
  });
  await sandbox.seed();
  const paid = [];
  const ports = createPorts({ clock, sandbox, random: luck(3), paid, wakeUps });
  const assembled = await inTime(clock, assemble(config, ports));
  if (!assembled.ok) throw new Error(JSON.stringify(assembled.failure));
  const house = assembled.value;
  const started = await inTime(clock, house.start());
  if (!started.ok) throw new Error(started.failure.join('; '));
  createTickLoop(house, clock, config.settings.poll.interval).start();
  return { clock, sandbox, tableId, config, house, ...staffOf(clock, sandbox, paid) };
}

/** What waits for the world has to wait in its time. */
async function inTime(clock, promise) {
  let result;
  let failure;
  promise.then(
    (value) => {
      result = { value };
    },
    (error) => {
      failure = error;
    },
  );
  for (let step = 0; step < 10_000 && result === undefined && failure === undefined; step += 1) {
    await clock.runUntil(clock.monotonicMs() + 100);
  }
  if (failure !== undefined) throw failure;
  if (result === undefined) throw new Error('the house did not start');
  return result.value;
}

function createPorts({ clock, sandbox, random, paid, wakeUps }) {
  const fetch = createInProcessFetch(sandbox);
  const handles = [];
  const ports = {
    clock,
    random,
    ids: createIdSource(clock, random),
    logger: silentLogger,
    failpoints: noFailpoints,
    fetch: async (url, init) => {
      if (init.method === 'POST' && /\/(llm|kie|toapis)\//.test(url)) paid.push(clock.nowMs());
      return await fetch(url, init);
    },
    store: createSqliteStore({ path: ':memory:', clock, logger: silentLogger }),
    spool: createMemorySpool(),
    pictures: createPlainPictures(),
    knowledge: async () => [],
    sideFile: {
      append: (line) => handles.push(line),
      readAll: () => [...handles],
      clear: () => {
        handles.length = 0;
      },
    },
    freeBytes: async () => 50 * 1024 ** 3,
    owner: 'bench',
    instanceTag: 'bench',
  };
  return wakeUps ? { ...ports, wakeSource: createWakeSource(clock, sandbox) } : ports;
}

/** The long connection, always up: the sandbox's own record changes, told a moment later. */
function createWakeSource(clock, sandbox) {
  let lastEventAtMs;
  let stopListening = () => undefined;
  return {
    start: async (onWake) => {
      stopListening = sandbox.platform.onRecordChanged((change) => {
        clock.after(wakeDelayMs, () => {
          lastEventAtMs = clock.nowMs();
          onWake({
            eventId: change.eventId,
            tableId: change.tableId,
            appToken: change.appToken,
            operatorId: change.operatorId,
            records: [
              {
                recordId: change.recordId,
                action: change.action,
                fieldIds: change.fields.map(({ fieldId }) => fieldId),
                after: Object.fromEntries(change.fields.map(({ fieldId, after }) => [fieldId, after ?? null])),
              },
            ],
          });
        });
      });
    },
    isAlive: () => true,
    lastEventAtMs: () => lastEventAtMs,
    stop: async () => stopListening(),
  };
}

/** People at the table, and what Feishu has counted. */
function staffOf(clock, sandbox, paid) {
  let picture;
  const addRow = async (number) => {
    picture ??= await sandbox.table.uploadFile('dress.png', await createPlainPainter().draw('<svg/>', 64));
    return sandbox.table.createRow(
      tableId,
      { 产品图: [{ file_token: picture }], 产品说明: `连衣裙 ${number}`, 模特要求: '短发' },
      'ou_anna',
    );
  };
  const type = (recordId, word) => sandbox.table.setCells(tableId, recordId, { 操作: word }, 'ou_anna');
  const counts = () => {
    const calls = Object.entries(sandbox.books.calls()).filter(([name]) => name.startsWith('feishu.'));
    const sum = (wanted) => calls.filter(([name]) => wanted(name)).reduce((total, [, count]) => total + count, 0);
    const isMedia = (name) => name.startsWith('feishu.media.');
    return { plain: sum((name) => !isMedia(name)), media: sum(isMedia), byName: Object.fromEntries(calls) };
  };
  return { addRow, type, counts, paid, status: (recordId) => sandbox.table.text(tableId, recordId, '状态') };
}
