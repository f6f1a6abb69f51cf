import { describe, expect, it } from 'vitest';
import type { Collector } from '../../src/engine/ports/index.ts';
import { StorageError } from '../../src/engine/ports/index.ts';
import { pictureWorld } from './support/picture-world.ts';
import { instantCollector } from './support/world.ts';

describe('a result that cannot be moved', () => {
  it('fails as a transfer; the next 提交 only moves it, and buys nothing', async () => {
    let isBroken = true;
    const collector: Collector = {
      collect: (remote, name, signal) =>
        isBroken
          ? Promise.resolve({
              ok: false,
              failure: { kind: 'transfer', code: 'html', message: 'a web page, not a picture' },
            })
          : instantCollector.collect(remote, name, signal),
    };
    const world = await pictureWorld({ deps: { collector } });
    const first = await world.draw('x', { sourceRef: 'row' });
    expect((await world.execution(first)).failure?.kind).toBe('transfer');
    expect(await world.cny(first)).toBe(100_000);
    isBroken = false;
    const second = await world.draw('x', { sourceRef: 'row' });
    expect((await world.execution(second)).status).toBe('succeeded');
    expect(world.acme.arrivals).toHaveLength(1);
    expect(await world.cny(second)).toBe(0);
  });

  it('that the vendor has thrown away: says so, and only the 提交 after that buys again', async () => {
    let kind: 'transfer' | 'expired' | 'none' = 'transfer';
    const collector: Collector = {
      collect: (remote, name, signal) =>
        kind === 'none'
          ? instantCollector.collect(remote, name, signal)
          : Promise.resolve({ ok: false, failure: { kind, code: 'x', message: 'x' } }),
    };
    const world = await pictureWorld({ deps: { collector } });
    await world.draw('x', { sourceRef: 'row' });
    kind = 'expired';
    const second = await world.draw('x', { sourceRef: 'row' });
    expect((await world.execution(second)).failure?.kind).toBe('expired');
    expect(world.acme.arrivals).toHaveLength(1);
    kind = 'none';
    const third = await world.draw('x', { sourceRef: 'row' });
    expect((await world.execution(third)).status).toBe('succeeded');
    expect(world.acme.arrivals).toHaveLength(2);
  });
});

describe('what came late', () => {
  it('after a cancel is kept: the next 提交 of the same uses it without paying', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'accept', durationMs: 300_000 }) });
    const first = await world.submit({ input: { prompt: 'x' }, sourceRef: 'row' });
    await world.clock.advance(5_000);
    void world.engine.cancel(first, 'x');
    await world.settle(first);
    await world.clock.advance(900_000);
    const second = await world.draw('x', { sourceRef: 'row' });
    expect((await world.execution(second)).status).toBe('succeeded');
    expect(world.acme.arrivals).toHaveLength(1);
  });

  it('between two tries of the next execution is used by its second try, and nothing is bought again', async () => {
    const world = await pictureWorld({
      script: ({ count }) =>
        count === 1
          ? { submit: 'accept', durationMs: 900_000 }
          : {
              submit: 'refuse',
              failure: { kind: 'rate-limit', code: '429', message: 'slow down', retryAfterMs: 600_000 },
            },
    });
    const first = await world.draw('x', { sourceRef: 'row' });
    expect((await world.execution(first)).status).toBe('held');
    void world.engine.cancel(first, 'submitted again');
    await world.clock.advance(1_000);
    const second = await world.submit({ input: { prompt: 'x' }, sourceRef: 'row' });
    await world.settle(second);
    expect((await world.execution(second)).status).toBe('succeeded');
    expect((await world.attempts(second)).map((attempt) => attempt.state)).toEqual(['refused']);
    expect(world.acme.tasks).toHaveLength(1);
    expect(await world.types(second)).toContain('node-reused');
  });

  it('is told once, also when the program was killed between its settlement and the telling', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'accept', durationMs: 60_000 }) });
    const id = await world.submit({ input: { prompt: 'x' }, sourceRef: 'row' });
    await world.clock.advance(5_000);
    void world.engine.cancel(id, 'x');
    await world.settle(id);
    const commit = world.store.commit.bind(world.store);
    world.store.commit = (commands) =>
      commands.some((command) => command.type === 'append-outbox')
        ? Promise.reject(new StorageError('full'))
        : commit(commands);
    await world.clock.advance(120_000);
    expect((await world.attempts(id))[0]?.state).toBe('succeeded');
    world.store.commit = commit;
    await world.restart();
    await world.clock.advance(10_000);
    await world.restart();
    await world.clock.advance(10_000);
    expect((await world.outbox()).filter((entry) => entry.message.kind === 'late-result')).toHaveLength(1);
  });
});

