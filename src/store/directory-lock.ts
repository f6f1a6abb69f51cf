import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { StorageError } from '../engine/ports/index.ts';
import { type Clock, fail, ok, type Result } from '../kernel/index.ts';
import { keepPrivate } from './private-file.ts';
import { asStorageError } from './sqlite/open.ts';

/** Who holds a data directory. */
export interface DirectoryHolder {
  readonly pid: number;
  /** When it took the directory, epoch milliseconds. */
  readonly startedAt: number;
}

export interface DirectoryLock {
  readonly release: () => void;
}

/** Locks that are held: one that is merely forgotten must not end with the garbage collector, which closes its connection. */
const held = new Set<Database.Database>();

/**
 * One worker a data directory. The lock is the operating system's, on `worker.lock`, held through SQLite: it ends with
 * the process, however that ends, so that nothing stale can be left behind and a reused pid means nothing. The pid and
 * the start beside it are for the words to a person only (P044, P139).
 */
export function acquireDataDirectory(
  directory: string,
  options: { readonly clock: Clock; readonly pid?: number },
): Result<DirectoryLock, DirectoryHolder> {
  const infoFile = join(directory, 'worker.json');
  const connection = openLockFile(join(directory, 'worker.lock'));
  try {
    connection.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    connection.close();
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY'))
      return fail(readHolder(infoFile));
    throw asStorageError(error, `cannot lock the data directory ${directory}`);
  }
  held.add(connection);
  writeHolder(infoFile, { pid: options.pid ?? process.pid, startedAt: options.clock.nowMs() });
  return ok({
    release: () => {
      held.delete(connection);
      connection.close();
    },
  });
}

function openLockFile(path: string): Database.Database {
  try {
    keepPrivate(path);
    return new Database(path, { timeout: 0 });
  } catch (error) {
    if (error instanceof TypeError) throw new StorageError(`the folder of ${path} does not exist`, { cause: error });
    throw asStorageError(error, `cannot open ${path}`);
  }
}

/** A full disk must not keep the worker from starting: the words are a convenience. */
function writeHolder(path: string, holder: DirectoryHolder): void {
  try {
    writeFileSync(path, JSON.stringify(holder), { mode: 0o600 });
  } catch {
    // The lock itself holds; only its description is missing.
  }
}

function readHolder(path: string): DirectoryHolder {
  try {
    const stored: unknown = JSON.parse(readFileSync(path, 'utf8'));
    const read = (name: string): number => {
      const value: unknown = typeof stored === 'object' && stored !== null ? Reflect.get(stored, name) : undefined;
      return typeof value === 'number' ? value : 0;
    };
    return { pid: read('pid'), startedAt: read('startedAt') };
  } catch {
    return { pid: 0, startedAt: 0 };
  }
}
