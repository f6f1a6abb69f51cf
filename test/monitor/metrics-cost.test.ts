import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Store, StoreCommand } from '../../src/engine/ports/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import {
  createAlerter,
  createCalendar,
  createMetrics,
  createMonitorFiles,
  type MetricsInputs,
} from '../../src/monitor/index.ts';
import { createSqliteStore } from '../../src/store/index.ts';
import { attemptRecord, chargeRecord, createKit, event, executionRecord, type Kit, timezone } from './kit.ts';

const rows = 1_000;
/** A row's call takes 90 s on average, so about eleven rows a second start and end one, with eight events each. */
const callsPerSecond = 11;
const eventsPerCall = 9;
const seconds = 60;

function openMetrics(kit: Kit, directory: string) {
  const alerter = createAlerter({ ...kit, channels: [], cooldownMs: 600_000 });
  const inputs = (): MetricsInputs => ({
    mode: 'live',
    intervalMs: 30_000,
    workers: [{ id: 'w', startedAt: 0, lastTickAt: 0 }],
    feishu: undefined,
    balances: [],
    alerter,
    waiting: {},
    isPaused: false,
    lagMs: 0,
    disk: undefined,
  });
  return createMetrics({
    ...kit,
    calendar: createCalendar(timezone),
    files: createMonitorFiles(directory),
    inputs,
    isConfirmPoint: () => true,
  });
}

/** One call of one row from intent to end, and the row's next: what the engine writes. */
function call(kit: Kit, index: number): { readonly before: StoreCommand[]; readonly after: StoreCommand[] } {
  const execution = executionRecord(kit, { sourceRef: `bitable:b/t/rec${index}#draw` });
  const attempt = attemptRecord(kit, execution, { request: { prompt: 'x'.repeat(3_000) } });
  const charge = chargeRecord(kit, attempt, { state: 'reserved' });
  const data = { attemptId: attempt.id, node: 'draw', provider: 'kie', model: 'seedream', ordinal: 1 };
  const at = kit.clock.nowMs();
  return {
    before: [
      { type: 'create-execution', record: execution },
      event(kit, 'execution-queued', {}, execution),
      event(kit, 'execution-started', {}, execution),
      event(kit, 'node-started', { node: 'draw', title: '出图' }, execution),
      { type: 'create-attempt', record: attempt, epoch: 0 },
      { type: 'create-charge', record: charge },
      event(kit, 'attempt-intended', data, execution),
      event(kit, 'attempt-accepted', data, execution),
    ],
    after: [
      { type: 'put-attempt', record: { ...attempt, state: 'succeeded', settledAt: at }, expected: ['intended'] },
      { type: 'put-charge', record: { ...charge, state: 'settled', settledAt: at } },
      event(kit, 'attempt-settled', { ...data, state: 'succeeded' }, execution),
      event(kit, 'charge-settled', data, execution),
      event(kit, 'node-succeeded', { node: 'draw' }, execution),
      { type: 'put-execution', record: { ...execution, status: 'succeeded', endedAt: at } },
      event(kit, 'execution-ended', { status: 'succeeded' }, execution),
    ],
  };
}

/** The same store; `count` is called with the rows of every list that is read. */
function counting(store: Store, count: (rows: number) => void): Store {
  return new Proxy(store, {
    get: (target, name, receiver) => {
      const member: unknown = Reflect.get(target, name, receiver);
      if (typeof member !== 'function') return member;
      return (...args: readonly unknown[]): unknown => {
        const result: unknown = Reflect.apply(member, target, args);
        if (!(result instanceof Promise)) return result;
        return result.then((value: unknown) => {
          if (Array.isArray(value)) count(value.length);
          return value;
        });
      };
    },
  });
}

describe('cost of the metrics', () => {
  it('follows what happened since the last look, not the 1,000 rows in flight', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'gridloom-cost-'));
    const base = createKit();
    const store = createSqliteStore({ path: join(directory, 'db'), clock: base.clock, logger: silentLogger });
    let rowsRead = 0;
    const kit: Kit = { ...base, store: counting(store, (count) => (rowsRead += count)) };
    try {
      const calls = Array.from({ length: rows }, (_, index) => call(kit, index));
      await store.commit(calls.flatMap((each) => each.before));
      const metrics = openMetrics(kit, directory);
      await metrics.flush();
      const readBySecond: number[] = [];
      let usedMicros = 0;
      for (let second = 0; second < seconds; second += 1) {
        const ending = calls.splice(0, callsPerSecond);
        const starting = ending.map((_, index) => call(kit, second * callsPerSecond + index));
        calls.push(...starting);
        await store.commit([...ending.flatMap((each) => each.after), ...starting.flatMap((each) => each.before)]);
        await kit.clock.advance(1_000);
        rowsRead = 0;
        const before = process.cpuUsage();
        await metrics.flush();
        const used = process.cpuUsage(before);
        usedMicros += used.user + used.system;
        readBySecond.push(rowsRead);
      }
      // For people; what a busy machine makes of it fails nothing.
      const ratio = usedMicros / (seconds * 1_000_000);
      process.stdout.write(`metrics at ${rows} rows: ${(ratio * 100).toFixed(2)} % of one core\n`);
      expect(metrics.lines().filter((line) => line.endedAt === undefined)).toHaveLength(rows);
      // Of each call that ended: its fifteen events and a few records of its own.
      expect(Math.max(...readBySecond)).toBeLessThanOrEqual(callsPerSecond * 30);
      expect(Math.min(...readBySecond)).toBeGreaterThanOrEqual(callsPerSecond * eventsPerCall);
    } finally {
      await store.close();
      await rm(directory, { recursive: true });
    }
  });
});
