import { describe, expect, it } from 'vitest';
import type { FailpointName } from '../../src/kernel/index.ts';
import { StorageError } from '../../src/engine/ports/index.ts';
import { pictureWorld } from './support/picture-world.ts';
import { running } from './support/world.ts';

describe('after a kill', () => {
  it('an accepted task goes on being asked about under the same handle', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'accept', durationMs: 120_000 }) });
    const id = await world.submit({ input: { prompt: 'x' } });
    await world.clock.advance(10_000);
    await world.restart();
    await world.settle(id);
    expect((await world.execution(id)).status).toBe('succeeded');
    expect(world.acme.arrivals).toHaveLength(1);
    expect(await world.cny(id)).toBe(world.acme.bill());
  });

  it('an intent without an answer is in doubt, and is never sent again', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'accept', submitMs: 10_000 }) });
    const id = await world.submit({ input: { prompt: 'x' } });
    await world.clock.advance(5_000);
    await world.restart();
    await world.settle(id);
    await world.clock.advance(600_000);
    expect((await world.execution(id)).status).toBe('held');
    expect(world.acme.arrivals).toHaveLength(1);
  });

  it('a settled result that was not used yet is used, not bought again', async () => {
    let isArmed = true;
    const failpoints = {
      hit: (name: FailpointName) => {
        if (isArmed && name === 'attempt:after-settle') throw new Error('killed here');
      },
    };
    const world = await pictureWorld({ deps: { failpoints } });
    const id = await world.submit({ input: { prompt: 'x' } });
    await world.clock.advance(30_000);
    isArmed = false;
    await world.restart();
    expect((await world.settle(id)).status).toBe('succeeded');
    expect(world.acme.arrivals).toHaveLength(1);
  });

  it('P136 two workers that sweep at once drive an execution once', async () => {
    const world = await pictureWorld({ start: false });
    const id = await world.submit({ input: { prompt: 'x' } });
    await world.restart();
    await world.settle(id);
    expect((await world.execution(id)).status).toBe('succeeded');
    expect(world.acme.arrivals).toHaveLength(1);
  });

  it('what another claimed between our claim and our reading is let go: its purchases may not have been seen', async () => {
    let isOtherGone = false;
    const isGone = (owner: string): Promise<boolean> => Promise.resolve(owner !== 'somebody' || isOtherGone);
    const script = (): { submit: 'accept'; durationMs: number } => ({ submit: 'accept', durationMs: 300_000 });
    const world = await pictureWorld({ script, deps: { isGone } });
    const { store, clock } = world;
    const id = await world.submit({ input: { prompt: 'x' } });
    await clock.advance(10_000);
    const { epoch } = await world.execution(id);
    const parts = store.executionParts.bind(store);
    store.executionParts = async (ids) => {
      store.executionParts = parts;
      // Frozen here: the attempts were read before the other bought, the record after.
      await store.commit([{ type: 'claim-execution', id, owner: 'somebody', expectedEpoch: epoch + 1 }]);
      return (await parts(ids)).map((each) => ({ ...each, nodes: [], attempts: [] }));
    };
    await world.restart();
    await clock.advance(60_000);
    expect((await world.execution(id)).epoch).toBe(epoch + 2);
    expect(world.acme.arrivals).toHaveLength(1);

    isOtherGone = true;
    expect((await world.settle(id)).status).toBe('succeeded');
    expect(world.acme.arrivals).toHaveLength(1);
  });

  it('a held execution stays held, and is told once', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'lose' }) });
    const id = await world.draw();
    await world.restart();
    await world.clock.advance(60_000);
    expect((await world.execution(id)).status).toBe('held');
    expect((await world.outbox()).filter((entry) => entry.message.kind === 'held')).toHaveLength(1);
    expect((await world.types(id)).filter((type) => type === 'execution-held')).toHaveLength(1);
  });

  it('P139 an execution whose driver is lost is taken up by the sweep', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'accept', durationMs: 60_000 }) });
    const id = await world.submit({ input: { prompt: 'x' } });
    await world.clock.advance(2_000);
    const record = await world.execution(id);
    await world.store.commit([{ type: 'claim-execution', id, owner: 'somebody', expectedEpoch: record.epoch }]);
    await world.settle(id);
    expect((await world.execution(id)).status).toBe('succeeded');
    expect(world.acme.arrivals).toHaveLength(1);
  });
});

