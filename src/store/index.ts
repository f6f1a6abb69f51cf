export { createSqliteStore, type SqliteStoreOptions } from './sqlite/store.ts';
