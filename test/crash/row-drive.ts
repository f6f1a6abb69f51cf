import { join } from 'node:path';
import { expect } from 'vitest';
import { waitUntil } from '../../src/app/index.ts';
import type { Store } from '../../src/engine/ports/index.ts';
import { createSystemClock, silentLogger } from '../../src/kernel/index.ts';
import { createPostgresStore, createSqliteStore } from '../../src/store/index.ts';
import { expectEachBoughtOnce, expectLedgerEqualsBill } from '../support/books.ts';
import type { Outside } from '../support/outside.ts';
import type { WorkerProcess } from '../support/worker-process.ts';

const clock = createSystemClock();
/** Two processes start and a row goes through three stages; machines that do other work meanwhile are slow. */
const limitMs = 90_000;
export const crashTestMs = 240_000;

export async function newRow(outside: Outside): Promise<string> {
  const files = [{ file_token: await outside.picture() }];
  return outside.sandbox.table.createRow(outside.table, { 产品图: files, 操作: '提交' });
}

/** Types 通过 whenever the row waits for it, until `done`. */
export async function driveUntil(
  outside: Outside,
  recordId: string,
  worker: WorkerProcess,
  done: () => boolean,
): Promise<void> {
  const { table: door } = outside.sandbox;
  const { table } = outside;
  const isOver = await waitUntil(
    clock,
    () => {
      if (door.text(table, recordId, '状态') === '待确认' && door.text(table, recordId, '操作') === '')
        door.setCells(table, recordId, { 操作: '通过' });
      return Promise.resolve(done());
    },
    50,
    limitMs,
  );
  const row = door.row(table, recordId);
  expect(isOver, `${JSON.stringify(row, undefined, 1)}\n${worker.output()}`).toBe(true);
}

export function statusOf({ sandbox, table }: Outside, recordId: string): string {
  return sandbox.table.text(table, recordId, '状态');
}

/** Holds the books of a worker that has ended against the sandbox's, on whichever store it ran. */
export async function expectBooksAgree(outside: Outside): Promise<void> {
  const store = await openStoreOf(outside);
  await expectEachBoughtOnce(outside, store);
  await expectLedgerEqualsBill(outside, store);
  await store.close();
}

async function openStoreOf({ env }: Outside): Promise<Store> {
  const connectionString = env['DATABASE_URL'];
  if (connectionString !== undefined)
    return await createPostgresStore({ connectionString, clock, logger: silentLogger });
  return createSqliteStore({ path: join(env['GRIDLOOM_DATA_DIR'] ?? '', 'gridloom.db'), clock, logger: silentLogger });
}
