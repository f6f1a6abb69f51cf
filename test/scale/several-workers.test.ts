import { describe, expect, it } from 'vitest';
import { waitUntil } from '../../src/app/index.ts';
import { noLatencies } from '../../src/sandbox/index.ts';
import { clock, useScene } from './crew.ts';
import { expectEachBoughtOnce, expectLedgerEqualsBill } from '../support/books.ts';
import { drive, submitRows, tellRows, words } from './rows.ts';

/** Real workers in processes of their own, on a real PostgreSQL, against vendors that outlive them. */
const scene = useScene({ ...noLatencies, imageTaskMs: 8_000, videoTaskMs: 500 });

describe('several workers on one database', () => {
  it('P139 P141 three under load, one killed, one frozen and thawed: every row ends, nothing is bought twice', async () => {
    const killed = await scene.crew.start('killed');
    const frozen = await scene.crew.start('frozen');
    const last = await scene.crew.start('last');
    const rows = await submitRows(scene.outside, 30);
    await untilTrue(async () => total(await scene.crew.owners()) >= 24 && (await scene.crew.owners()).size === 3);

    frozen.process.kill('SIGSTOP');
    const had = await scene.crew.owners();
    await killed.kill('SIGKILL');
    const killedMs = clock.monotonicMs();
    await untilTrue(async () => !(await scene.crew.owners()).has(killed.owner));
    const tookMs = clock.monotonicMs() - killedMs;
    // What waits for the frozen one's own answer stays with it; the rest is taken over.
    await untilTrue(async () => (await scene.crew.owners()).get(frozen.owner) === (await intendedBy(frozen.owner)));
    const frozenMs = clock.monotonicMs() - killedMs;
    frozen.process.kill('SIGCONT');
    process.stdout.write(
      `take-over: ${had.get(killed.owner) ?? 0} executions of the killed worker in ${Math.round(tookMs)} ms, ` +
        `${had.get(frozen.owner) ?? 0} of the frozen one within ${Math.round(frozenMs)} ms\n`,
    );
    await drive(scene.outside, rows, rows.slice(0, 4), 90_000);

    const told = `${tellRows(scene.outside, rows)}\n${last.output()}`;
    expect(words(scene.outside, rows.slice(0, 4)), told).toEqual(Array(4).fill('完成'));
    // Nobody can say whether the killed one's last request arrived: such a row stands in 待核对, and is not bought again.
    const others = words(scene.outside, rows.slice(4));
    expect(
      others.filter((word) => word !== '待确认' && word !== '待核对'),
      told,
    ).toEqual([]);
    expect(tookMs).toBeLessThan(10_000);
    await expectEachBoughtOnce(scene.outside, scene.crew.store);
    await expectLedgerEqualsBill(scene.outside, scene.crew.store);
  }, 180_000);

  it('the database restarted under load: work goes on', async () => {
    await scene.crew.start('left');
    const right = await scene.crew.start('right');
    const rows = await submitRows(scene.outside, 10);
    await untilTrue(() => Promise.resolve(scene.outside.sandbox.books.acceptedTasks().length >= 4));
    await scene.server.restart();
    await drive(scene.outside, rows, [], 90_000);
    expect(words(scene.outside, rows), `${tellRows(scene.outside, rows)}\n${right.output()}`).toEqual(
      rows.map(() => '待确认'),
    );
    await expectEachBoughtOnce(scene.outside, scene.crew.store);
    await expectLedgerEqualsBill(scene.outside, scene.crew.store);
  }, 150_000);
});

/** Executions of the owner with a call whose answer only it could bring; undefined for none, as `owners` has it. */
async function intendedBy(owner: string): Promise<number | undefined> {
  const [row] = await scene.crew.query<{ count: number }>(
    `SELECT count(DISTINCT executions.id)::int AS count FROM executions JOIN attempts ON execution_id = executions.id
     WHERE owner = '${owner}' AND state = 'intended' AND status IN ('queued', 'running', 'held')`,
  );
  return row === undefined || row.count === 0 ? undefined : row.count;
}

async function untilTrue(look: () => Promise<boolean>): Promise<void> {
  if (!(await waitUntil(clock, look, 10, 45_000))) throw new Error(`not within 45 s: ${look.toString()}`);
}

function total(owners: ReadonlyMap<string, number>): number {
  return [...owners.values()].reduce((sum, count) => sum + count, 0);
}
