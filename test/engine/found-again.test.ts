import { describe, expect, it } from 'vitest';
import { type Store, StorageError } from '../../src/engine/ports/index.ts';
import type { ExecutionId } from '../../src/kernel/index.ts';
import { pictureWorld, type PictureWorld } from './support/picture-world.ts';
import type { Behaviour } from './support/vendor.ts';
import { running } from './support/world.ts';

/** A vendor that keeps no key of ours: a lost task is known again by model and prompt alone, as at DashScope. */
async function lookalikes(first: Behaviour, second: Behaviour): Promise<PictureWorld> {
  return await pictureWorld({ script: ({ count }) => (count === 1 ? first : second), acme: { canFind: 'by-looks' } });
}

async function twoRows(world: PictureWorld, apartMs: number): Promise<readonly [ExecutionId, ExecutionId]> {
  const first = await world.submit({ input: { prompt: 'the same words' } });
  await world.clock.advance(apartMs);
  const second = await world.submit({ input: { prompt: 'the same words' } });
  return [first, second];
}

async function onlyAttempt(world: PictureWorld, id: ExecutionId) {
  const [attempt, more] = await world.attempts(id);
  if (attempt === undefined || more !== undefined) throw new Error(`not one attempt of ${id}`);
  return attempt;
}

/** What is settled in the ledger, of all rows: what is in doubt stands reserved beside it. */
async function settledCny(world: PictureWorld): Promise<number> {
  const charges = await world.store.charges({ states: ['settled'] });
  return charges.reduce((sum, charge) => sum + charge.cnyMicros, 0);
}

describe('a lost call that is found by its looks', () => {
  it('takes up its task when no other call of ours can have it', async () => {
    const world = await lookalikes({ submit: 'lose', durationMs: 60_000 }, { submit: 'accept' });
    const id = await world.draw();
    expect((await world.execution(id)).status).toBe('succeeded');
    expect(world.acme.arrivals).toHaveLength(1);
  });

  it.each([
    ['that was accepted at the same time', 0],
    ['that was accepted a little before it was intended', 20_000],
    ['that has its result already', 120_000],
  ])('never takes over the task of a neighbour %s; it is held', async (_what, apartMs) => {
    const world = await lookalikes({ submit: 'accept', durationMs: 60_000 }, { submit: 'drop' });
    const [first, second] = await twoRows(world, apartMs);
    await world.settle(second);
    await world.clock.advance(3_600_000);
    expect((await world.execution(first)).status).toBe('succeeded');
    expect((await world.execution(second)).status).toBe('held');
    expect(await onlyAttempt(world, second)).toMatchObject({ state: 'unknown' });
    expect((await onlyAttempt(world, second)).handle).toBeUndefined();
    expect(await world.types(second)).not.toContain('attempt-found');
    expect(world.acme.arrivals).toHaveLength(2);
    expect(await settledCny(world)).toBe(world.acme.bill());
    const { id } = await onlyAttempt(world, second);
    await running(world.clock, world.engine.resolve(id, { kind: 'not-accepted', endExecution: true }));
    expect(await world.cny()).toBe(world.acme.bill());
  });

  it('never takes over the task of a neighbour whose own answer is still on its way', async () => {
    const world = await lookalikes({ submit: 'accept', answerMs: 100_000, durationMs: 150_000 }, { submit: 'drop' });
    const [first, second] = await twoRows(world, 0);
    await world.clock.advance(50_000);
    expect(world.acme.tasks).toHaveLength(1);
    expect((await onlyAttempt(world, first)).state).toBe('intended');
    expect((await onlyAttempt(world, second)).state).toBe('unknown');
    await world.clock.advance(3_600_000);
    expect((await world.execution(first)).status).toBe('succeeded');
    expect((await world.execution(second)).status).toBe('held');
    expect(world.acme.arrivals).toHaveLength(2);
    expect(await settledCny(world)).toBe(world.acme.bill());
  });

  it('is left to a person when two calls were lost and one task is there', async () => {
    const world = await lookalikes({ submit: 'lose', durationMs: 60_000 }, { submit: 'drop' });
    const [first, second] = await twoRows(world, 0);
    await world.clock.advance(3_600_000);
    expect((await world.execution(first)).status).toBe('held');
    expect((await world.execution(second)).status).toBe('held');
    const word = { kind: 'accepted', taskId: 'acme-1' } as const;
    const mine = await onlyAttempt(world, first);
    expect((await running(world.clock, world.engine.resolve(mine.id, word))).ok).toBe(true);
    const other = await onlyAttempt(world, second);
    expect(await running(world.clock, world.engine.resolve(other.id, word))).toMatchObject({
      ok: false,
      failure: { code: 'task-taken' },
    });
  });

  it('is looked for again when the store could not say whose the task is', async () => {
    const world = await lookalikes({ submit: 'lose', durationMs: 60_000 }, { submit: 'accept' });
    let refusals = 0;
    await world.restart({ store: refusing(world.store, 'attemptsInState', () => (refusals += 1) <= 1) });
    const id = await world.draw();
    expect(refusals).toBeGreaterThan(1);
    expect((await world.execution(id)).status).toBe('succeeded');
    expect(world.acme.arrivals).toHaveLength(1);
  });
});

/** A store one of whose reads fails while `isAway` says so. */
function refusing(store: Store, read: keyof Store, isAway: () => boolean): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): unknown =>
        name === read && isAway()
          ? Promise.reject(new StorageError('the database is away'))
          : Reflect.apply(member, target, args);
    },
  });
}
