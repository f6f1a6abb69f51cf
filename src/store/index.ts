export { acquireDataDirectory, type DirectoryHolder, type DirectoryLock } from './directory-lock.ts';
export { createSideFile, type SideFile } from './side-file.ts';
export { createSqliteStore, type SqliteStoreOptions } from './sqlite/store.ts';
