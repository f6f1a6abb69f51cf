import { describe, expect, it } from 'vitest';
import type { StoreCommand } from '../../src/engine/ports/index.ts';
import { endOfTurn } from '../../src/kernel/index.ts';
import { createCommitGroup, type GroupOutcome } from '../../src/store/shared/group.ts';
import { pack, unpack } from '../../src/store/sqlite/crossing.ts';

/** A writer beside the loop, whose groups are answered by the test. */
function createWriter() {
  const groups: { readonly size: number; answer(outcome?: GroupOutcome): Promise<void> }[] = [];
  return {
    groups,
    sizes: () => groups.map(({ size }) => size),
    write: (lists: readonly unknown[]) =>
      new Promise<readonly GroupOutcome[]>((resolve) => {
        groups.push({
          size: lists.length,
          answer: async (outcome = { kind: 'written' }) => {
            resolve(lists.map(() => outcome));
            await settle();
          },
        });
      }),
  };
}

const settle = async (): Promise<void> => await new Promise<void>((resolve) => setImmediate(resolve));
const command: StoreCommand = { type: 'ack-outbox', seq: 1 };

function commitMany(group: ReturnType<typeof createCommitGroup>, count: number, log: string[], name: string): void {
  for (let index = 0; index < count; index += 1)
    void group.commit([command]).then(
      () => log.push(`${name} written`),
      () => log.push(`${name} refused`),
    );
}

describe('a writer beside the loop', () => {
  const start = (mostUnderWay: number) => {
    const writer = createWriter();
    const group = createCommitGroup({
      schedule: endOfTurn,
      write: writer.write,
      onAppended: () => undefined,
      mostUnderWay: () => mostUnderWay,
    });
    return { writer, group, log: [] as string[] };
  };

  it('has a second group lie ready, once that is as large as the two before on average, and no third', async () => {
    const { writer, group, log } = start(2);
    commitMany(group, 2, log, 'first');
    await settle();
    await writer.groups[0]?.answer();
    commitMany(group, 6, log, 'second');
    await settle();
    commitMany(group, 3, log, 'third');
    await settle();
    expect(writer.sizes(), 'three lists are not worth a sync of their own').toEqual([2, 6]);
    commitMany(group, 1, log, 'third');
    await settle();
    expect(writer.sizes()).toEqual([2, 6, 4]);
    commitMany(group, 9, log, 'fourth');
    await settle();
    expect(writer.sizes()).toEqual([2, 6, 4]);
    await writer.groups[1]?.answer();
    expect(writer.sizes()).toEqual([2, 6, 4, 9]);
  });

  it('is given what waits when it has nothing, however little that is', async () => {
    const { writer, group, log } = start(2);
    commitMany(group, 4, log, 'first');
    await settle();
    commitMany(group, 1, log, 'second');
    await settle();
    await writer.groups[0]?.answer();
    expect(writer.sizes()).toEqual([4, 1]);
  });

  it('answers each group by itself, in order, and closes when all are answered', async () => {
    const { writer, group, log } = start(2);
    commitMany(group, 1, log, 'first');
    await settle();
    commitMany(group, 1, log, 'second');
    await settle();
    const closed = group.close().then(() => log.push('closed'));
    await writer.groups[0]?.answer({ kind: 'storage', message: 'the disk is full' });
    expect(log).toEqual(['first refused']);
    await writer.groups[1]?.answer();
    await closed;
    expect(log).toEqual(['first refused', 'second written', 'closed']);
    await expect(group.commit([command])).rejects.toThrow(/closed/);
  });

  it('that cannot keep two apart gets one at a time', async () => {
    const { writer, group, log } = start(1);
    commitMany(group, 1, log, 'first');
    await settle();
    commitMany(group, 5, log, 'second');
    await settle();
    expect(writer.sizes()).toEqual([1]);
    await writer.groups[0]?.answer();
    expect(writer.sizes()).toEqual([1, 5]);
  });
});

describe('lists that cross to a thread', () => {
  it('arrive as they left', () => {
    const lists = [
      [
        { statement: 'putNode', params: ['01', 'step', 'succeeded', '{"a":"…"}', 3], conflict: 'fenced' },
        { statement: 'appendEvent', params: [1, null, null, 'x', '{}'] },
      ],
      [],
      [{ statement: 'ackOutbox', params: [7] }],
    ] as const;
    expect(unpack(structuredClone(pack(lists)))).toEqual(lists);
  });
});
