import type { Client } from 'pg';
import { AbortedError, type Clock, sleep } from '../../kernel/index.ts';
import { asStorageError, connectClient, type ConnectOptions } from './connect.ts';

/**
 * The sign of life of a worker: an advisory lock of a session of its own. It ends with the process at once, however that
 * ends; with a whole machine after the server's TCP keep-alives. A frozen worker keeps it: nobody may resolve its
 * `intended` calls until it is free. After the database was away the lock is taken again, and until then `isPresent` is
 * false: no paid request may leave.
 */
export interface WorkerPresence {
  readonly owner: string;
  /** Whether this worker's own lock is held, as far as its connection knows. Ask just before a paid request leaves. */
  readonly isPresent: () => boolean;
  /** Asks the database whether the session lives. False also for one that has died without our knowing yet. */
  readonly confirm: () => Promise<boolean>;
  /** Whether nobody holds that owner's lock. */
  readonly isGone: (owner: string) => Promise<boolean>;
  /** Workers alive now, this one included. */
  readonly countWorkers: () => Promise<number>;
  /** Takes a named lock on the same session; false when another worker has it. It is lost with the session. */
  readonly tryLock: (name: string) => Promise<boolean>;
  readonly unlock: (name: string) => Promise<void>;
  /** Calls `listener` when the session, and every lock with it, was lost. */
  readonly onLost: (listener: () => void) => () => void;
  readonly close: () => Promise<void>;
}

export interface PresenceOptions extends ConnectOptions {
  readonly clock: Clock;
  readonly owner: string;
}

/** Classes of two-part advisory locks: "GLW" workers, "GLN" named. */
const workerClass = 0x474c57;
const namedClass = 0x474c4e;
const reconnectDelayMs = 200;

export async function createWorkerPresence(options: PresenceOptions): Promise<WorkerPresence> {
  const { owner, clock, logger } = options;
  const listeners = new Set<() => void>();
  const closing = new AbortController();
  let session: Client | undefined;

  const open = async (): Promise<void> => {
    const client = await connectClient(options);
    client.on('end', () => {
      if (session !== client) return;
      session = undefined;
      if (closing.signal.aborted) return;
      logger.warn('the sign of life was lost; taking it again', { owner });
      for (const listener of listeners) listener();
      void reopen();
    });
    const taken = await lock(client, workerClass, owner);
    if (!taken) {
      await client.end();
      throw new Error(`another process is alive under the name ${owner}`);
    }
    session = client;
  };
  const reopen = async (): Promise<void> => {
    while (session === undefined && !closing.signal.aborted) {
      try {
        await sleep(clock, reconnectDelayMs, closing.signal);
        await open();
      } catch (error) {
        if (!(error instanceof AbortedError)) logger.warn('the sign of life cannot be taken yet', { owner });
      }
    }
  };
  // One question at a time: the session's connection takes no second one before it has answered.
  let last: Promise<unknown> = Promise.resolve();
  const query = async <Answer>(ask: (client: Client) => Promise<Answer>): Promise<Answer> => {
    const answer = last.then(async () => {
      if (session === undefined) throw new Error('no session');
      return await ask(session);
    });
    last = answer.catch(() => undefined);
    try {
      return await answer;
    } catch (error) {
      throw asStorageError(error, 'the database is away');
    }
  };
  try {
    await open();
  } catch (error) {
    throw asStorageError(error, 'cannot take the sign of life');
  }
  return {
    owner,
    isPresent: () => session !== undefined,
    confirm: async () =>
      await query((client) => client.query('SELECT 1')).then(
        () => true,
        () => false,
      ),
    isGone: async (other) => other !== owner && (await query((client) => isFree(client, other))),
    countWorkers: () => query(countHolders),
    tryLock: (name) => query((client) => lock(client, namedClass, name)),
    unlock: (name) => query((client) => unlock(client, name)),
    onLost: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: async () => {
      closing.abort();
      await session?.end();
    },
  };
}

async function lock(client: Client, classId: number, name: string): Promise<boolean> {
  const sql = 'SELECT pg_try_advisory_lock($1, hashtext($2)) AS held';
  return (await client.query<{ held: boolean }>(sql, [classId, name])).rows[0]?.held === true;
}

async function unlock(client: Client, name: string): Promise<void> {
  await client.query('SELECT pg_advisory_unlock($1, hashtext($2))', [namedClass, name]);
}

/** A shared lock for the length of this one statement: two workers that ask at once do not see each other. */
async function isFree(client: Client, owner: string): Promise<boolean> {
  const sql = 'SELECT pg_try_advisory_xact_lock_shared($1, hashtext($2)) AS free';
  return (await client.query<{ free: boolean }>(sql, [workerClass, owner])).rows[0]?.free === true;
}

async function countHolders(client: Client): Promise<number> {
  const sql = `SELECT count(*)::int AS workers FROM pg_locks WHERE locktype = 'advisory' AND classid = $1 AND granted
    AND mode = 'ExclusiveLock' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  return (await client.query<{ workers: number }>(sql, [workerClass])).rows[0]?.workers ?? 1;
}
