import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createSystemClock, createVirtualClock, silentLogger, sleep } from '../../src/kernel/index.ts';
import {
  type BaseLeases,
  createBaseLeases,
  createPostgresStore,
  createProviderSlots,
  createWorkerPresence,
  type Lease,
  type WorkerPresence,
} from '../../src/store/index.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';
import { anExecution, anExecutionId } from './records.ts';

const script = fileURLToPath(new URL('./postgres.child.ts', import.meta.url));
const clock = createSystemClock();
let server: PostgresServer;
let connectionString: string;
const children: ChildProcess[] = [];
const closers: (() => Promise<void>)[] = [];
beforeAll(async () => {
  server = await startPostgres();
  connectionString = await server.createDatabase();
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const close of closers.splice(0)) await close();
});
afterAll(() => server.stop());

async function presenceOf(owner: string): Promise<WorkerPresence> {
  const presence = await createWorkerPresence({ connectionString, owner, clock, logger: silentLogger });
  closers.push(() => presence.close());
  return presence;
}
async function startWorker(owner: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [script, connectionString, owner], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  await once(child.stdout, 'data');
  return child;
}
/** Looks until it is so; the test's own limit ends a vain wait. */
async function until(look: () => boolean | Promise<boolean>): Promise<number> {
  const startedAt = clock.monotonicMs();
  while (!(await look())) await sleep(clock, 5);
  return clock.monotonicMs() - startedAt;
}

describe('sign of life', () => {
  it('P139 of a killed worker is gone in well under a second, and its bases are free', async () => {
    const me = await presenceOf('me');
    const child = await startWorker('other');
    expect(await me.isGone('other')).toBe(false);
    expect(await me.tryLock('base-of-child')).toBe(false);
    expect(await me.countWorkers()).toBe(2);
    child.kill('SIGKILL');
    expect(await until(() => me.isGone('other'))).toBeLessThan(1_000);
    expect(await me.tryLock('base-of-child')).toBe(true);
  });

  it('P141 of a frozen worker stays: nobody may take its calls in doubt for lost', async () => {
    const me = await presenceOf('me');
    const child = await startWorker('frozen');
    child.kill('SIGSTOP');
    await sleep(clock, 300);
    expect(await me.isGone('frozen')).toBe(false);
    child.kill('SIGCONT');
    expect(await me.isGone('frozen')).toBe(false);
  });

  it('says that one who never was is gone, and that we are not', async () => {
    const me = await presenceOf('me');
    expect(await me.isGone('nobody')).toBe(true);
    expect(await me.isGone('me')).toBe(false);
  });

  it('refuses a second worker under the same name', async () => {
    await presenceOf('twin');
    await expect(presenceOf('twin')).rejects.toThrow('another process is alive under the name twin');
  });

  it('knows at once when its session is lost, and takes the lock again', async () => {
    const me = await presenceOf('me');
    let lost = 0;
    me.onLost(() => {
      lost += 1;
    });
    await server.restart();
    await until(() => lost === 1);
    await until(() => me.isPresent());
    const other = await presenceOf('other');
    expect(await other.isGone('me')).toBe(false);
  });
});

describe('bases', () => {
  it('spread over the workers that are alive and pass on when one ends', async () => {
    const leaseClock = createVirtualClock();
    const bases = ['base-1', 'base-2', 'base-3', 'base-4'];
    const log: string[] = [];
    const lease = (presence: WorkerPresence): BaseLeases =>
      createBaseLeases({
        presence,
        clock: leaseClock,
        logger: silentLogger,
        bases,
        onGained: (base) => log.push(`${presence.owner} + ${base}`),
        onLost: (base) => {
          log.push(`${presence.owner} - ${base}`);
          return Promise.resolve();
        },
      });
    const left = await presenceOf('left');
    const leftLeases = lease(left);
    await until(() => leftLeases.held().length === 4);
    const right = await presenceOf('right');
    const rightLeases = lease(right);
    closers.unshift(() => rightLeases.close());
    await until(async () => {
      await leaseClock.advance(1_000);
      return leftLeases.held().length === 2 && rightLeases.held().length === 2;
    });
    expect(new Set([...leftLeases.held(), ...rightLeases.held()]).size).toBe(4);
    // Nobody gained a base before the other had stopped writing to it.
    for (const base of rightLeases.held()) {
      expect(log.indexOf(`left - ${base}`)).toBeLessThan(log.indexOf(`right + ${base}`));
    }
    await leftLeases.close();
    await left.close();
    await until(async () => {
      await leaseClock.advance(1_000);
      return rightLeases.held().length === 4;
    });
  });
});

