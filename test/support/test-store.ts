import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import type { Store } from '../../src/engine/ports/index.ts';
import { silentLogger, type VirtualClock } from '../../src/kernel/index.ts';
import { createPostgresStore, createSqliteStore } from '../../src/store/index.ts';

/**
 * The same test on either store: `vitest.config.ts` names two projects, and whatever opens its store here runs on SQLite in
 * the one and on PostgreSQL in the other, where the project names it.
 */
const isOnPostgres = process.env['TEST_STORE'] === 'postgres';

let serial = 0;

/** A database of its own with the schemas in it; undefined where the tests run on SQLite. */
export async function freshDatabase(): Promise<string | undefined> {
  if (!isOnPostgres) return undefined;
  const template = new URL(inject('postgresTemplate'));
  serial += 1;
  const name = `copy_${process.pid}_${serial}`;
  const admin = new pg.Client({ connectionString: new URL('/postgres', template).href });
  await admin.connect();
  try {
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template.pathname.slice(1)}`);
  } finally {
    await admin.end();
  }
  return new URL(`/${name}`, template).href;
}

/** An empty store under a virtual clock, gone with the test. Time then waits for the store, as the machine's would. */
export async function openTestStore(clock: VirtualClock): Promise<Store> {
  const connectionString = await freshDatabase();
  if (connectionString === undefined) return createSqliteStore({ path: ':memory:', clock, logger: silentLogger });
  const store = await createPostgresStore({ connectionString, clock, logger: silentLogger, readers: 2 });
  onTestFinished(async () => {
    await store.close();
  });
  const { counted, isQuiet } = countCalls(store);
  waitForStore(clock, isQuiet);
  return counted;
}

/** Knows of every call that the store has not answered yet. */
function countCalls(store: Store): { readonly counted: Store; readonly isQuiet: () => boolean } {
  let open = 0;
  const counted = new Proxy(
    { ...store },
    {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function' || name === 'onAppend' || name === 'onControl') return member;
        return async (...args: unknown[]): Promise<unknown> => {
          // A test may have put its own in its place, which waits for time to pass.
          if (Reflect.get(store, name) !== member) return await Reflect.apply(member, target, args);
          open += 1;
          try {
            return await Reflect.apply(member, target, args);
          } finally {
            open -= 1;
          }
        };
      },
    },
  );
  return { counted, isQuiet: () => open === 0 };
}

const turnsUntilHung = 100_000;

/** Between two due timers the store has answered whatever was asked, and what follows from that has run. */
function waitForStore(clock: VirtualClock, isQuiet: () => boolean): void {
  const advance = clock.advance.bind(clock);
  const quiet = async (): Promise<void> => {
    for (let turns = 0, calm = 0; calm < 2 && turns < turnsUntilHung; turns += 1) {
      await advance(0);
      calm = isQuiet() ? calm + 1 : 0;
    }
  };
  clock.advance = async (byMs) => {
    const untilMs = clock.monotonicMs() + byMs;
    await quiet();
    for (let dueMs = clock.nextDueInMs(); dueMs !== undefined; dueMs = clock.nextDueInMs()) {
      if (clock.monotonicMs() + dueMs > untilMs) break;
      await advance(dueMs);
      await quiet();
    }
    await advance(untilMs - clock.monotonicMs());
    await quiet();
  };
}