describe('remembering', () => {
  it('P052 two rows with the same words are two purchases; one row with the same words is one', async () => {
    const world = await pictureWorld();
    await world.draw('x', { sourceRef: 'row1' });
    await world.draw('x', { sourceRef: 'row2' });
    await world.draw('x', { sourceRef: 'row1' });
    expect(world.acme.arrivals).toHaveLength(2);
  });

  it('P089 another generation is a new purchase, with a new key', async () => {
    const world = await pictureWorld();
    await world.draw('x', { sourceRef: 'row', generation: 1 });
    await world.draw('x', { sourceRef: 'row', generation: 2 });
    expect(new Set(world.acme.arrivals).size).toBe(2);
  });

  it('P062 the key of a purchase is its execution, node and attempt, over a restart too', async () => {
    const world = await pictureWorld({
      script: () => ({ submit: 'accept', submitMs: 8_000 }),
      acme: { canFind: true },
    });
    const id = await world.submit({ input: { prompt: 'x' } });
    await world.clock.advance(2_000);
    await world.restart();
    await world.settle(id);
    expect((await world.execution(id)).status).toBe('succeeded');
    expect(world.acme.arrivals).toEqual([`${id}:draw:1`]);
  });

  it('P064 an unrelated wake-up starts nothing a second time', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'accept', durationMs: 100_000 }) });
    const id = await world.submit({ input: { prompt: 'x' } });
    for (let turn = 0; turn < 5; turn += 1) {
      await world.clock.advance(6_000);
      await world.engine.start();
    }
    await world.settle(id);
    expect(world.acme.arrivals).toHaveLength(1);
  });
});

describe('a skill whose results are reused always', () => {
  const generation = (number: number): { sourceRef: string; generation: number } => ({
    sourceRef: 'row',
    generation: number,
  });

  it('is not bought again by the next generation while its inputs are the same', async () => {
    const world = await pictureWorld({ skill: { reuse: 'always' } });
    await world.draw('x', generation(1));
    const second = await world.draw('x', generation(2));
    expect(world.acme.arrivals).toHaveLength(1);
    expect(await world.types(second)).toContain('node-reused');
    await world.draw('y', generation(3));
    expect(world.acme.arrivals).toHaveLength(2);
    await world.draw('x', { ...generation(4), sourceRef: 'another row' });
    expect(world.acme.arrivals).toHaveLength(3);
  });

  it('by default every generation buys its own', async () => {
    const world = await pictureWorld();
    await world.draw('x', generation(1));
    await world.draw('x', generation(2));
    expect(world.acme.arrivals).toHaveLength(2);
  });

  it('never passes on a degraded result', async () => {
    let isDown = true;
    const world = await pictureWorld({
      skill: { reuse: 'always', retry: { attempts: 1 }, degrade: { output: { images: [] }, note: 'down' } },
      script: () => (isDown ? { submit: 'refuse' } : { submit: 'accept' }),
    });
    const first = await world.draw('x', generation(1));
    expect((await world.execution(first)).marks.map((mark) => mark.kind)).toContain('degraded');
    isDown = false;
    const second = await world.draw('x', generation(1));
    expect((await world.execution(second)).marks).not.toContainEqual(expect.objectContaining({ kind: 'degraded' }));
    expect(world.acme.arrivals).toHaveLength(2);
  });
});
