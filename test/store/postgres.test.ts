import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConflictError, type Store } from '../../src/engine/ports/index.ts';
import { createSystemClock, silentLogger } from '../../src/kernel/index.ts';
import { createPostgresStore, prunePostgresStore } from '../../src/store/index.ts';
import { describeStoreContract } from './contract.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';
import { aCharge, aNode, anAttempt, anExecution, anExecutionId } from './records.ts';

let server: PostgresServer;
let connectionString: string;
let serial = 0;
beforeAll(async () => {
  server = await startPostgres();
  connectionString = await server.createDatabase();
});
afterAll(() => server.stop());

const newSchema = (): string => {
  serial += 1;
  return `s${serial}`;
};
const open = (schema: string): Promise<Store> =>
  createPostgresStore({ connectionString, schema, clock: createSystemClock(), logger: silentLogger });
/** Asks the server behind the store's back. */
async function ask(sql: string, params: readonly unknown[] = []): Promise<unknown[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql, [...params])).rows;
  } finally {
    await client.end();
  }
}
const notice = (at: number) => ({ type: 'append-event', event: { at, type: 'notice', data: {} } }) as const;

describeStoreContract('PostgreSQL', async () => {
  const schema = newSchema();
  return { store: await open(schema), reopen: () => open(schema), dispose: () => Promise.resolve() };
});

