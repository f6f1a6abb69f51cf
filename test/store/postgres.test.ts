import { afterAll, beforeAll } from 'vitest';
import { createSystemClock, silentLogger } from '../../src/kernel/index.ts';
import { createPostgresStore } from '../../src/store/index.ts';
import { describeStoreContract } from './contract.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

describeStoreContract('PostgreSQL', async () => {
  const connectionString = await server.createDatabase();
  const open = () => createPostgresStore({ connectionString, clock: createSystemClock(), logger: silentLogger });
  return { store: await open(), reopen: open, dispose: () => Promise.resolve() };
});
