import type { LoadedConfig } from '../config/index.ts';
import type { Store } from '../engine/ports/index.ts';
import type { Clock, Logger } from '../kernel/index.ts';
import { createAdaptiveSqliteStore, createPostgresStore, createSqliteStore } from '../store/index.ts';
import type { DataDirectory } from './data-directory.ts';

/**
 * The store of the installation, for one who reads and asks beside the workers: the database of `DATABASE_URL`, else
 * SQLite in the data directory. Throws a StorageError in words when it cannot be used.
 */
export async function openStore(
  config: LoadedConfig,
  directory: DataDirectory,
  deps: { readonly clock: Clock; readonly logger: Logger },
): Promise<Store> {
  return await open(config, directory, deps, createSqliteStore);
}

/** The same for one who drives executions: when writing holds up the loop, the writer moves to a thread. */
export async function openDriverStore(
  config: LoadedConfig,
  directory: DataDirectory,
  deps: { readonly clock: Clock; readonly logger: Logger },
): Promise<Store> {
  return await open(config, directory, deps, createAdaptiveSqliteStore);
}

async function open(
  config: LoadedConfig,
  directory: DataDirectory,
  deps: { readonly clock: Clock; readonly logger: Logger },
  onDisk: typeof createSqliteStore,
): Promise<Store> {
  const { databaseUrl } = config.environment;
  if (databaseUrl === undefined) return onDisk({ path: directory.database, ...deps });
  return await createPostgresStore({ connectionString: databaseUrl.reveal(), readers: 2, ...deps });
}
