import { createSystemClock, silentLogger } from '../../src/kernel/index.ts';
import { createSqliteStore, createThreadedSqliteStore } from '../../src/store/index.ts';

// Commits one event after another on eight lines at once, and says each number when its promise has resolved.
const [path = '', kind = ''] = process.argv.slice(2);
const create = kind === 'thread' ? createThreadedSqliteStore : createSqliteStore;
const store = create({ path, clock: createSystemClock(), logger: silentLogger });
let next = 0;
async function line(): Promise<void> {
  for (;;) {
    next += 1;
    const number = next;
    const pair = [number, number].map(
      (at) => ({ type: 'append-event', event: { at, type: 'notice', data: { pad: 'x'.repeat(200) } } }) as const,
    );
    await store.commit(pair);
    process.stdout.write(`${number}\n`);
  }
}
await Promise.all(Array.from({ length: 8 }, line));
