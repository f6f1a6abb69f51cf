import { createSystemClock, silentLogger } from '../../src/kernel/index.ts';
import { acquireDataDirectory, createSqliteStore } from '../../src/store/index.ts';

// Opens the store of a folder that this user may read but not write; prints what it is told.
const [directory = ''] = process.argv.slice(2);
const clock = createSystemClock();
const said: Record<string, string> = {};
try {
  const store = createSqliteStore({ path: `${directory}/gridloom.db`, clock, logger: silentLogger });
  await store.commit([{ type: 'append-event', event: { at: 1, type: 'notice', data: {} } }]);
} catch (error) {
  said['store'] = `${(error as Error).name}: ${(error as Error).message}`;
}
try {
  acquireDataDirectory(directory, { clock });
} catch (error) {
  said['lock'] = `${(error as Error).name}: ${(error as Error).message}`;
}
process.stdout.write(`${JSON.stringify(said)}\n`);
