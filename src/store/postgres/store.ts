import type { Client, Pool } from 'pg';
import type { Store } from '../../engine/ports/index.ts';
import { type Clock, nextTurn, sleep } from '../../kernel/index.ts';
import { createDecoder } from '../shared/decode.ts';
import { createCommitGroup } from '../shared/group.ts';
import { createListeners } from '../shared/listeners.ts';
import { createReads } from '../shared/reads.ts';
import { numberOf, type Row, type RunQuery } from '../shared/rows.ts';
import {
  asStorageError,
  connectClient,
  type ConnectOptions,
  createPool,
  isStatementFault,
  schemaOf,
} from './connect.ts';
import { listen } from './listen.ts';
import { migrate } from './migrate.ts';
import { repairUnknownWords } from './repair.ts';
import { createGroupWriter, type OnCreated } from './writer.ts';

export interface PostgresStoreOptions extends ConnectOptions {
  readonly clock: Clock;
  /** How long a commit waits for a database that is away (a restart, say). Default 30 s. */
  readonly patienceMs?: number;
  /** Connections for reads. Default 4. */
  readonly readers?: number;
  readonly onCreated?: OnCreated;
}

/**
 * The store that several workers share. The same tables, statements and reads as on SQLite; a group is written in one
 * round trip; what another worker appends is told by NOTIFY.
 */
export async function createPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  await prepareSchema(options);
  const { clock, logger } = options;
  const decoder = createDecoder(logger);
  const appended = createListeners(logger);
  const controlled = createListeners(logger);
  const pool = await createPool(options, options.readers ?? 4);
  const writer = await createGroupWriter({ ...options, patienceMs: options.patienceMs ?? 30_000 });
  const stopListening = await listen(options, writer.id, {
    gridloom_append: appended.tell,
    gridloom_control: controlled.tell,
  });
  const run = createRun(pool, { ...options, patienceMs: options.patienceMs ?? 30_000 });
  const group = createCommitGroup({
    schedule: nextTurn,
    write: writer.write,
    onAppended: appended.tell,
    settledPerTurn: 32,
  });
  let lastTaken = 0;
  let isClosed = false;
  return {
    commit: group.commit,
    ...createReads(run, decoder),
    sendControl: async (value) => {
      const seq = await storeControl(run, writer.id, clock.nowMs(), JSON.stringify(value));
      controlled.tell();
      return seq;
    },
    takeControls: async () => {
      const rows = await run('SELECT * FROM controls WHERE seq > ?1 ORDER BY seq LIMIT 100', [lastTaken]);
      const records = rows.map(decoder.control);
      lastTaken = records.at(-1)?.seq ?? lastTaken;
      return records;
    },
    onAppend: appended.add,
    onControl: controlled.add,
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      await group.close();
      await stopListening();
      await writer.close();
      await pool.end();
    },
  };
}

async function prepareSchema(options: PostgresStoreOptions): Promise<void> {
  const schema = schemaOf(options);
  let client: Client | undefined;
  try {
    client = await connectClient(options);
    await migrate(client, schema);
    await repairUnknownWords(client, options.logger);
  } catch (error) {
    throw asStorageError(error, 'cannot use the database of DATABASE_URL');
  } finally {
    await client?.end();
  }
}

const readAgainMs = 200;

/** Shared reads in PostgreSQL's words. A read waits for a database that is away as long as a commit does. */
function createRun(pool: Pool, options: PostgresStoreOptions & { readonly patienceMs: number }): RunQuery {
  const { clock } = options;
  return async (sql, params) => {
    const untilMs = clock.monotonicMs() + options.patienceMs;
    for (;;) {
      try {
        const result = await pool.query<Row>(sql.replace(/\?(\d+)/g, '$$$1'), [...params]);
        return result.rows;
      } catch (error) {
        const isHopeless = isStatementFault(error) || pool.ending || clock.monotonicMs() >= untilMs;
        if (isHopeless) throw asStorageError(error, 'cannot read the database');
        await sleep(clock, readAgainMs);
      }
    }
  };
}

async function storeControl(run: RunQuery, writer: string, at: number, value: string): Promise<number> {
  const rows = await run(
    `WITH next AS (UPDATE numbers SET last = last + 1 WHERE name = 'controls' RETURNING last),
       stored AS (INSERT INTO controls (seq, at, value) SELECT next.last, ?1::bigint, ?2::text FROM next RETURNING seq)
     SELECT seq, pg_notify('gridloom_control', ?3) FROM stored`,
    [at, value, writer],
  );
  return rows[0] === undefined ? 0 : numberOf(rows[0], 'seq');
}