describe('a lease', () => {
  it('lets nothing through once its session is lost, known yet or not', async () => {
    const me = await presenceOf('me');
    const [lease, leases] = await leaseOf(me);
    closers.unshift(() => leases.close());
    expect(await lease.run(() => Promise.resolve('written'))).toBe('written');
    let sent = 0;
    const send = async (): Promise<void> => {
      sent += 1;
      await Promise.resolve();
    };
    // As after a sleep: the server has ended the session, and this process has not heard of it.
    await endSessions();
    await expect(lease.run(send)).rejects.toThrow('no longer holds the lease');
    await until(() => me.isPresent());
    await expect(lease.run(send)).rejects.toThrow('no longer holds the lease');
    expect(sent).toBe(0);
  });

  it('is given back only when what goes through it has ended', async () => {
    const [left, right] = [await presenceOf('left'), await presenceOf('right')];
    const [lease, leases] = await leaseOf(left);
    const underWay = Promise.withResolvers<undefined>();
    const begun = Promise.withResolvers<undefined>();
    const writing = lease.run(async () => {
      begun.resolve(undefined);
      await underWay.promise;
    });
    await begun.promise;
    const closing = leases.close();
    await expect.poll(() => isRefused(lease)).toBe(true);
    expect(await right.tryLock('base')).toBe(false);
    underWay.resolve(undefined);
    await Promise.all([writing, closing]);
    expect(await right.tryLock('base')).toBe(true);
  });
});

async function isRefused(lease: Lease): Promise<boolean> {
  return await lease.run(() => Promise.resolve(false)).catch(() => true);
}

async function leaseOf(presence: WorkerPresence): Promise<readonly [Lease, BaseLeases]> {
  return await new Promise((resolve) => {
    const leases = createBaseLeases({
      presence,
      clock,
      logger: silentLogger,
      bases: ['base'],
      onGained: (_base, lease) => resolve([lease, leases]),
      onLost: () => Promise.resolve(),
    });
  });
}

/** Ends the sessions that hold advisory locks, as a server does that believes their machine dead. */
async function endSessions(): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'`);
  await client.end();
}

describe('provider slots', () => {
  it('are neither claimed nor given back by a worker that has lost the execution', async () => {
    const schema = 'slots';
    const store = await createPostgresStore({ connectionString, schema, clock, logger: silentLogger });
    closers.push(() => store.close());
    await store.commit([{ type: 'create-execution', record: anExecution(1, { owner: 'heir', epoch: 2 }) }]);
    const [slept, heir] = await Promise.all(
      ['slept', 'heir'].map((owner) => createProviderSlots({ connectionString, schema, owner, logger: silentLogger })),
    );
    closers.push(...[slept!, heir!].map((slots) => () => slots.close()));
    const claim = `${anExecutionId(1)}:draw`;
    expect(await slept!.claim('veo', 2, claim)).toBe(false);
    expect(await heir!.claim('veo', 2, claim)).toBe(true);
    await slept!.release(claim);
    expect(await heir!.taken('veo')).toBe(1);
    await heir!.release(claim);
    expect(await heir!.taken('veo')).toBe(0);
  });

  it('hold their cap over several workers that claim as fast as they can', async () => {
    const schema = 'slots';
    const store = await createPostgresStore({ connectionString, schema, clock, logger: silentLogger });
    closers.push(() => store.close());
    const workers = await Promise.all(
      ['a', 'b', 'c'].map((owner) => createProviderSlots({ connectionString, schema, owner, logger: silentLogger })),
    );
    closers.push(...workers.map((slots) => () => slots.close()));
    let running = 0;
    let most = 0;
    const work = workers.flatMap((slots, worker) =>
      Array.from({ length: 20 }, async (_unused, index) => {
        const attempt = `attempt-${worker}-${index}`;
        await until(() => slots.claim('kie', 3, attempt));
        running += 1;
        most = Math.max(most, running);
        expect(await slots.claim('kie', 3, attempt)).toBe(true);
        running -= 1;
        await slots.release(attempt);
      }),
    );
    await Promise.all(work);
    expect(most).toBe(3);
    expect(await workers[0]!.taken('kie')).toBe(0);
  });

  it('can be given back by another worker, and shrink and grow with the cap', async () => {
    const schema = 'slots';
    const [one, two] = await Promise.all(
      ['one', 'two'].map((owner) => createProviderSlots({ connectionString, schema, owner, logger: silentLogger })),
    );
    closers.push(...[one!, two!].map((slots) => () => slots.close()));
    expect(await one!.claim('ark', 2, 'x')).toBe(true);
    expect(await two!.claim('ark', 1, 'y')).toBe(false);
    expect(await two!.claim('ark', 2, 'y')).toBe(true);
    expect(await one!.claim('ark', 2, 'z')).toBe(false);
    await two!.release('x');
    expect(await one!.claim('ark', 2, 'z')).toBe(true);
    const client = new pg.Client({ connectionString });
    await client.connect();
    const rows = await client.query(
      `SELECT slot, claim FROM ${schema}.provider_slots WHERE provider = 'ark' ORDER BY slot`,
    );
    expect(rows.rows).toEqual([
      { slot: 1, claim: 'z' },
      { slot: 2, claim: 'y' },
    ]);
    await client.end();
  });
});