describe('P059 the handle cannot be stored', () => {
  it('is tried again in memory until the disk takes it', async () => {
    const world = await pictureWorld();
    let refusals = 5;
    const { store } = world;
    const commit = store.commit.bind(store);
    store.commit = (commands) => {
      const isHandle = commands.some(
        (command) => command.type === 'put-attempt' && command.record.state === 'accepted',
      );
      if (isHandle && refusals > 0) {
        refusals -= 1;
        return Promise.reject(new StorageError('database or disk is full'));
      }
      return commit(commands);
    };
    const id = await world.draw();
    expect((await world.execution(id)).status).toBe('succeeded');
    expect(world.acme.arrivals).toHaveLength(1);
  });

  it('goes to the side file, and is found there after a restart', async () => {
    const world = await pictureWorld();
    let isFull = true;
    const { store } = world;
    const commit = store.commit.bind(store);
    store.commit = (commands) => {
      const isHandle = commands.some(
        (command) => command.type === 'put-attempt' && command.record.state === 'accepted',
      );
      return isHandle && isFull ? Promise.reject(new StorageError('full')) : commit(commands);
    };
    const id = await world.submit({ input: { prompt: 'x' } });
    await world.clock.advance(5_000);
    expect(world.deps.sideFile.readAll()).toHaveLength(1);
    isFull = false;
    await world.restart();
    expect((await world.settle(id)).status).toBe('succeeded');
    expect(world.acme.arrivals).toHaveLength(1);
    expect(world.deps.sideFile.readAll()).toHaveLength(0);
  });
});

describe('stopping', () => {
  it('drains: an unanswered submit is awaited and its handle stored', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'accept', submitMs: 3_000, durationMs: 30_000 }) });
    const id = await world.submit({ input: { prompt: 'x' } });
    await world.clock.advance(1_000);
    const stopping = world.engine.stop(20_000);
    await world.clock.advance(10_000);
    await stopping;
    expect((await world.attempts(id))[0]?.state).toBe('accepted');
    await world.restart();
    expect((await world.settle(id)).status).toBe('succeeded');
    expect(world.acme.arrivals).toHaveLength(1);
  });

  it('gives up after the drain: the next start finds the intent in doubt', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'hang' }) });
    const id = await world.submit({ input: { prompt: 'x' } });
    await world.clock.advance(1_000);
    const stopping = world.engine.stop(5_000);
    await world.clock.advance(10_000);
    await stopping;
    expect((await world.attempts(id))[0]?.state).toBe('intended');
    await world.restart();
    expect((await world.settle(id)).status).toBe('held');
  });
});

it('an intent that was written while the worker stopped, and not sent, is bought by the next: nobody canceled it', async () => {
  const world = await pictureWorld({ start: false });
  const commit = world.store.commit.bind(world.store);
  let release: (() => void) | undefined;
  world.store.commit = async (commands) => {
    if (release === undefined && commands.some(({ type }) => type === 'create-attempt')) {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    }
    await commit(commands);
  };
  await world.restart();
  const id = await world.submit({ input: { prompt: 'x' } });
  await world.clock.advance(100);
  const stopped = world.engine.stop(0);
  await world.clock.advance(100);
  release?.();
  await running(world.clock, stopped);
  expect(world.acme.arrivals).toHaveLength(0);
  await world.restart();
  expect((await world.settle(id)).status).toBe('succeeded');
  expect(world.acme.arrivals).toHaveLength(1);
});
