import type { Client } from 'pg';
import { StorageError } from '../../engine/ports/index.ts';
import { migrations } from './schema.ts';

/** Names the lock under which one process at a time migrates. */
const migrationLock = 0x4d494752;

/**
 * Brings the schema to this program's version, once, however many workers start together: the others wait for the lock
 * and find it done. A schema of a newer version is refused.
 */
export async function migrate(client: Client, schema: string, steps: readonly string[] = migrations): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query('SELECT pg_advisory_xact_lock($1)', [migrationLock]);
    await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
    await client.query('CREATE TABLE IF NOT EXISTS schema_version (version int NOT NULL)');
    const found = await client.query<{ version: number }>('SELECT version FROM schema_version');
    const version = found.rows[0]?.version ?? 0;
    if (version > steps.length) {
      throw new StorageError(
        `the database was written by a newer version of this program (schema ${version}, this one knows ${steps.length}); ` +
          'start that version on this machine too',
      );
    }
    for (const step of steps.slice(version)) await client.query(step);
    if (found.rows.length === 0) await client.query('INSERT INTO schema_version VALUES ($1)', [steps.length]);
    else if (version < steps.length) await client.query('UPDATE schema_version SET version = $1', [steps.length]);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
