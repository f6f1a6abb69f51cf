/**
 * Every write, by name, in SQL that SQLite and PostgreSQL both read (`?1` becomes `$1`). A statement that carries an
 * expectation changes 0 rows when it is not met; the writer turns that into a ConflictError. Parameters stand in the
 * order of `encode.ts`. Where `held` stands, PostgreSQL keeps the execution's row from being claimed until the commit;
 * SQLite has one writer anyway.
 */
export const writeStatements = {
  createExecution: `INSERT INTO executions (id, idempotency_key, source_ref, status, epoch, owner, body)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING`,
  putExecution: `UPDATE executions SET status = ?2, owner = ?4, body = ?5 WHERE id = ?1 AND epoch = ?3`,
  claimExecution: `UPDATE executions SET owner = ?2, epoch = epoch + 1 WHERE id = ?1 AND epoch = ?3`,
  putNode: `INSERT INTO nodes (execution_id, path, status, body)
    SELECT ?1, ?2, ?3, ?4 FROM executions WHERE id = ?1 AND epoch = ?5 /* held */
    ON CONFLICT (execution_id, path) DO UPDATE SET status = excluded.status, body = excluded.body`,
  createAttempt: `INSERT INTO attempts (id, execution_id, fingerprint, state, body)
    SELECT ?1, ?2, ?3, ?4, ?5 FROM executions WHERE id = ?2 AND epoch = ?6 /* held */`,
  putAttempt: `UPDATE attempts SET state = ?2, body = ?3 WHERE id = ?1 AND ?4 LIKE '%,' || state || ',%'`,
  createCharge: `INSERT INTO charges
      (id, attempt_id, execution_id, source_ref, state, agent, submitter, reserved_at, body)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)`,
  putCharge: `UPDATE charges SET state = ?2, body = ?3 WHERE id = ?1 AND state <> 'settled'`,
  correctCharge: `UPDATE charges SET state = ?2, body = ?3 WHERE id = ?1`,
  appendEvent: `INSERT INTO events (at, execution_id, source_ref, type, data) VALUES (?1, ?2, ?3, ?4, ?5)`,
  appendOutbox: `INSERT INTO outbox (at, execution_id, source_ref, generation, message) VALUES (?1, ?2, ?3, ?4, ?5)`,
  ackOutbox: `DELETE FROM outbox WHERE seq = ?1`,
  putBlob: `INSERT INTO blobs (hash, value) VALUES (?1, ?2) ON CONFLICT DO NOTHING`,
  putDocument: `INSERT INTO documents (collection, key, value, updated_at) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (collection, key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
  addDocument: `INSERT INTO documents (collection, key, value, updated_at) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT DO NOTHING`,
  deleteDocument: `DELETE FROM documents WHERE collection = ?1 AND key = ?2`,
  remember: `INSERT INTO remembered (fingerprint, source_ref, node_path, degraded, attempt_id, at, output)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
    ON CONFLICT (fingerprint) DO UPDATE SET source_ref = excluded.source_ref, node_path = excluded.node_path,
      degraded = excluded.degraded, attempt_id = excluded.attempt_id, at = excluded.at, output = excluded.output`,
  sendControl: `INSERT INTO controls (at, value) VALUES (?1, ?2)`,
  ackControl: `DELETE FROM controls WHERE seq = ?1`,
} as const;

export type WriteName = keyof typeof writeStatements;
export type SqlValue = string | number | null;
