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

/** Executions a transaction: short enough that the worker's own commits hardly wait. */
const batchSize = 200;

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
    for (let after = ''; signal?.aborted !== true; ) {
      const ids = steps.select(after, beforeMs);
      if (ids.length === 0) break;
      events += steps.forget(ids);
      executions += ids.length;
      after = ids.at(-1) ?? after;
      await new Promise<void>(nextTurn);
    }
    for (let deleted = batchSize; deleted === batchSize && signal?.aborted !== true; ) {
      deleted = steps.forgetLooseEvents(beforeMs);
      events += deleted;
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
  readonly select: (after: string, beforeMs: number) => readonly string[];
  readonly forget: (ids: readonly string[]) => number;
  readonly forgetLooseEvents: (beforeMs: number) => number;
}

function prepareSteps(connection: Connection): PruneSteps {
  const select = connection
    .prepare<unknown[], string>(
      `SELECT id FROM executions WHERE id > ? AND NOT (${isOpenExecution})
         AND iif(json_valid(body), json_extract(body, '$.endedAt') < ? AND json_extract(body, '$.pruned') IS NULL, 0)
         AND NOT EXISTS (SELECT 1 FROM attempts WHERE execution_id = executions.id AND ${isOpenAttempt})
         AND NOT EXISTS (SELECT 1 FROM outbox WHERE execution_id = executions.id)
       ORDER BY id LIMIT ${batchSize}`,
    )
    .pluck();
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
  const loose = connection.prepare(
    `DELETE FROM events WHERE seq IN (
       SELECT seq FROM events WHERE execution_id IS NULL AND at < ? AND seq < (SELECT MAX(seq) FROM events)
       ORDER BY seq LIMIT ${batchSize})`,
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
    select: (after, beforeMs) => select.all(after, beforeMs),
    forget: (ids) => forget.immediate(ids),
    forgetLooseEvents: (beforeMs) => loose.run(beforeMs).changes,
  };
}
