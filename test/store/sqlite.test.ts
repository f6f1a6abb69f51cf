import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createVirtualClock, silentLogger } from '../../src/kernel/index.ts';
import {
  createAdaptiveSqliteStore,
  createSqliteStore,
  createThreadedSqliteStore,
  type SqliteStoreOptions,
} from '../../src/store/index.ts';
import type { Store } from '../../src/engine/ports/index.ts';
import { describeStoreContract, type StoreUnderTest } from './contract.ts';

describeStoreContract('SQLite in memory', () => {
  const store = createSqliteStore({ path: ':memory:', clock: createVirtualClock(), logger: silentLogger });
  return Promise.resolve({ store, dispose: () => Promise.resolve() });
});

const onDisk = (create: (options: SqliteStoreOptions) => Store) => async (): Promise<StoreUnderTest> => {
  const directory = await mkdtemp(join(tmpdir(), 'gridloom-store-'));
  const open = () =>
    create({ path: join(directory, 'gridloom.db'), clock: createVirtualClock(), logger: silentLogger });
  return {
    store: open(),
    reopen: () => Promise.resolve(open()),
    dispose: () => rm(directory, { recursive: true, force: true }),
  };
};

describeStoreContract('SQLite on disk', onDisk(createSqliteStore));
describeStoreContract('SQLite written in a thread', onDisk(createThreadedSqliteStore));
describeStoreContract(
  'SQLite whose writer moves to a thread',
  onDisk((options) => {
    // Each look at the clock finds 100 ms gone: after three writes the loop counts as held up.
    let nowMs = 0;
    const monotonicMs = (): number => (nowMs += 100);
    return createAdaptiveSqliteStore({ ...options, clock: { ...options.clock, monotonicMs } });
  }),
);

describe('a writer that may move to a thread', () => {
  it.each([
    ['moves once writing holds up the loop', 100, 1],
    ['stays on the loop while writing hardly shows', 1, 0],
  ])('%s', async (_name, stepMs, moves) => {
    const directory = await mkdtemp(join(tmpdir(), 'gridloom-store-'));
    const told: string[] = [];
    let nowMs = 0;
    const clock = { ...createVirtualClock(), monotonicMs: () => (nowMs += stepMs) };
    const logger = { ...silentLogger, info: (message: string) => told.push(message) };
    const store = createAdaptiveSqliteStore({ path: join(directory, 'gridloom.db'), clock, logger });
    for (let at = 1; at <= 20; at += 1)
      await store.commit([{ type: 'append-event', event: { at, type: 'notice', data: {} } }]);
    expect((await store.events(0, 100)).map((event) => event.seq)).toEqual(
      Array.from({ length: 20 }, (_unused, index) => index + 1),
    );
    expect(told).toHaveLength(moves);
    await store.close();
    await rm(directory, { recursive: true, force: true });
  });
});
