import type { Client } from 'pg';
import type { PgBoss } from 'pg-boss';
import { z } from 'zod';
import { type Clock, type ExecutionId, executionId } from '../../kernel/index.ts';
import { asStorageError, type ConnectOptions, createPool } from './connect.ts';
import { createLookout } from './lookout.ts';

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
  /** The verdict on an owner, as the engine holds it: what is taken up is decided by the same. */
  readonly isGone: (owner: string) => Promise<boolean>;
  /** Claims the execution and drives it from then on; resolves once it is claimed, or is not ours to claim. */
  readonly takeUp: (id: ExecutionId) => Promise<void>;
  /** Messages taken at once. Default 20. */
  readonly batchSize?: number;
}

const queue = 'executions';
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
  const lookout = createLookout({ ...options, pool, send, signal: closing.signal });
  let watching: Promise<void> = Promise.resolve();
  return {
    onCreated: send,
    start: async () => {
      await startWork(boss, options);
      watching = lookout();
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
