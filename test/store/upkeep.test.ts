import { statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import type { StoreCommand } from '../../src/engine/ports/index.ts';
import { createVirtualClock, silentLogger } from '../../src/kernel/index.ts';
import {
  backupStore,
  checkpointStore,
  clearRestoredMark,
  createSqliteStore,
  pruneStore,
  restoredBackup,
} from '../../src/store/index.ts';
import { aCharge, aNode, anAttempt, anExecution, anExecutionId } from './records.ts';
import { useDirectory } from './directory.ts';

const clock = createVirtualClock();
const open = (path: string) => createSqliteStore({ path, clock, logger: silentLogger });
const notice = (at: number, text = ''): StoreCommand => ({
  type: 'append-event',
  event: { at, type: 'notice', data: { text } },
});

describe('backup', () => {
  const directory = useDirectory();

  it('copies what the write-ahead log still holds, while the worker goes on, and marks the copy', async () => {
    const store = open(directory.file('live.db'));
    await store.commit([{ type: 'create-execution', record: anExecution(1) }]);
    backupStore({ path: directory.file('live.db'), destination: directory.file('copy.db'), clock });
    await store.commit([{ type: 'create-execution', record: anExecution(2) }]);
    expect(await restoredBackup(store)).toBeUndefined();
    await store.close();

    const restored = open(directory.file('copy.db'));
    expect(await restored.execution(anExecutionId(1))).toEqual(anExecution(1));
    expect(await restored.execution(anExecutionId(2))).toBeUndefined();
    expect(await restoredBackup(restored)).toEqual({ madeAt: clock.nowMs() });
    await clearRestoredMark(restored);
    expect(await restoredBackup(restored)).toBeUndefined();
    await restored.close();
  });

  it('never overwrites, and says so when there is nothing to copy', () => {
    const store = open(directory.file('live.db'));
    const options = { path: directory.file('live.db'), destination: directory.file('copy.db'), clock };
    backupStore(options);
    expect(() => backupStore(options)).toThrow('exists already');
    expect(() => backupStore({ ...options, path: directory.file('none.db') })).toThrow('no database');
    void store.close();
  });
});

describe('the write-ahead log (P144)', () => {
  const directory = useDirectory();

  it('P144 stays bounded over many writes, and is cut back by a checkpoint', async () => {
    const path = directory.file('a.db');
    const store = open(path);
    for (let round = 0; round < 40; round += 1) {
      await Promise.all(
        Array.from({ length: 50 }, (_unused, index) => store.commit([notice(index, 'x'.repeat(2_000))])),
      );
    }
    expect(statSync(`${path}-wal`).size).toBeLessThan(16 * 1024 * 1024);
    expect(checkpointStore(path)).toEqual({ isComplete: true, walBytes: 0 });
    await store.commit([notice(1)]);
    await store.close();
  });

  it('P144 says that a checkpoint could not finish while a reader holds an old view', async () => {
    const path = directory.file('a.db');
    const store = open(path);
    await store.commit([notice(1)]);
    const reader = new Database(path);
    reader.exec('BEGIN');
    reader.prepare('SELECT COUNT(*) FROM events').get();
    await store.commit([notice(2, 'x'.repeat(2_000))]);
    const report = checkpointStore(path);
    expect(report.isComplete).toBe(false);
    expect(report.walBytes).toBeGreaterThan(0);
    reader.exec('COMMIT');
    reader.close();
    expect(checkpointStore(path)).toMatchObject({ isComplete: true });
    await store.close();
  });
});

describe('retention', () => {
  const directory = useDirectory();

  it('forgets the details of what ended long ago and keeps keys, charges and everything open', async () => {
    const path = directory.file('a.db');
    const store = open(path);
    const ended = { status: 'succeeded', output: { big: 'x'.repeat(500) } } as const;
    const create = (number: number, changes: Parameters<typeof anExecution>[1]): StoreCommand[] => [
      { type: 'create-execution', record: anExecution(number, changes) },
      { type: 'put-node', record: aNode(number, 'draw'), epoch: 0 },
      { type: 'append-event', event: { at: 1, executionId: anExecutionId(number), type: 'node-started', data: {} } },
    ];
    await store.commit([
      notice(1),
      ...create(1, { ...ended, endedAt: 100 }),
      ...create(2, { ...ended, endedAt: 900 }),
      ...create(3, { status: 'held' }),
      ...create(4, { ...ended, endedAt: 100 }),
      ...create(5, { ...ended, endedAt: 100 }),
      { type: 'create-attempt', record: anAttempt(1, 1, { state: 'succeeded' }), epoch: 0 },
      { type: 'create-attempt', record: anAttempt(4, 4, { state: 'overdue' }), epoch: 0 },
      { type: 'create-charge', record: aCharge(1, { state: 'settled' }) },
      {
        type: 'append-outbox',
        entry: {
          at: 1,
          executionId: anExecutionId(5),
          sourceRef: 's',
          generation: 0,
          message: { kind: 'ended', status: 'succeeded', marks: [], activeMs: 1 },
        },
      },
      notice(900),
    ]);
    expect(await pruneStore(path, 500)).toEqual({ executions: 1, events: 2 });
    expect(await pruneStore(path, 500)).toEqual({ executions: 0, events: 0 });

    const slim = await store.executionByKey('key-1');
    expect(slim).toMatchObject({ status: 'succeeded', workflow: 'try-on-video', endedAt: 100, input: {} });
    expect(slim?.output).toBeUndefined();
    expect(await store.nodes(anExecutionId(1))).toEqual([]);
    expect(await store.attempts(anExecutionId(1))).toEqual([]);
    expect(await store.charges({})).toHaveLength(1);
    for (const number of [2, 3, 4, 5]) {
      expect(await store.nodes(anExecutionId(number))).toHaveLength(1);
      expect(await store.events(0, 99, { executionId: anExecutionId(number) })).toHaveLength(1);
    }
    await store.close();
  });

  it('goes on beside the worker, whose commits and reads get their turn in between', async () => {
    const path = directory.file('a.db');
    const store = open(path);
    const rows = Array.from({ length: 500 }, (_unused, index): StoreCommand[] => [
      { type: 'create-execution', record: anExecution(index + 1, { status: 'succeeded', endedAt: 100 }) },
      { type: 'put-node', record: aNode(index + 1, 'draw'), epoch: 0 },
    ]);
    await store.commit(rows.flat());
    const progress = { isOver: false };
    const pruning = pruneStore(path, 500).finally(() => {
      progress.isOver = true;
    });
    const left: number[] = [];
    for (let turn = 0; !progress.isOver; turn += 1) {
      await store.commit([notice(900 + turn)]);
      const heads = await store.executionParts(rows.map((_row, index) => anExecutionId(index + 1)));
      left.push(heads.filter(({ nodes }) => nodes.length > 0).length);
    }
    expect(await pruning).toEqual({ executions: 500, events: 0 });
    // At most twenty between two turns of the loop.
    expect(left.length).toBeGreaterThan(10);
    await store.close();
  });

  it('finds what is due behind what is not, and loose events behind those of executions', async () => {
    const path = directory.file('a.db');
    const store = open(path);
    const young = Array.from({ length: 450 }, (_unused, index): StoreCommand[] => [
      { type: 'create-execution', record: anExecution(index + 1, { status: 'succeeded', endedAt: 900 }) },
      ...Array.from({ length: 10 }, (): StoreCommand => {
        const executionId = anExecutionId(index + 1);
        return { type: 'append-event', event: { at: 100, executionId, type: 'node-started', data: {} } };
      }),
    ]);
    await store.commit(young.flat());
    await store.commit([
      { type: 'create-execution', record: anExecution(900, { status: 'failed', endedAt: 100 }) },
      notice(100),
      notice(900),
      notice(100),
    ]);
    expect(await pruneStore(path, 500)).toEqual({ executions: 1, events: 1 });
    expect((await store.events(0, 9_999, { types: ['notice'] })).map(({ at }) => at)).toEqual([900, 100]);
    await store.close();
  });

  it('gives the room of what it forgot to what comes', async () => {
    const path = directory.file('a.db');
    const store = open(path);
    const fill = async (from: number): Promise<number> => {
      for (let number = from; number < from + 100; number += 1) {
        const input = { text: String(number).padEnd(8_000, 'x') };
        await store.commit([
          { type: 'create-execution', record: anExecution(number, { status: 'succeeded', endedAt: 100, input }) },
        ]);
      }
      checkpointStore(path);
      return statSync(path).size;
    };
    const before = await fill(1);
    await pruneStore(path, 500);
    for (let round = 1; round <= 5; round += 1) {
      expect(await fill(1_000 * round)).toBeLessThan(2 * before);
      await pruneStore(path, 500);
    }
    await store.close();
  });

  it('never frees the newest number of the log', async () => {
    const path = directory.file('a.db');
    const store = open(path);
    await store.commit([notice(1), notice(2)]);
    await pruneStore(path, 999);
    expect((await store.events(0, 9)).map((event) => event.seq)).toEqual([2]);
    await store.commit([notice(3)]);
    expect(await store.lastEventSeq()).toBe(3);
    await store.close();
  });
});

describe('commands from beside the worker', () => {
  const directory = useDirectory();

  it('reach the worker through the file, and the log reaches whoever follows it from another process', async () => {
    const path = directory.file('a.db');
    const worker = open(path);
    const commandLine = open(path);
    const heard: string[] = [];
    const stop = worker.onControl(() => heard.push('control'));
    commandLine.onControl(() => undefined);
    commandLine.onAppend(() => heard.push('event'));

    const seq = await commandLine.sendControl({ command: 'pause' });
    await clock.advance(249);
    expect(heard).toEqual([]);
    await clock.advance(1);
    expect(heard).toEqual(['control']);
    expect(await worker.takeControls()).toMatchObject([{ seq, value: { command: 'pause' } }]);
    await worker.commit([{ type: 'ack-control', seq }, notice(1)]);
    expect(await commandLine.isControlWaiting(seq)).toBe(false);
    await clock.advance(250);
    expect(heard).toEqual(['control', 'event']);

    stop();
    await worker.close();
    await commandLine.close();
    expect(clock.nextDueInMs()).toBeUndefined();
  });

  it('hands a command that was taken but never done out again after a restart', async () => {
    const path = directory.file('a.db');
    const worker = open(path);
    const seq = await worker.sendControl({ command: 'cancel' });
    await worker.takeControls();
    await worker.close();
    const next = open(path);
    expect(await next.takeControls()).toMatchObject([{ seq }]);
    await next.close();
  });
});
