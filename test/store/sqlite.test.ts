import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createVirtualClock, silentLogger } from '../../src/kernel/index.ts';
import { createSqliteStore } from '../../src/store/index.ts';
import { describeStoreContract } from './contract.ts';

describeStoreContract('SQLite in memory', () => {
  const store = createSqliteStore({ path: ':memory:', clock: createVirtualClock(), logger: silentLogger });
  return Promise.resolve({ store, dispose: () => Promise.resolve() });
});

describeStoreContract('SQLite on disk', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'gridloom-store-'));
  const open = () =>
    createSqliteStore({ path: join(directory, 'gridloom.db'), clock: createVirtualClock(), logger: silentLogger });
  return {
    store: open(),
    reopen: () => Promise.resolve(open()),
    dispose: () => rm(directory, { recursive: true, force: true }),
  };
});
