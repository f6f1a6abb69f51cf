import type { TestProject } from 'vitest/node';
import { createSystemClock, silentLogger } from '../../src/kernel/index.ts';
import { openSharedWorker } from '../../src/store/index.ts';
import { type PostgresServer, startPostgres } from '../store/postgres-server.ts';

/** One server for all tests that run on PostgreSQL, with a database that holds the schemas: copied, never used. */
let server: PostgresServer | undefined;

export async function setup(project: TestProject): Promise<void> {
  server = await startPostgres({ isDurable: false });
  const template = await server.createDatabase();
  const clock = createSystemClock();
  const worker = await openSharedWorker({
    connectionString: template,
    clock,
    logger: silentLogger,
    owner: 'template',
  });
  await worker.close();
  project.provide('postgresTemplate', template);
}

export async function teardown(): Promise<void> {
  await server?.stop();
}

declare module 'vitest' {
  interface ProvidedContext {
    postgresTemplate: string;
  }
}
