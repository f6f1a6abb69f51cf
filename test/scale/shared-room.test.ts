import { describe, expect, it } from 'vitest';
import { waitUntil } from '../../src/app/index.ts';
import { noLatencies } from '../../src/sandbox/index.ts';
import { startWorkerProcess } from '../support/worker-process.ts';
import { clock, useScene } from './crew.ts';
import { expectEachBoughtOnce, expectLedgerEqualsBill } from '../support/books.ts';
import { drive, submitRows, tellRows, words } from './rows.ts';

const scene = useScene({ ...noLatencies, imageTaskMs: 800, videoTaskMs: 500 });

describe('two workers', () => {
  it('keep a cap of the provider between them', async () => {
    const cap = { GRIDLOOM__LIMITS__CONCURRENCY__KIE: '2' };
    await Promise.all([scene.crew.start('left', cap), scene.crew.start('right', cap)]);
    const rows = await submitRows(scene.outside, 8);
    let most = 0;
    const watching = new AbortController();
    const watched = waitUntil(
      clock,
      () => {
        const running = scene.outside.sandbox.books.acceptedTasks().filter((task) => task.state === 'running');
        most = Math.max(most, running.length);
        return Promise.resolve(watching.signal.aborted);
      },
      20,
      90_000,
    );
    await drive(scene.outside, rows, [], 90_000);
    watching.abort();
    await watched;
    expect(words(scene.outside, rows), tellRows(scene.outside, rows)).toEqual(rows.map(() => '待确认'));
    expect(most).toBe(2);
    expect(new Set((await scene.crew.store.executions({ limit: 20 })).map((execution) => execution.owner)).size).toBe(
      2,
    );
    const slots = await scene.crew.query<{ taken: number }>(
      'SELECT count(claim)::int AS taken FROM provider_slots WHERE claim IS NOT NULL',
    );
    expect(slots[0]?.taken).toBe(0);
    await expectLedgerEqualsBill(scene.outside, scene.crew.store);
  }, 150_000);

  it('obey a pause, a cancel and a resume that the command line asks of either', async () => {
    await Promise.all([scene.crew.start('left'), scene.crew.start('right')]);
    expect(await command('pause')).toMatchObject({ code: 0 });
    // Told to all within a second.
    await waitUntil(clock, () => Promise.resolve(false), 1_600, 1_500);
    const rows = await submitRows(scene.outside, 4);
    const areWaiting = async (): Promise<boolean> =>
      (await scene.crew.store.events(0, 1_000, { types: ['node-waiting'] })).filter(
        ({ data }) => data['reason'] === 'paused',
      ).length >= 4;
    expect(await waitUntil(clock, areWaiting, 50, 20_000)).toBe(true);
    expect(scene.outside.sandbox.books.bill()).toEqual([]);
    const executions = await scene.crew.store.executions({ limit: 10 });
    expect(executions).toHaveLength(4);
    for (const { id } of executions.slice(0, 2)) expect(await command('cancel', id)).toMatchObject({ code: 0 });
    const areCanceled = (): Promise<boolean> =>
      Promise.resolve(words(scene.outside, rows).filter((word) => word === '已取消').length === 2);
    expect(await waitUntil(clock, areCanceled, 50, 20_000), tellRows(scene.outside, rows)).toBe(true);
    expect(await command('resume')).toMatchObject({ code: 0 });
    await drive(scene.outside, rows, [], 60_000);
    expect([...words(scene.outside, rows)].sort(), tellRows(scene.outside, rows)).toEqual(
      ['已取消', '已取消', '待确认', '待确认'].sort(),
    );
    const listed = await command('executions', '--json');
    expect(listed.output).toContain(executions[0]?.id);
    expect((await command('show', executions[3]?.id ?? '')).code).toBe(0);
    expect((await command('ledger', '--json')).code).toBe(0);
    expect((await command('events')).output).toContain('execution-queued');
  }, 150_000);
});

describe('a worker that is told to stop', () => {
  it('drains, ends with 0 and leaves its rows and its base to the other', async () => {
    const first = await scene.crew.start('first');
    await scene.crew.start('second');
    const rows = await submitRows(scene.outside, 6);
    const areTaken = async (): Promise<boolean> => (await scene.crew.owners()).has(first.owner);
    expect(await waitUntil(clock, areTaken, 20, 30_000)).toBe(true);
    first.process.kill('SIGTERM');
    expect((await first.ended).code, first.output()).toBe(0);
    await drive(scene.outside, rows, [], 60_000);
    expect(words(scene.outside, rows), tellRows(scene.outside, rows)).toEqual(rows.map(() => '待确认'));
    await expectEachBoughtOnce(scene.outside, scene.crew.store);
    await expectLedgerEqualsBill(scene.outside, scene.crew.store);
  }, 150_000);
});

describe('calls in doubt', () => {
  it('are resolved by a word to any worker, whoever drives them', async () => {
    scene.outside.sandbox.faults.add({ endpoint: 'kie.createTask', count: 4, action: { kind: 'drop-after' } });
    await scene.crew.start('left');
    await scene.crew.start('right');
    const rows = await submitRows(scene.outside, 4);
    const areHeld = (): Promise<boolean> =>
      Promise.resolve(words(scene.outside, rows).every((word) => word === '待核对'));
    expect(await waitUntil(clock, areHeld, 50, 60_000), tellRows(scene.outside, rows)).toBe(true);
    const doubts = await scene.crew.store.attemptsInState(['unknown'], 10);
    expect(doubts).toHaveLength(4);
    for (const { id } of doubts) expect(await command('resolve', id, '--not-accepted')).toMatchObject({ code: 0 });
    const areDone = (): Promise<boolean> =>
      Promise.resolve(words(scene.outside, rows).every((word) => word === '待确认'));
    expect(await waitUntil(clock, areDone, 50, 60_000), tellRows(scene.outside, rows)).toBe(true);
    const attempts = await scene.crew.store.attemptsInState(['not-accepted'], 10);
    expect(attempts).toHaveLength(4);
  }, 150_000);
});

describe('a database of a newer version', () => {
  it('is refused with exit code 1 and words', async () => {
    await scene.crew.query('UPDATE schema_version SET version = 1000');
    const refused = await scene.crew.start('old');
    expect((await refused.ended).code).toBe(1);
    expect(refused.output()).toMatch(/newer version of this program.*start that version/s);
  }, 60_000);
});

/** `npx gridloom …` beside the workers, with a data directory of its own. */
async function command(...args: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }> {
  const env = { ...scene.outside.env, DATABASE_URL: scene.crew.databaseUrl };
  const process = startWorkerProcess(env, args);
  const { code } = await process.ended;
  return { code, output: process.output() };
}