describe('PostgreSQL shared by several workers', () => {
  it('migrates once, however many workers start at the same time', async () => {
    const schema = newSchema();
    const stores = await Promise.all(Array.from({ length: 5 }, () => open(schema)));
    expect(await ask(`SELECT version FROM ${schema}.schema_version`)).toEqual([{ version: 1 }]);
    await Promise.all(stores.map((store) => store.close()));
  });

  it('refuses a schema of a newer version', async () => {
    const schema = newSchema();
    await (await open(schema)).close();
    await ask(`UPDATE ${schema}.schema_version SET version = 99`);
    await expect(open(schema)).rejects.toThrow('written by a newer version of this program');
  });

  it('says which setting is at fault when there is no database', async () => {
    const options = { clock: createSystemClock(), logger: silentLogger };
    const nowhere = createPostgresStore({ connectionString: 'postgres://x:y@127.0.0.1:1/z', ...options });
    await expect(nowhere).rejects.toThrow('DATABASE_URL');
  });

  it('gives an execution to one of many workers that claim it at once, and fences the others', async () => {
    const schema = newSchema();
    const stores = await Promise.all([open(schema), open(schema), open(schema)]);
    await stores[0].commit([{ type: 'create-execution', record: anExecution(1) }]);
    const id = anExecutionId(1);
    const claims = stores.map((store, index) =>
      store
        .commit([{ type: 'claim-execution', id, owner: `worker-${index}`, expectedEpoch: 0 }])
        .then(() => `worker-${index}`)
        .catch((error: unknown) => (error instanceof ConflictError ? error.code : String(error))),
    );
    const results = await Promise.all(claims);
    expect(results.filter((result) => result === 'fenced')).toHaveLength(2);
    expect(await stores[1].execution(id)).toMatchObject({ epoch: 1, owner: results.find((name) => name !== 'fenced') });
    await Promise.all(stores.map((store) => store.close()));
  });

  it('never shows a reader event n before every event below n', async () => {
    const schema = newSchema();
    const stores = await Promise.all([open(schema), open(schema), open(schema)]);
    const writing = Promise.all(
      stores.flatMap((store) =>
        Array.from({ length: 60 }, (_unused, index) => store.commit([notice(index), notice(index)])),
      ),
    );
    const seen: number[] = [];
    const reader = await open(schema);
    while (seen.length < 360) {
      const batch = await reader.events(seen.at(-1) ?? 0, 50);
      seen.push(...batch.map((event) => event.seq));
    }
    await writing;
    expect(seen).toEqual(Array.from({ length: 360 }, (_unused, index) => index + 1));
    await Promise.all([reader, ...stores].map((store) => store.close()));
  });

  it('tells the other workers what was appended, and hands them the controls', async () => {
    const schema = newSchema();
    const [left, right] = await Promise.all([open(schema), open(schema)]);
    const heard = Promise.withResolvers<string>();
    const asked = Promise.withResolvers<string>();
    right.onAppend(() => heard.resolve('event'));
    right.onControl(() => asked.resolve('control'));
    await left.commit([notice(1)]);
    expect(await heard.promise).toBe('event');
    const seq = await left.sendControl({ command: 'pause' });
    expect(await asked.promise).toBe('control');
    expect(await right.takeControls()).toMatchObject([{ seq, value: { command: 'pause' } }]);
    await Promise.all([left.close(), right.close()]);
  });

  it('writes every list once when the connection is lost in the middle, again and again', async () => {
    const schema = newSchema();
    const store = await open(schema);
    const done = new AbortController();
    let killed = 0;
    const killing = (async () => {
      while (!done.signal.aborted) {
        const rows = await ask(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE application_name = 'gridloom' AND query LIKE '%write_group%'`,
        );
        killed += rows.length;
      }
    })();
    for (let round = 0; round < 15; round += 1) {
      await Promise.all(
        Array.from({ length: 10 }, (_unused, index) =>
          store.commit([
            { type: 'create-execution', record: anExecution(round * 10 + index + 1) },
            notice(round * 10 + index),
          ]),
        ),
      );
    }
    done.abort();
    await killing;
    expect(killed).toBeGreaterThan(0);
    const events = await store.events(0, 999);
    expect(events.map((event) => event.seq)).toEqual(Array.from({ length: 150 }, (_unused, index) => index + 1));
    expect(new Set(events.map((event) => event.at)).size).toBe(150);
    await store.close();
  });

  it('goes on when the database is restarted under load', async () => {
    const schema = newSchema();
    const store = await open(schema);
    await store.commit([{ type: 'create-execution', record: anExecution(1) }]);
    const work = (async () => {
      for (let step = 0; step < 200; step += 1) {
        await store.commit([{ type: 'put-node', record: aNode(1, `step-${step}`), epoch: 0 }, notice(step)]);
      }
    })();
    await server.restart();
    await work;
    expect(await store.nodes(anExecutionId(1))).toHaveLength(200);
    expect(await store.lastEventSeq()).toBe(200);
    await store.close();
  }, 60_000);

  it('commits what a dispatcher adds together with the execution, or neither', async () => {
    const schema = newSchema();
    await ask('CREATE TABLE jobs (execution text)');
    let isBroken = false;
    const store = await createPostgresStore({
      connectionString,
      schema,
      clock: createSystemClock(),
      logger: silentLogger,
      patienceMs: 0,
      onCreated: async (ids, client) => {
        await client.query('INSERT INTO public.jobs SELECT unnest($1::text[])', [[...ids]]);
        if (isBroken) throw new Error('the dispatcher failed');
      },
    });
    await store.commit([{ type: 'create-execution', record: anExecution(1) }]);
    isBroken = true;
    await expect(store.commit([{ type: 'create-execution', record: anExecution(2) }])).rejects.toThrow('failed');
    expect(await ask('SELECT execution FROM jobs')).toEqual([{ execution: anExecutionId(1) }]);
    expect(await store.execution(anExecutionId(2))).toBeUndefined();
    await store.close();
  });

  it('forgets the details of what ended long ago and keeps keys and charges', async () => {
    const schema = newSchema();
    const store = await open(schema);
    const ended = (number: number, endedAt: number) =>
      [
        {
          type: 'create-execution',
          record: anExecution(number, { status: 'succeeded', endedAt, output: { big: 'x' } }),
        },
        { type: 'put-node', record: aNode(number, 'draw'), epoch: 0 },
        { type: 'append-event', event: { at: 1, executionId: anExecutionId(number), type: 'node-started', data: {} } },
      ] as const;
    await store.commit([
      notice(1),
      ...ended(1, 100),
      ...ended(2, 900),
      ...ended(3, 100),
      { type: 'create-attempt', record: anAttempt(3, 3, { state: 'overdue' }), epoch: 0 },
      { type: 'create-charge', record: aCharge(1, { state: 'settled' }) },
      notice(900),
    ]);
    const options = { connectionString, schema, logger: silentLogger };
    expect(await prunePostgresStore(options, 500)).toEqual({ executions: 1, events: 2 });
    expect(await prunePostgresStore(options, 500)).toEqual({ executions: 0, events: 0 });
    expect(await store.executionByKey('key-1')).toMatchObject({ status: 'succeeded', endedAt: 100, input: {} });
    expect(await store.nodes(anExecutionId(1))).toEqual([]);
    expect(await store.nodes(anExecutionId(2))).toHaveLength(1);
    expect(await store.nodes(anExecutionId(3))).toHaveLength(1);
    expect(await store.charges({})).toHaveLength(1);
    await store.close();
  });

  it('P149 reads rows of an unknown version as in doubt here too', async () => {
    const schema = newSchema();
    const first = await open(schema);
    await first.commit([
      { type: 'create-execution', record: anExecution(1) },
      { type: 'create-attempt', record: anAttempt(1, 1, { state: 'accepted' }), epoch: 0 },
    ]);
    await first.close();
    await ask(`UPDATE ${schema}.executions SET status = 'paused-by-admin'`);
    await ask(`UPDATE ${schema}.attempts SET state = 'zombie'`);
    const store = await open(schema);
    expect(await store.unfinished(9)).toMatchObject([{ status: 'held' }]);
    expect(await store.attemptsInState(['unknown'], 9)).toHaveLength(1);
    await store.close();
  });
});
