import { isOpenAttempt, isOpenExecution } from '../shared/reads.ts';

/** `GLOM` in `PRAGMA application_id`: tells our file from any other SQLite file. */
export const applicationId = 0x474c4f4d;

/**
 * Migration `n` brings a file from `user_version` n to n + 1. Never edited after a release; only added to.
 *
 * Tables keyed by UUIDv7 text have no rowid: one B-tree, clustered by time. `events.seq` is the rowid itself; the outbox
 * and the controls empty themselves, so their numbers must not start again (AUTOINCREMENT).
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE executions (
    id TEXT PRIMARY KEY, idempotency_key TEXT NOT NULL UNIQUE, source_ref TEXT NOT NULL, status TEXT NOT NULL,
    epoch INTEGER NOT NULL, owner TEXT, body TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX executions_open ON executions (id) WHERE ${isOpenExecution};
  CREATE INDEX executions_source ON executions (source_ref);

  CREATE TABLE nodes (
    execution_id TEXT NOT NULL, path TEXT NOT NULL, status TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (execution_id, path)
  ) WITHOUT ROWID;

  CREATE TABLE attempts (
    id TEXT PRIMARY KEY, execution_id TEXT NOT NULL REFERENCES executions (id), fingerprint TEXT NOT NULL,
    state TEXT NOT NULL, body TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX attempts_execution ON attempts (execution_id);
  CREATE INDEX attempts_open ON attempts (id) WHERE ${isOpenAttempt};
  CREATE INDEX attempts_fingerprint ON attempts (fingerprint) WHERE state = 'succeeded';

  CREATE TABLE charges (
    id TEXT PRIMARY KEY, attempt_id TEXT NOT NULL, execution_id TEXT NOT NULL, source_ref TEXT NOT NULL,
    state TEXT NOT NULL, agent TEXT, submitter TEXT, reserved_at INTEGER NOT NULL, body TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX charges_attempt ON charges (attempt_id);
  CREATE INDEX charges_execution ON charges (execution_id);
  CREATE INDEX charges_source ON charges (source_ref);
  CREATE INDEX charges_time ON charges (reserved_at);

  CREATE TABLE events (
    seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, execution_id TEXT, source_ref TEXT, type TEXT NOT NULL,
    data TEXT NOT NULL
  );
  CREATE INDEX events_execution ON events (execution_id) WHERE execution_id IS NOT NULL;

  CREATE TABLE outbox (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, execution_id TEXT NOT NULL, source_ref TEXT NOT NULL,
    generation INTEGER NOT NULL, message TEXT NOT NULL
  );

  CREATE TABLE blobs (hash TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE documents (
    collection TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, updated_at INTEGER NOT NULL,
    PRIMARY KEY (collection, key)
  ) WITHOUT ROWID;
  CREATE TABLE remembered (
    fingerprint TEXT PRIMARY KEY, source_ref TEXT NOT NULL, node_path TEXT NOT NULL, degraded INTEGER NOT NULL,
    attempt_id TEXT, at INTEGER NOT NULL, output TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX remembered_source ON remembered (source_ref, node_path, at);
  CREATE TABLE controls (seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, value TEXT NOT NULL);
  `,
];

/** The schema that this program writes. */
export const schemaVersion = migrations.length;
