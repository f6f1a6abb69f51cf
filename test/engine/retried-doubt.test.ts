import { describe, expect, it } from 'vitest';
import type { Store } from '../../src/engine/ports/index.ts';
import type { ExecutionId } from '../../src/kernel/index.ts';
import { pictureWorld, type PictureWorld } from './support/picture-world.ts';
import { running } from './support/world.ts';

describe('a lost answer whose time for asking runs out', () => {
  const retried = async (findFails = (): boolean => true): Promise<PictureWorld> =>
    await pictureWorld({
      script: ({ count }) => ({ submit: count === 1 ? 'lose' : 'accept' }),
      acme: { canFind: true, findFails },
      settings: (settings) => ({ unknown_outcome: { ...settings.unknown_outcome, image: 'retry' } }),
    });
  const handlings = async (world: PictureWorld, id: ExecutionId): Promise<readonly unknown[]> =>
    (await world.eventsOf(id)).filter(({ type }) => type === 'attempt-unknown').map(({ data }) => data['handling']);
  const both = [
    { state: 'settled', source: 'unknown', cnyMicros: 100_000 },
    { state: 'settled', source: 'vendor', cnyMicros: 100_000 },
  ];

  it('is bought again under `retry`; the ledger keeps both, and the operator is told', async () => {
    const world = await retried();
    const id = await world.draw();
    expect((await world.execution(id)).status).toBe('succeeded');
    expect(await world.store.charges({ executionId: id })).toMatchObject(both);
    expect(await handlings(world, id)).toEqual(['find', 'retry']);
  });

  it.each([
    ['before the time is over', 600_000],
    ['and comes back long after', 3_600_000],
  ])('keeps both and tells it once when it was killed %s', async (_what, awayMs) => {
    const world = await retried();
    const id = await world.submit({ input: { prompt: 'a cat' } });
    await world.clock.advance(60_000);
    world.kill();
    await world.clock.advance(awayMs);
    await world.restart();
    await world.settle(id);
    await world.restart();
    await world.clock.advance(3_600_000);
    expect((await world.execution(id)).status).toBe('succeeded');
    expect(await world.store.charges({ executionId: id })).toMatchObject(both);
    expect(await handlings(world, id)).toEqual(['find', 'retry']);
  });

  it.each(['found in time', 'never found', 'never found, and the program was away'])(
    'of an execution that was canceled meanwhile: %s',
    async (what) => {
      let isAway = true;
      const world = await retried(() => isAway);
      const id = await world.submit({ input: { prompt: 'a cat' } });
      await world.clock.advance(60_000);
      await running(world.clock, world.engine.cancel(id, 'test'));
      await world.clock.advance(1_000);
      isAway = what !== 'found in time';
      if (what.endsWith('away')) world.kill();
      await world.clock.advance(3_600_000);
      if (what.endsWith('away')) await world.restart();
      await world.clock.advance(60_000);
      expect(world.acme.arrivals).toHaveLength(1);
      const source = isAway ? 'unknown' : 'vendor';
      expect(await world.store.charges({ executionId: id })).toMatchObject([{ state: 'settled', source }]);
      // Nothing was bought again: there is nothing to warn of.
      expect(await handlings(world, id)).toEqual(isAway ? ['find', 'end'] : ['find']);
    },
  );

  it('is corrected by a person who finds its task after all', async () => {
    const world = await retried();
    const id = await world.draw();
    const [lost] = await world.attempts(id);
    const word = { kind: 'accepted', taskId: 'acme-1' } as const;
    expect((await running(world.clock, world.engine.resolve(lost!.id, word))).ok).toBe(true);
    await world.clock.advance(3_600_000);
    expect(await world.store.charges({ executionId: id })).toMatchObject([both[1], both[1]]);
    expect(await world.cny(id)).toBe(world.acme.bill());
  });

  it('is released by a person’s word though another worker had booked its charge meanwhile', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'drop' }) });
    const id = await world.draw();
    const [lost] = await world.attempts(id);
    const [charge] = await world.store.charges({ executionId: id });
    const record = { ...charge!, state: 'settled', source: 'unknown', settledAt: world.clock.nowMs() } as const;
    await world.restart({ store: tiring(world.store, 50) });
    await world.settle(id);
    await world.store.commit([{ type: 'put-charge', record }]);
    await running(world.clock, world.engine.resolve(lost!.id, { kind: 'not-accepted', endExecution: true }));
    expect(await world.store.charges({ executionId: id })).toMatchObject([{ state: 'released', cnyMicros: 0 }]);
  });

  it('stays reserved under `hold`, and is told by the held row alone', async () => {
    const world = await pictureWorld({
      script: () => ({ submit: 'lose' }),
      acme: { canFind: true, findFails: () => true },
    });
    const id = await world.draw();
    await world.clock.advance(3_600_000);
    expect((await world.execution(id)).status).toBe('held');
    expect(await world.store.charges({ executionId: id })).toMatchObject([{ state: 'reserved' }]);
    expect((await world.types(id)).filter((type) => type === 'attempt-unknown')).toHaveLength(1);
  });
});

/** A store that breaks after so many commits: a write that is tried for ever ends in a failure instead of never. */
function tiring(store: Store, mostCommits: number): Store {
  let commits = 0;
  return new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): unknown => {
        if (name === 'commit') commits += 1;
        if (commits > mostCommits) return Promise.reject(new Error('committed again and again'));
        return Reflect.apply(member, target, args);
      };
    },
  });
}
