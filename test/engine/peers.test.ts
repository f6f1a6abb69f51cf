import { describe, expect, it } from 'vitest';
import { StorageError } from '../../src/engine/ports/index.ts';
import type { ExecutionId } from '../../src/kernel/index.ts';
import { pictureWorld, type PictureWorld } from './support/picture-world.ts';

/** A worker among several. Nobody is gone but whom a test says, nobody frozen. */
async function sharedWorld(
  options: Parameters<typeof pictureWorld>[0] = {},
): Promise<PictureWorld & { readonly gone: Set<string> }> {
  const gone = new Set<string>();
  const deps = {
    isGone: (owner: string) => Promise.resolve(gone.has(owner)),
    peers: { isFrozen: () => Promise.resolve(false), isPresent: () => true },
    ...options.deps,
  };
  const script = (): { submit: 'accept'; durationMs: number } => ({ submit: 'accept', durationMs: 300_000 });
  return Object.assign(await pictureWorld({ script, ...options, deps }), { gone });
}

/** Drives one picture until its task runs at the vendor. */
async function driven(world: PictureWorld): Promise<ExecutionId> {
  const id = await world.submit({ input: { prompt: 'x' } });
  await world.clock.advance(10_000);
  expect(world.acme.tasks).toHaveLength(1);
  return id;
}

/** What others do while this worker sleeps. */
async function claimedBy(world: PictureWorld, owner: string, id: ExecutionId): Promise<void> {
  const { epoch: expectedEpoch } = await world.execution(id);
  await world.store.commit([{ type: 'claim-execution', id, owner, expectedEpoch }]);
}

describe('a worker that slept while another claimed its execution', () => {
  it('lets go of it, though it has nothing to write', async () => {
    const world = await sharedWorld();
    const id = await driven(world);
    await claimedBy(world, 'other', id);
    await world.clock.advance(6_000);
    expect(world.engine.activity().driving).toBe(0);
    const polls = world.acme.polls.length;
    await world.clock.advance(60_000);
    expect(world.acme.polls).toHaveLength(polls);
  });

  it('neither obeys nor forgets a cancel that was left for the owner', async () => {
    const world = await sharedWorld();
    const id = await driven(world);
    await claimedBy(world, 'other', id);
    const value = { ask: 'cancel', reason: '员工选了「取消」' };
    const record = { collection: 'engine.asks', key: `${id}/cancel`, value, updatedAt: 0 };
    await world.store.commit([{ type: 'put-document', record }]);
    await world.clock.advance(3_000);
    expect(await world.store.document('engine.asks', `${id}/cancel`)).toMatchObject({ value });
    expect((await world.execution(id)).cancelRequestedAt).toBeUndefined();

    world.gone.add('other');
    expect((await world.settle(id)).status).toBe('canceled');
  });

  it('neither obeys nor forgets a person’s word on a call in doubt', async () => {
    const world = await sharedWorld({ script: () => ({ submit: 'lose' }) });
    const id = await driven(world);
    const [attempt] = await world.attempts(id);
    await claimedBy(world, 'other', id);
    const value = { ask: 'resolve', attempt: attempt?.id ?? '', end: true };
    const key = `${id}/resolve/${attempt?.id ?? ''}`;
    await world.store.commit([
      { type: 'put-document', record: { collection: 'engine.asks', key, value, updatedAt: 0 } },
    ]);
    await world.clock.advance(3_000);
    expect(await world.store.document('engine.asks', key)).toMatchObject({ value });
    expect((await world.attempts(id))[0]?.state).toBe('unknown');
  });
});

it('an intended call waits for its sender, whoever had the execution since', async () => {
  const script = (): { submit: 'accept'; submitMs: number; durationMs: number } => ({
    submit: 'accept',
    submitMs: 100_000,
    durationMs: 1_000,
  });
  const world = await sharedWorld({ script });
  const id = await world.submit({ input: { prompt: 'x' } });
  await world.clock.advance(8_000);
  expect((await world.attempts(id))[0]).toMatchObject({ state: 'intended', sender: 'worker-1' });
  // The sender sleeps with its lock held; one that took the execution over meanwhile has died.
  await claimedBy(world, 'between', id);
  world.gone.add('between');
  await world.restart({ owner: 'heir' });
  await world.clock.advance(60_000);
  expect((await world.execution(id)).owner).toBe('heir');
  expect((await world.attempts(id)).map(({ state }) => state)).toEqual(['intended']);

  world.gone.add('worker-1');
  expect((await world.settle(id)).status).toBe('held');
  expect(world.acme.arrivals).toHaveLength(1);
});

it('what is submitted while a sweep turns its pages keeps what was said beside it', async () => {
  const world = await sharedWorld({ script: () => ({ submit: 'complete' }), start: false });
  for (let count = 0; count < 500; count += 1) await world.submit({ input: { prompt: 'x' } });
  const heads = world.store.unfinishedHeads.bind(world.store);
  let late: ExecutionId | undefined;
  world.store.unfinishedHeads = async (limit, after) => {
    if (after !== undefined) late ??= await world.submit({ input: { prompt: 'x' }, params: { style: 'line' } });
    return await heads(limit, after);
  };
  await world.restart();
  const id = late ?? expect.unreachable();
  expect((await world.settle(id)).status).toBe('succeeded');
  await world.clock.advance(1_000);
  // Read, and forgotten with the end.
  expect(await world.store.document('engine.request', id)).toBeUndefined();
});

it('an intent whose owner cannot be read just now is sent when the database is back, not left lying', async () => {
  const world = await sharedWorld();
  const execution = world.store.execution.bind(world.store);
  const commit = world.store.commit.bind(world.store);
  let failures = 0;
  world.store.commit = async (commands) => {
    await commit(commands);
    if (commands.some(({ type }) => type === 'create-attempt')) failures = 3;
  };
  world.store.execution = async (id) => {
    failures -= 1;
    if (failures >= 0) throw new StorageError('the database is away');
    return await execution(id);
  };
  await world.restart();
  const id = await driven(world);
  expect(world.acme.arrivals).toHaveLength(1);
  expect((await world.settle(id)).status).toBe('succeeded');
});
