import { isOpenAttempt, isOpenExecution } from '../shared/reads.ts';

/**
 * Migration `n` brings the schema from version n to n + 1; never edited after a release. The tables are those of the
 * SQLite store. Text sorts by bytes (`COLLATE "C"`), as it does there. Numbers of the log, the outbox and the controls are
 * given out by the writer under one lock (`write-function.ts`), so that a reader who has seen n misses nothing below n.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE executions (
    id text COLLATE "C" PRIMARY KEY, idempotency_key text COLLATE "C" NOT NULL UNIQUE,
    source_ref text COLLATE "C" NOT NULL, status text NOT NULL, epoch bigint NOT NULL, owner text, body text NOT NULL
  );
  CREATE INDEX executions_open ON executions (id) WHERE ${isOpenExecution};
  CREATE INDEX executions_source ON executions (source_ref);

  CREATE TABLE nodes (
    execution_id text COLLATE "C" NOT NULL, path text COLLATE "C" NOT NULL, status text NOT NULL, body text NOT NULL,
    PRIMARY KEY (execution_id, path)
  );

  CREATE TABLE attempts (
    id text COLLATE "C" PRIMARY KEY, execution_id text COLLATE "C" NOT NULL REFERENCES executions (id),
    fingerprint text COLLATE "C" NOT NULL, state text NOT NULL, body text NOT NULL
  );
  CREATE INDEX attempts_execution ON attempts (execution_id);
  CREATE INDEX attempts_open ON attempts (id) WHERE ${isOpenAttempt};
  CREATE INDEX attempts_fingerprint ON attempts (fingerprint) WHERE state = 'succeeded';

  CREATE TABLE charges (
    id text COLLATE "C" PRIMARY KEY, attempt_id text COLLATE "C" NOT NULL, execution_id text COLLATE "C" NOT NULL,
    source_ref text COLLATE "C" NOT NULL, state text NOT NULL, agent text, submitter text, reserved_at bigint NOT NULL,
    body text NOT NULL
  );
  CREATE INDEX charges_attempt ON charges (attempt_id);
  CREATE INDEX charges_execution ON charges (execution_id);
  CREATE INDEX charges_source ON charges (source_ref);
  CREATE INDEX charges_time ON charges (reserved_at);

  CREATE TABLE events (
    seq bigint PRIMARY KEY, at bigint NOT NULL, execution_id text COLLATE "C", source_ref text, type text NOT NULL,
    data text NOT NULL
  );
  CREATE INDEX events_execution ON events (execution_id, seq) WHERE execution_id IS NOT NULL;
  CREATE TABLE outbox (
    seq bigint PRIMARY KEY, at bigint NOT NULL, execution_id text NOT NULL, source_ref text NOT NULL,
    generation bigint NOT NULL, message text NOT NULL
  );
  CREATE TABLE blobs (hash text COLLATE "C" PRIMARY KEY, value text NOT NULL);
  CREATE TABLE documents (
    collection text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, value text NOT NULL, updated_at bigint NOT NULL,
    PRIMARY KEY (collection, key)
  );
  CREATE TABLE remembered (
    fingerprint text COLLATE "C" PRIMARY KEY, source_ref text COLLATE "C" NOT NULL, node_path text COLLATE "C" NOT NULL,
    degraded bigint NOT NULL, attempt_id text, at bigint NOT NULL, output text NOT NULL
  );
  CREATE INDEX remembered_source ON remembered (source_ref, node_path, at);
  CREATE TABLE controls (seq bigint PRIMARY KEY, at bigint NOT NULL, value text NOT NULL);

  CREATE TABLE numbers (name text PRIMARY KEY, last bigint NOT NULL);
  INSERT INTO numbers VALUES ('events', 0), ('outbox', 0), ('controls', 0);
  CREATE TABLE writers (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(), group_number bigint NOT NULL DEFAULT 0, outcomes text,
    seen_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE TABLE provider_slots (
    provider text COLLATE "C" NOT NULL, slot int NOT NULL, owner text, claim text, PRIMARY KEY (provider, slot)
  );
  `,
];
