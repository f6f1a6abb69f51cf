import { existsSync } from 'node:fs';
import { type DocumentRecord, StorageError, type Store } from '../../engine/ports/index.ts';
import type { Clock } from '../../kernel/index.ts';
import { asStorageError, type Connection, openReader } from './open.ts';

const mark = { collection: 'store', key: 'restored-backup' } as const;
const connectionOptions = { busyTimeoutMs: 5_000 };

/**
 * A copy of the whole database at one instant, what still lies in the write-ahead log included, while the worker goes on.
 * The copy carries a mark: whoever starts on it works on yesterday's truth, where calls may have been paid for that it does
 * not know. Refuses to overwrite.
 */
export function backupStore(options: {
  readonly path: string;
  readonly destination: string;
  readonly clock: Clock;
}): void {
  const { path, destination, clock } = options;
  if (!existsSync(path)) throw new StorageError(`there is no database ${path} to back up`);
  if (existsSync(destination)) throw new StorageError(`${destination} exists already; choose another name`);
  withConnection(path, (connection) => connection.prepare('VACUUM INTO ?').run(destination));
  withConnection(destination, (connection) => {
    const value = JSON.stringify({ madeAt: clock.nowMs() });
    connection
      .prepare('INSERT OR REPLACE INTO documents (collection, key, value, updated_at) VALUES (?, ?, ?, ?)')
      .run(mark.collection, mark.key, value, clock.nowMs());
    // Left as one plain file that can be copied by itself.
    connection.pragma('journal_mode = DELETE');
  });
}

/**
 * The mark of a backup that was put back, with the instant when it was made. While it is there, only collect what was
 * bought: the table is newer than the ledger.
 */
export async function restoredBackup(store: Store): Promise<{ readonly madeAt: number } | undefined> {
  const record: DocumentRecord | undefined = await store.document(mark.collection, mark.key);
  if (record === undefined) return undefined;
  const { madeAt } = record.value;
  return { madeAt: typeof madeAt === 'number' ? madeAt : 0 };
}

/** The operator has looked: work goes on as usual. */
export async function clearRestoredMark(store: Store): Promise<void> {
  await store.commit([{ type: 'delete-document', ...mark }]);
}

function withConnection(path: string, work: (connection: Connection) => void): void {
  let connection: Connection | undefined;
  try {
    connection = openReader({ path, ...connectionOptions });
    work(connection);
  } catch (error) {
    throw asStorageError(error, `cannot copy the database ${path}`);
  } finally {
    connection?.close();
  }
}
