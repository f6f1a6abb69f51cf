import { existsSync, statSync } from 'node:fs';
import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createUpkeep } from '../../src/app/upkeep.ts';
import type { StoreCommand } from '../../src/engine/ports/index.ts';
import { createVirtualClock, type Logger, silentLogger, type VirtualClock } from '../../src/kernel/index.ts';
import { createSqliteStore } from '../../src/store/index.ts';
import { useDirectory } from '../store/directory.ts';
import { anExecution, anExecutionId, aNode } from '../store/records.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Clocks of a worker's test start at a day of our time; a file's age is told by the same clock. */
function openWorld(directory: ReturnType<typeof useDirectory>, isStoreShared = false) {
  const clock: VirtualClock = createVirtualClock();
  const said: string[] = [];
  const say = (message: string): void => void said.push(message);
  const logger: Logger = { ...silentLogger, info: say, warn: say, error: say };
  const database = directory.file('gridloom.db');
  const store = createSqliteStore({ path: database, clock, logger, watchIntervalMs: dayMs });
  const upkeep = createUpkeep({
    ports: { clock, logger, store },
    storage: { keep_days: 90, spool_days: 14 },
    directory: { database, spool: directory.file('spool') },
    isStoreShared,
  });
  const ended = (number: number, endedAt: number): StoreCommand[] => [
    { type: 'create-execution', record: anExecution(number, { status: 'succeeded', endedAt, output: { big: 'x' } }) },
    { type: 'put-node', record: aNode(number, 'draw'), epoch: 0 },
  ];
  const spooled = async (letter: string, ageDays: number): Promise<string> => {
    const hash = letter.repeat(64);
    await mkdir(directory.file(`spool/${hash.slice(0, 2)}`), { recursive: true });
    const path = join(directory.file('spool'), hash.slice(0, 2), hash);
    await writeFile(path, 'x');
    const at = new Date(clock.nowMs() - ageDays * dayMs);
    await utimes(path, at, at);
    return path;
  };
  /** Upkeep works on real files between two instants of the virtual clock. */
  const until = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
    while (!(await isSo())) await new Promise<void>((resolve) => setImmediate(resolve));
  };
  const isPruned = (number: number) => async () => (await store.nodes(anExecutionId(number))).length === 0;
  const swept = (times: number) => () => said.filter((line) => line === 'spool swept').length === times;
  return { clock, store, upkeep, ended, spooled, until, isPruned, swept, said, database };
}

describe('upkeep of a worker that lives long', () => {
  const directory = useDirectory();

  it('cuts the write-ahead log back within the hour', async () => {
    const { clock, store, upkeep, ended, database } = openWorld(directory);
    upkeep.start();
    await store.commit(ended(1, clock.nowMs()));
    expect(statSync(`${database}-wal`).size).toBeGreaterThan(0);
    await clock.advance(hourMs);
    expect(statSync(`${database}-wal`).size).toBe(0);
    await upkeep.stop();
    await store.close();
  });

  it('forgets old executions and files an hour after the start, and then each day again', async () => {
    const { clock, store, upkeep, ended, spooled, until, isPruned, swept } = openWorld(directory);
    const nowMs = clock.nowMs();
    await store.commit([...ended(1, nowMs - 91 * dayMs), ...ended(2, nowMs - 89.5 * dayMs), ...ended(3, nowMs)]);
    const files = [await spooled('a', 15), await spooled('b', 13.5), await spooled('c', 1)];
    upkeep.start();
    await clock.advance(hourMs);
    await until(swept(1));
    expect(await Promise.all([1, 2, 3].map((number) => isPruned(number)()))).toEqual([true, false, false]);
    expect(files.map((path) => existsSync(path))).toEqual([false, true, true]);

    for (let hour = 0; hour < 24; hour += 1) {
      await clock.advance(hourMs);
      // The next round is set when this one has ended.
      await until(() => clock.nextDueInMs() !== undefined);
    }
    await until(swept(2));
    expect(await Promise.all([1, 2, 3].map((number) => isPruned(number)()))).toEqual([true, true, false]);
    expect(files.map((path) => existsSync(path))).toEqual([false, false, true]);
    await upkeep.stop();
    await store.close();
  });

  it('goes on after a round that failed', async () => {
    const { clock, store, upkeep, spooled, until, swept, said } = openWorld(directory);
    upkeep.start();
    // There is no spool yet: the sweep fails.
    await clock.advance(hourMs);
    await until(() => said.includes('upkeep failed'));
    const old = await spooled('a', 20);
    for (let hour = 0; hour < 24; hour += 1) {
      await until(() => clock.nextDueInMs() !== undefined);
      await clock.advance(hourMs);
    }
    await until(swept(1));
    expect(existsSync(old)).toBe(false);
    await upkeep.stop();
    await store.close();
  });

  it('of a store that several share looks after its own files only', async () => {
    const { clock, store, upkeep, ended, spooled, until, isPruned, swept } = openWorld(directory, true);
    await store.commit(ended(1, clock.nowMs() - 91 * dayMs));
    const old = await spooled('a', 15);
    upkeep.start();
    await clock.advance(hourMs);
    await until(swept(1));
    expect([existsSync(old), await isPruned(1)()]).toEqual([false, false]);
    await upkeep.stop();
    await store.close();
  });

  it('is waited for when the worker stops, and stops at its next step', async () => {
    const { clock, store, upkeep, ended, isPruned } = openWorld(directory);
    const commands = Array.from({ length: 400 }, (_unused, index) => ended(index + 1, clock.nowMs() - 91 * dayMs));
    await store.commit(commands.flat());
    upkeep.start();
    await clock.advance(hourMs);
    await upkeep.stop();
    expect(await isPruned(400)()).toBe(false);
    await store.close();
  });
});
