import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { StorageError } from '../../engine/ports/index.ts';
import { keepPrivate } from '../private-file.ts';
import { applicationId, migrations, schemaVersion } from './schema.ts';

export type Connection = Database.Database;

export interface OpenOptions {
  /** A file, or `:memory:`. */
  readonly path: string;
  /** How long a write waits for another process's write before it counts as failed. */
  readonly busyTimeoutMs: number;
  /** Largest size of the file in pages of 4 KiB; a full disk for tests. */
  readonly maxPages?: number;
}

/** WAL pages after which a commit also moves the log into the file: 1,000 pages are about 4 MB. */
const checkpointPages = 1_000;
/** Pages kept in memory, a connection. */
const cacheKilobytes = 8_000;
/** What the log file is cut back to once it has been moved (P144). */
const journalLimitBytes = 16 * 1024 * 1024;

/**
 * Opens the file, sets what durability needs, migrates it and puts its rows right. Throws a StorageError that says what to do when the file
 * cannot be used: unreadable, corrupt, someone else's, or written by a newer version.
 */
export function openDatabase(options: OpenOptions, putRight: (connection: Connection) => void): Connection {
  const connection = connect(options);
  try {
    configure(connection, options);
    migrate(connection, options.path);
    putRight(connection);
    return connection;
  } catch (error) {
    connection.close();
    throw asStorageError(error, `cannot use the database ${options.path}`);
  }
}

/** A second connection to a file that is open already: reads beside a writer in a thread. */
export function openReader(options: OpenOptions): Connection {
  const connection = connect(options);
  configure(connection, options);
  return connection;
}

function connect(options: OpenOptions): Connection {
  try {
    if (options.path !== ':memory:') keepPrivate(options.path);
    return new Database(options.path, { timeout: options.busyTimeoutMs });
  } catch (error) {
    throw asStorageError(error, `cannot open the database ${options.path}`);
  }
}

function configure(connection: Connection, options: OpenOptions): void {
  if (options.path !== ':memory:') connection.pragma('journal_mode = WAL');
  connection.pragma('synchronous = FULL');
  connection.pragma('foreign_keys = ON');
  connection.pragma('temp_store = MEMORY');
  connection.pragma(`cache_size = -${cacheKilobytes}`);
  connection.pragma(`wal_autocheckpoint = ${checkpointPages}`);
  connection.pragma(`journal_size_limit = ${journalLimitBytes}`);
  if (options.maxPages !== undefined) connection.pragma(`max_page_count = ${options.maxPages}`);
}

/** Brings the file to `schemaVersion` in one transaction; two processes that start together migrate it once. */
export function migrate(connection: Connection, path: string, steps: readonly string[] = migrations): void {
  const version = (): number => Number(connection.pragma('user_version', { simple: true }));
  if (version() === steps.length) return;
  if (version() > steps.length) throw newerSchema(path, version());
  if (version() === 0 && hasTables(connection)) {
    throw new StorageError(`${path} is a database of another program; set GRIDLOOM_DATA_DIR to a folder of its own`);
  }
  if (version() > 0) keepCopy(connection, path, version());
  connection.exec('BEGIN IMMEDIATE');
  try {
    for (const step of steps.slice(version())) connection.exec(step);
    connection.pragma(`application_id = ${applicationId}`);
    connection.pragma(`user_version = ${steps.length}`);
    connection.exec('COMMIT');
  } catch (error) {
    if (connection.inTransaction) connection.exec('ROLLBACK');
    throw error;
  }
}

function hasTables(connection: Connection): boolean {
  return connection.prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' LIMIT 1`).get() !== undefined;
}

/** A copy of the file as it was, before a migration touches it; an earlier copy of the same version is left alone. */
function keepCopy(connection: Connection, path: string, version: number): void {
  const copy = `${path}.before-v${version + 1}`;
  if (path === ':memory:' || existsSync(copy)) return;
  connection.prepare('VACUUM INTO ?').run(copy);
}

function newerSchema(path: string, version: number): StorageError {
  return new StorageError(
    `${path} was written by a newer version of this program (schema ${version}, this one knows ${schemaVersion}); ` +
      'start that version, or restore the copy that was made before its migration',
  );
}

/** What to do, by SQLite's own code. */
const advice: readonly (readonly [prefix: string, words: string])[] = [
  ['SQLITE_FULL', 'the disk is full: free some space'],
  ['SQLITE_IOERR', 'the disk reports an error: check it'],
  ['SQLITE_READONLY', 'the file or its folder is read-only: give the worker write permission'],
  ['SQLITE_CANTOPEN', 'the file cannot be opened: does the folder exist, and may the worker write to it?'],
  ['SQLITE_BUSY', 'another process holds the database: only one worker may use a data directory'],
  ['SQLITE_LOCKED', 'another connection holds the database'],
  ['SQLITE_CORRUPT', 'the file is damaged: restore the last backup'],
  ['SQLITE_NOTADB', 'the file is no database: restore the last backup, or move it away to start anew'],
  ['SQLITE_PERM', 'the worker may not use the file: give it permission'],
  ['SQLITE_NOMEM', 'the machine is out of memory'],
];

/** The words for a failure of the storage itself, or undefined when the statement is at fault. */
export function storageAdvice(error: unknown): string | undefined {
  if (!(error instanceof Database.SqliteError)) return undefined;
  return advice.find(([prefix]) => error.code.startsWith(prefix))?.[1];
}

export function asStorageError(error: unknown, what: string): Error {
  if (error instanceof StorageError) return error;
  const words = storageAdvice(error) ?? (error instanceof TypeError ? 'the folder does not exist' : undefined);
  const code = error instanceof Database.SqliteError ? error.code : 'failed';
  if (words === undefined) return error instanceof Error ? error : new Error(what, { cause: error });
  return new StorageError(`${what}: ${words} (${code})`, { cause: error });
}
