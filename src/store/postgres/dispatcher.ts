import type { Client } from 'pg';
import type { PgBoss } from 'pg-boss';
import { z } from 'zod';
import { type Clock, type ExecutionId, executionId, sleep } from '../../kernel/index.ts';
import { isOpenExecution } from '../shared/reads.ts';
import { asStorageError, type ConnectOptions, createPool } from './connect.ts';
import type { WorkerPresence } from './presence.ts';

/**
 * Tells some worker "take up execution E", through pg-boss. A message is done as soon as E is claimed; the owner then
 * polls its vendors in memory. It is sent when an execution is created (in the same transaction), when its owner is gone,
 * and again by a slow sweep for a message that was lost. Which worker wins is decided by the claim's epoch, not here.
 */
export interface Dispatcher {
  /** Hand it to the store as `onCreated`. */
  readonly onCreated: (executionIds: readonly string[], client: Pick<Client, 'query'>) => Promise<void>;
  readonly start: () => Promise<void>;
  /** Takes no more messages and waits for the one in hand. */
  readonly stop: () => Promise<void>;
}

export interface DispatcherOptions extends ConnectOptions {
  readonly clock: Clock;
  readonly presence: WorkerPresence;
  /** Claims the execution and drives it from then on; resolves once it is claimed, or is not ours to claim. */
  readonly takeUp: (id: ExecutionId) => Promise<void>;
  /** Messages taken at once. Default 20. */
  readonly batchSize?: number;
  /** How often gone owners are looked for. Default 250 ms. */
  readonly watchIntervalMs?: number;
}

const queue = 'executions';
const defaultWatchIntervalMs = 250;
/** Executions nobody owns are offered again after this long. */
const sweepIntervalMs = 30_000;
const messageSchema = z.object({ executionId: z.string() });

export async function createDispatcher(options: DispatcherOptions): Promise<Dispatcher> {
  const boss = await createBoss(options);
  const pool = await createPool(options, 1);
  const closing = new AbortController();
  const send = async (ids: readonly string[], through?: Pick<Client, 'query'>): Promise<void> => {
    const jobs = ids.map((id) => ({ data: { executionId: id }, singletonKey: id }));
    if (jobs.length === 0) return;
    if (through === undefined) await boss.insert(queue, jobs);
    else await boss.insert(queue, jobs, { db: { executeSql: (text, values) => through.query(text, values) } });
  };
  const look = async (isSweep: boolean): Promise<void> => {
    const rows = await pool.query<{ owner: string | null }>(
      `SELECT DISTINCT owner FROM executions WHERE ${isOpenExecution}`,
    );
    for (const { owner } of rows.rows) {
      if (owner === null ? !isSweep : !(await options.presence.isGone(owner))) continue;
      await send(await ownedBy(owner));
    }
  };
  const ownedBy = async (owner: string | null): Promise<readonly string[]> => {
    const sql = `SELECT id FROM executions WHERE ${isOpenExecution} AND owner IS NOT DISTINCT FROM $1`;
    return (await pool.query<{ id: string }>(sql, [owner])).rows.map((row) => row.id);
  };
  let watching: Promise<void> = Promise.resolve();
  return {
    onCreated: send,
    start: async () => {
      await startWork(boss, options);
      watching = watch(options, look, closing.signal);
    },
    stop: async () => {
      closing.abort();
      await watching;
      await boss.stop({ graceful: true, timeout: 5_000 });
      await pool.end();
    },
  };
}

/** Loaded only when a database is configured. Heartbeats cover a worker that dies between fetching and claiming. */
async function createBoss(options: DispatcherOptions): Promise<PgBoss> {
  try {
    const { PgBoss } = await import('pg-boss');
    const boss = new PgBoss({
      connectionString: options.connectionString,
      max: 4,
      schema: 'pgboss',
      schedule: false,
      superviseIntervalSeconds: 1,
      monitorIntervalSeconds: 1,
      useListenNotify: true,
    });
    boss.on('error', (error) => options.logger.warn('the dispatcher reports an error', { error: error.message }));
    await boss.start();
    await boss.createQueue(queue, {
      policy: 'stately',
      heartbeatSeconds: 10,
      retryLimit: 1_000,
      retryDelay: 1,
      deleteAfterSeconds: 60,
      notify: true,
    });
    return boss;
  } catch (error) {
    throw asStorageError(error, 'the dispatcher cannot start');
  }
}

async function startWork(boss: PgBoss, options: DispatcherOptions): Promise<void> {
  const batchSize = options.batchSize ?? 20;
  // Woken by NOTIFY; the polls are the floor beneath it, and a full batch is followed by the next at once.
  const settings = { batchSize, pollingIntervalSeconds: 1, notifyPollingIntervalSeconds: 1, burstWhenBatchFull: true };
  await boss.work<unknown>(queue, settings, async (jobs) => {
    await Promise.all(
      jobs.map(async (job) => {
        const message = messageSchema.safeParse(job.data);
        if (message.success) await options.takeUp(executionId(message.data.executionId));
        else options.logger.error('a message of the dispatcher cannot be read and is dropped', { job: job.id });
      }),
    );
  });
}

async function watch(
  options: DispatcherOptions,
  look: (isSweep: boolean) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  let sweptAtMs = options.clock.monotonicMs();
  while (!signal.aborted) {
    const isSweep = options.clock.monotonicMs() - sweptAtMs >= sweepIntervalMs;
    try {
      await look(isSweep);
      if (isSweep) sweptAtMs = options.clock.monotonicMs();
    } catch (error) {
      options.logger.warn('cannot look for executions whose owner is gone; looking again', { error });
    }
    await sleep(options.clock, options.watchIntervalMs ?? defaultWatchIntervalMs, signal).catch(() => undefined);
  }
}
