import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { waitUntil } from '../../src/app/index.ts';
import type { FailpointName } from '../../src/kernel/index.ts';
import { noLatencies } from '../../src/sandbox/index.ts';
import { type PostgresServer, startPostgres } from '../store/postgres-server.ts';
import { openOutside, type Outside } from '../support/outside.ts';
import { clock, type Crew, openCrew } from './crew.ts';
import { drive, expectEachBoughtOnce, expectLedgerEqualsBill, submitRows, tellRows, words } from './rows.ts';

/** One worker dies at a named place; another, with a disk of its own, goes on where it stood. */
let server: PostgresServer;
let outside: Outside;
let crew: Crew;
beforeAll(async () => {
  server = await startPostgres();
});
beforeEach(async () => {
  outside = await openOutside('try-on', { ...noLatencies, imageTaskMs: 150, videoTaskMs: 250 });
  crew = await openCrew(outside, await server.createDatabase());
});
afterEach(async () => {
  await crew.close();
  await outside.close();
});
afterAll(async () => {
  await server.stop();
});

async function dieAt(name: FailpointName): Promise<readonly string[]> {
  const victim = await crew.start('victim', { GRIDLOOM_FAILPOINT: name });
  const rows = await submitRows(outside, 1);
  const isDead = (): Promise<boolean> => Promise.resolve(victim.process.signalCode !== null);
  expect(await waitUntil(clock, isDead, 20, 40_000), victim.output()).toBe(true);
  return rows;
}

describe('a worker killed at', () => {
  it.each<FailpointName>([
    'intake:after-clear',
    'attempt:after-intent',
    'attempt:after-handle',
    'attempt:after-settle',
    'collect:after-download',
    'outbox:after-write',
  ])(
    '%s leaves its work to another with another disk',
    async (name) => {
      const rows = await dieAt(name);
      const heir = await crew.start('heir');
      await drive(outside, rows, [], 40_000);
      const [word] = words(outside, rows);
      const mayBeInDoubt = name === 'attempt:after-intent';
      expect(
        mayBeInDoubt ? ['待确认', '待核对'] : ['待确认'],
        `${tellRows(outside, rows)}\n${heir.output()}`,
      ).toContain(word);
      await expectEachBoughtOnce(outside, crew.store);
      await expectLedgerEqualsBill(outside, crew.store);
    },
    120_000,
  );
});

it('a file that lay on the dead worker’s disk alone, forgotten by its vendor: the row says so, nothing is bought again', async () => {
  const rows = await dieAt('outbox:before-upload');
  outside.sandbox.faults.add({
    endpoint: 'files.download',
    count: 10_000,
    action: { kind: 'answer', status: 404, body: { code: 'NoSuchKey' } },
  });
  await crew.start('heir');
  await drive(outside, rows, [], 40_000);
  const [row = ''] = rows;
  expect(words(outside, rows), tellRows(outside, rows)).toEqual(['失败']);
  expect(outside.sandbox.table.text(outside.table, row, '报错')).toContain('结果文件已不在本机');
  const billed = outside.sandbox.books.billTotals()['kie'];
  outside.sandbox.faults.clear();
  // The vendor has it again: 提交 fetches it, and pays for no picture.
  outside.sandbox.table.setCells(outside.table, row, { 操作: '提交' });
  const isThere = (): Promise<boolean> => Promise.resolve(words(outside, rows)[0] === '待确认');
  expect(await waitUntil(clock, isThere, 50, 30_000), tellRows(outside, rows)).toBe(true);
  expect(outside.sandbox.books.billTotals()['kie']).toEqual(billed);
}, 120_000);
