import type { LoadedConfig } from '../config/index.ts';
import type { Store } from '../engine/ports/index.ts';
import type { Clock, Logger } from '../kernel/index.ts';
import { createSqliteStore } from '../store/index.ts';
import type { DataDirectory } from './data-directory.ts';

/** SQLite in the data directory. Throws a StorageError in words when it cannot be used. */
export async function openStore(
  _config: LoadedConfig,
  directory: DataDirectory,
  deps: { readonly clock: Clock; readonly logger: Logger },
): Promise<Store> {
  return await Promise.resolve(createSqliteStore({ path: directory.database, ...deps }));
}
