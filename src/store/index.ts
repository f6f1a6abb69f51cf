export { acquireDataDirectory, type DirectoryHolder, type DirectoryLock } from './directory-lock.ts';
export { createPostgresStore, type PostgresStoreOptions } from './postgres/store.ts';
export { createSideFile, type SideFile } from './side-file.ts';
export { backupStore, clearRestoredMark, restoredBackup } from './sqlite/backup.ts';
export { createSqliteStore, type SqliteStoreOptions } from './sqlite/store.ts';
export { createThreadedSqliteStore } from './sqlite/threaded-store.ts';
export { type CheckpointReport, checkpointStore, type PruneReport, pruneStore } from './sqlite/upkeep.ts';
