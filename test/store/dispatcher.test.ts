import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { PgBoss } from 'pg-boss';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../src/engine/ports/index.ts';
import { createSystemClock, silentLogger, sleep } from '../../src/kernel/index.ts';
import { openSharedWorker, type SharedWorker } from '../../src/store/index.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';
import { anExecution, anExecutionId } from './records.ts';

const script = fileURLToPath(new URL('./dispatcher.child.ts', import.meta.url));
const clock = createSystemClock();
let server: PostgresServer;
let connectionString: string;
let front: SharedWorker;
let store: Store;
const workers: { child: ChildProcess; taken: string[] }[] = [];
beforeAll(async () => {
  server = await startPostgres();
});
beforeEach(async () => {
  connectionString = await server.createDatabase();
  // A worker that only submits: it announces, and takes nothing up itself.
  front = await openSharedWorker({ connectionString, owner: 'front', clock, logger: silentLogger });
  store = front.store;
});
afterEach(async () => {
  for (const worker of workers.splice(0)) worker.child.kill('SIGKILL');
  await front.close();
});
afterAll(() => server.stop());

async function startWorker(owner: string): Promise<{ child: ChildProcess; taken: string[] }> {
  const child = spawn(process.execPath, [script, connectionString, owner], { stdio: ['ignore', 'pipe', 'inherit'] });
  const taken: string[] = [];
  const worker = { child, taken };
  workers.push(worker);
  await new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line === 'ready') resolve();
      else taken.push(line);
    });
  });
  return worker;
}
async function until(look: () => boolean | Promise<boolean>): Promise<number> {
  const startedAt = clock.monotonicMs();
  while (!(await look())) await sleep(clock, 10);
  return clock.monotonicMs() - startedAt;
}

describe('dispatcher over pg-boss', () => {
  it('gives every execution to exactly one of two workers', async () => {
    const [left, right] = await Promise.all([startWorker('left'), startWorker('right')]);
    const numbers = Array.from({ length: 40 }, (_unused, index) => index + 1);
    await Promise.all(
      numbers.map((number) => store.commit([{ type: 'create-execution', record: anExecution(number) }])),
    );
    await until(() => left.taken.length + right.taken.length >= 40);
    const taken = [...left.taken, ...right.taken];
    expect(taken.toSorted()).toEqual(numbers.map(anExecutionId));
  });

  it('P139 hands the executions of a killed worker on in under 10 s', async () => {
    const first = await startWorker('first');
    await Promise.all(
      [1, 2, 3].map((number) => store.commit([{ type: 'create-execution', record: anExecution(number) }])),
    );
    await until(() => first.taken.length === 3);
    const second = await startWorker('second');
    expect(second.taken).toEqual([]);
    first.child.kill('SIGKILL');
    const tookMs = await until(() => second.taken.length === 3);
    expect(tookMs).toBeLessThan(10_000);
    expect(await store.execution(anExecutionId(1))).toMatchObject({ owner: 'second', epoch: 2 });
  });

  it('P139 waits for no message that a dead worker had in hand', async () => {
    const ids = [1, 2, 3].map(anExecutionId);
    await Promise.all(
      [1, 2, 3].map((number) => store.commit([{ type: 'create-execution', record: anExecution(number) }])),
    );
    // As one leaves it that is killed between its claim and the message's end.
    const boss = new PgBoss({ connectionString, schedule: false, supervise: false });
    await boss.start();
    expect(await boss.fetch('executions', { batchSize: 3 })).toHaveLength(3);
    const claims = ids.map((id) => ({ type: 'claim-execution', id, owner: 'dead', expectedEpoch: 0 }) as const);
    await store.commit(claims);
    const heir = await startWorker('heir');
    await until(() => heir.taken.length === 3);
    expect(heir.taken.toSorted()).toEqual(ids);
    const inHand = `SELECT count(*)::int AS jobs FROM pgboss.job WHERE name = 'executions' AND state = 'active'`;
    expect((await boss.getDb().executeSql(inHand, [])).rows).toEqual([{ jobs: 3 }]);
    await boss.stop({ graceful: false });
  });

  it('P141 leaves the executions of a frozen worker with it', async () => {
    const frozen = await startWorker('frozen');
    await store.commit([{ type: 'create-execution', record: anExecution(1) }]);
    await until(() => frozen.taken.length === 1);
    const other = await startWorker('other');
    frozen.child.kill('SIGSTOP');
    await sleep(clock, 2_000);
    expect(other.taken).toEqual([]);
    frozen.child.kill('SIGKILL');
    await until(() => other.taken.length === 1);
  });
});
