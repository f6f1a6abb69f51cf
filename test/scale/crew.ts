import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { z } from 'zod';
import { waitUntil } from '../../src/app/index.ts';
import type { Store } from '../../src/engine/ports/index.ts';
import { createSystemClock, silentLogger } from '../../src/kernel/index.ts';
import { createPostgresStore } from '../../src/store/index.ts';
import type { Latencies } from '../../src/sandbox/index.ts';
import { type PostgresServer, startPostgres } from '../store/postgres-server.ts';
import { openOutside, type Outside } from '../support/outside.ts';
import { startWorkerProcess, type WorkerProcess } from '../support/worker-process.ts';

export const clock = createSystemClock();

/** A worker, and the name that executions know it by. */
export interface Member extends WorkerProcess {
  readonly owner: string;
}

/** Several real workers on one database, each with a data directory of its own, as on machines of their own. */
export interface Crew {
  readonly store: Store;
  readonly databaseUrl: string;
  start(name: string, env?: Readonly<Record<string, string>>): Promise<Member>;
  /** Who drives how many unfinished executions: owner → count. */
  owners(): Promise<ReadonlyMap<string, number>>;
  query<Row extends pg.QueryResultRow>(sql: string): Promise<readonly Row[]>;
  close(): Promise<void>;
}

async function openCrew(outside: Outside, databaseUrl: string): Promise<Crew> {
  const workers: WorkerProcess[] = [];
  const store = await createPostgresStore({ connectionString: databaseUrl, clock, logger: silentLogger });
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2, options: '-c search_path=gridloom' });
  pool.on('error', () => undefined);
  const query = async <Row extends pg.QueryResultRow>(sql: string): Promise<readonly Row[]> =>
    (await pool.query<Row>(sql)).rows;
  return {
    store,
    databaseUrl,
    query,
    start: async (name, env = {}) => {
      const worker = startWorkerProcess({
        ...outside.env,
        DATABASE_URL: databaseUrl,
        GRIDLOOM_DATA_DIR: join(outside.dataDir, name),
        GRIDLOOM_MONITOR_DIR: join(outside.dataDir, `webmon-${name}`),
        ...env,
      });
      workers.push(worker);
      const isUp = await waitUntil(
        clock,
        () => Promise.resolve(worker.output().includes('live on') || worker.process.exitCode !== null),
        20,
        30_000,
      );
      if (!isUp) throw new Error(`${name} did not start: ${worker.output()}`);
      const [event] = await query<{ data: string }>(
        `SELECT data FROM events WHERE type = 'worker-started' ORDER BY seq DESC LIMIT 1`,
      );
      const told = z.object({ owner: z.string() }).safeParse(JSON.parse(event?.data ?? '{}'));
      return { ...worker, owner: told.success ? told.data.owner : '' };
    },
    owners: async () => {
      const rows = await query<{ owner: string; count: number }>(
        `SELECT owner, count(*)::int AS count FROM executions
         WHERE owner IS NOT NULL AND status NOT IN ('succeeded', 'partial', 'failed', 'canceled') GROUP BY owner`,
      );
      return new Map(rows.map((row) => [row.owner, row.count]));
    },
    close: async () => {
      for (const worker of workers) {
        worker.process.kill('SIGCONT');
        await worker.kill();
      }
      await store.close();
      await pool.end();
    },
  };
}

/** What the tests of a file find anew each time: vendors and tables that outlive every worker, and a database for a crew. */
export interface Scene {
  readonly server: PostgresServer;
  readonly outside: Outside;
  readonly crew: Crew;
}

/** One server for the file, the rest for each test. */
export function useScene(latencies: Latencies): Scene {
  const now: { -readonly [Part in keyof Scene]?: Scene[Part] } = {};
  beforeAll(async () => {
    now.server = await startPostgres();
  });
  beforeEach(async () => {
    now.outside = await openOutside('try-on', latencies);
    now.crew = await openCrew(now.outside, await there(now.server).createDatabase());
  });
  afterEach(async () => {
    await now.crew?.close();
    await now.outside?.close();
  });
  afterAll(async () => {
    await now.server?.stop();
  });
  return {
    get server() {
      return there(now.server);
    },
    get outside() {
      return there(now.outside);
    },
    get crew() {
      return there(now.crew);
    },
  };
}

function there<Part>(part: Part | undefined): Part {
  if (part === undefined) throw new Error('only within a test');
  return part;
}
