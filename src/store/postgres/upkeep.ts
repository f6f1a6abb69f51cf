import { isOpenAttempt, isOpenExecution } from '../shared/reads.ts';
import { asStorageError, connectClient, type ConnectOptions } from './connect.ts';

/** Executions a transaction. */
const batchSize = 200;

/**
 * What `pruneStore` does on SQLite, here: forgets the details of executions that ended before `beforeMs`, keeps the slim
 * execution, its key and every charge. Several workers may call it at once: each row is taken by one of them.
 */
export async function prunePostgresStore(
  options: ConnectOptions,
  beforeMs: number,
  signal?: AbortSignal,
): Promise<{ readonly executions: number; readonly events: number }> {
  const client = await connectClient(options);
  let executions = 0;
  let events = 0;
  try {
    for (let found = batchSize; found === batchSize && signal?.aborted !== true; ) {
      const result = await client.query<{ executions: number; events: number }>(pruneSql, [beforeMs]);
      found = result.rows[0]?.executions ?? 0;
      executions += found;
      events += result.rows[0]?.events ?? 0;
    }
    const loose = await client.query(
      `DELETE FROM events WHERE execution_id IS NULL AND at < $1 AND seq < (SELECT max(seq) FROM events)`,
      [beforeMs],
    );
    return { executions, events: events + (loose.rowCount ?? 0) };
  } catch (error) {
    throw asStorageError(error, 'cannot prune the database');
  } finally {
    await client.end();
  }
}

const pruneSql = `
  WITH old AS (
    SELECT id FROM executions
    WHERE NOT (${isOpenExecution}) AND (body::jsonb ->> 'endedAt')::numeric < $1 AND NOT body::jsonb ? 'pruned'
      AND NOT EXISTS (SELECT 1 FROM attempts WHERE execution_id = executions.id AND ${isOpenAttempt})
      AND NOT EXISTS (SELECT 1 FROM outbox WHERE execution_id = executions.id)
    ORDER BY id LIMIT ${batchSize} FOR UPDATE SKIP LOCKED),
  gone_nodes AS (DELETE FROM nodes USING old WHERE execution_id = old.id),
  gone_attempts AS (DELETE FROM attempts USING old WHERE execution_id = old.id),
  gone_events AS (
    DELETE FROM events USING old WHERE execution_id = old.id AND seq < (SELECT max(seq) FROM events) RETURNING seq),
  slim AS (
    UPDATE executions SET body = ((body::jsonb - 'output') || '{"input": {}, "pruned": 1}')::text
    FROM old WHERE executions.id = old.id RETURNING 1)
  SELECT (SELECT count(*)::int FROM slim) AS executions, (SELECT count(*)::int FROM gone_events) AS events`;
