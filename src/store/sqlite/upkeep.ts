import { statSync } from 'node:fs';
import { nextTurn } from '../../kernel/index.ts';
import { isOpenAttempt, isOpenExecution } from '../shared/reads.ts';
import { asStorageError, type Connection, openReader } from './open.ts';

/** How far the write-ahead log could be moved into the file. */
export interface CheckpointReport {
  /** False while a reader elsewhere holds an old view: the log cannot shrink until it ends. */
  readonly isComplete: boolean;
  readonly walBytes: number;
}

/**
 * Moves the write-ahead log into the file and cuts it back. SQLite reports "busy" instead of failing, so the answer must
 * be looked at: a reader that never ends lets the log grow until the disk is full (P144).
 */
export function checkpointStore(path: string): CheckpointReport {
  const connection = openReader({ path, busyTimeoutMs: 0 });
  try {
    const [row] = rowsOf(connection.pragma('wal_checkpoint(TRUNCATE)'));
    return { isComplete: row !== undefined && Reflect.get(row, 'busy') === 0, walBytes: sizeOf(`${path}-wal`) };
  } catch (error) {
    throw asStorageError(error, `cannot checkpoint ${path}`);
  } finally {
    connection.close();
  }
}

function rowsOf(value: unknown): readonly object[] {
  return Array.isArray(value) ? value.filter((row): row is object => typeof row === 'object' && row !== null) : [];
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

export interface PruneReport {
  readonly executions: number;
  readonly events: number;
}

/** Executions looked at before the loop goes on, and events: some milliseconds of work. */
const pageSize = 200;
const logPageSize = 2_000;
/** Executions a transaction: short enough that neither the event loop nor the worker's own commits wait for long. */
const batchSize = 20;

/**
 * Forgets the details of executions that ended before `beforeMs`: nodes, attempts, events, input and output. What remains
 * is a slim execution (its idempotency key still refuses a second run) and every charge. An execution with a call that
 * may still settle, or with an outbox entry that nobody took yet, is left whole.
 */
export async function pruneStore(path: string, beforeMs: number, signal?: AbortSignal): Promise<PruneReport> {
  const connection = openReader({ path, busyTimeoutMs: 5_000 });
  try {
    const steps = prepareSteps(connection);
    let executions = 0;
    let events = 0;
    for (let page = steps.look('', beforeMs); page !== undefined; page = steps.look(page.last, beforeMs)) {
      for (let from = 0; from < page.due.length && signal?.aborted !== true; from += batchSize) {
        const ids = page.due.slice(from, from + batchSize);
        events += steps.forget(ids);
        executions += ids.length;
        await new Promise<void>(nextTurn);
      }
      await new Promise<void>(nextTurn);
      if (signal?.aborted === true) break;
    }
    for (let after: number | undefined = 0; after !== undefined && signal?.aborted !== true; ) {
      const page = steps.forgetLooseEvents(after, beforeMs);
      events += page.deleted;
      after = page.next;
      await new Promise<void>(nextTurn);
    }
    return { executions, events };
  } catch (error) {
    throw asStorageError(error, `cannot prune ${path}`);
  } finally {
    connection.close();
  }
}

interface PruneSteps {
  /** The next page of executions after an id, and which of them are due; undefined behind the last one. */
  readonly look: (after: string, beforeMs: number) => { readonly last: string; readonly due: string[] } | undefined;
  readonly forget: (ids: readonly string[]) => number;
  /** Those of the next page of the log; `next` is where to go on, undefined once the log is too young. */
  readonly forgetLooseEvents: (
    after: number,
    beforeMs: number,
  ) => { readonly deleted: number; readonly next: number | undefined };
}

function prepareSteps(connection: Connection): PruneSteps {
  // Every execution is looked at, a page a time: those that are due may lie behind a hundred thousand that are not.
  const look = connection.prepare<unknown[], { id: string; due: number }>(
    `SELECT id, NOT (${isOpenExecution})
       AND iif(json_valid(body), json_extract(body, '$.endedAt') < ? AND json_extract(body, '$.pruned') IS NULL, 0)
       AND NOT EXISTS (SELECT 1 FROM attempts WHERE execution_id = executions.id AND ${isOpenAttempt})
       AND id NOT IN (SELECT execution_id FROM outbox) AS due
     FROM executions WHERE id > ? ORDER BY id LIMIT ${pageSize}`,
  );
  const slim = connection.prepare(
    `UPDATE executions SET body = json_remove(json_set(body, '$.input', json('{}'), '$.pruned', 1), '$.output') WHERE id = ?`,
  );
  const deletes = ['nodes', 'attempts'].map((table) =>
    connection.prepare(`DELETE FROM ${table} WHERE execution_id = ?`),
  );
  // The newest event stays whatever its age: the numbering goes on from it.
  const events = connection.prepare(
    'DELETE FROM events WHERE execution_id = ? AND seq < (SELECT MAX(seq) FROM events)',
  );
  const logPage = connection.prepare<unknown[], { last: number | null; oldestAt: number | null }>(
    `SELECT MAX(seq) AS last, MIN(at) AS oldestAt FROM (SELECT seq, at FROM events WHERE seq > ? ORDER BY seq LIMIT ${logPageSize})`,
  );
  const loose = connection.prepare(
    `DELETE FROM events WHERE seq > ? AND seq <= ? AND execution_id IS NULL AND at < ?
       AND seq < (SELECT MAX(seq) FROM events)`,
  );
  const forget = connection.transaction((ids: readonly string[]) => {
    let deleted = 0;
    for (const id of ids) {
      deleted += events.run(id).changes;
      for (const statement of deletes) statement.run(id);
      slim.run(id);
    }
    return deleted;
  });
  return {
    look: (after, beforeMs) => {
      const rows = look.all(beforeMs, after);
      const last = rows.at(-1)?.id;
      return last === undefined ? undefined : { last, due: rows.filter(({ due }) => due === 1).map(({ id }) => id) };
    },
    forget: (ids) => forget.immediate(ids),
    forgetLooseEvents: (after, beforeMs) => {
      const { last = null, oldestAt = null } = logPage.get(after) ?? {};
      if (last === null || oldestAt === null || oldestAt >= beforeMs) return { deleted: 0, next: undefined };
      return { deleted: loose.run(after, last, beforeMs).changes, next: last };
    },
  };
}
