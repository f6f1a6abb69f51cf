import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { waitUntil } from '../../src/app/index.ts';
import { noLatencies } from '../../src/sandbox/index.ts';
import { type PostgresServer, startPostgres } from '../store/postgres-server.ts';
import { openOutside, type Outside } from '../support/outside.ts';
import { clock, type Crew, openCrew } from './crew.ts';
import { drive, tellRows, expectEachBoughtOnce, expectLedgerEqualsBill, submitRows, words } from './rows.ts';

/** Real workers in processes of their own, on a real PostgreSQL, against vendors that outlive them. */
let server: PostgresServer;
let outside: Outside;
let crew: Crew;
beforeAll(async () => {
  server = await startPostgres();
});
beforeEach(async () => {
  outside = await openOutside('try-on', { ...noLatencies, imageTaskMs: 3_000, videoTaskMs: 3_000 });
  crew = await openCrew(outside, await server.createDatabase());
});
afterEach(async () => {
  await crew.close();
  await outside.close();
});
afterAll(async () => {
  await server.stop();
});

describe('several workers on one database', () => {
  it('P139 one of two killed under load: the other takes its work over, every row ends, nothing is bought twice', async () => {
    const first = await crew.start('first');
    const second = await crew.start('second');
    const rows = await submitRows(outside, 12);
    const driving = drive(outside, rows, 60_000);
    await waitUntil(clock, async () => (await crew.owners()).size === 2 && total(await crew.owners()) > 8, 20, 20_000);
    const before = await crew.owners();
    await first.kill('SIGKILL');
    const killedMs = clock.monotonicMs();
    await waitUntil(clock, async () => (await crew.owners()).size <= 1, 5, 20_000);
    const tookMs = clock.monotonicMs() - killedMs;
    process.stdout.write(`take-over of ${JSON.stringify([...before.values()])} in ${Math.round(tookMs)} ms\n`);
    await driving;
    expect(words(outside, rows), `${tellRows(outside, rows)}\n${second.output()}`).toEqual(rows.map(() => '完成'));
    expect(tookMs).toBeLessThan(10_000);
    await expectEachBoughtOnce(outside, crew.store);
    await expectLedgerEqualsBill(outside, crew.store);
  }, 90_000);
});

function total(owners: ReadonlyMap<string, number>): number {
  return [...owners.values()].reduce((sum, count) => sum + count, 0);
}
