import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createVirtualClock, silentLogger } from '../../src/kernel/index.ts';
import { createSqliteStore, createThreadedSqliteStore, type SqliteStoreOptions } from '../../src/store/index.ts';
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
