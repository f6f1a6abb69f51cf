import { describe, expect, it } from 'vitest';
import { running } from './support/world.ts';
import { pictureWorld } from './support/picture-world.ts';

describe('a lost answer', () => {
  it('P054 holds the row where the vendor cannot be asked, and buys nothing more', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'lose' }) });
    const id = await world.draw();
    await world.clock.advance(3_600_000);
    expect((await world.execution(id)).status).toBe('held');
    expect(world.acme.arrivals).toHaveLength(1);
    const held = (await world.outbox()).map((entry) => entry.message);
    expect(held).toMatchObject([
      {
        kind: 'held',
        failure: { kind: 'unknown-outcome' },
        failedNode: 'draw',
        atRisk: { currency: 'CNY', micros: 100_000 },
      },
    ]);
    expect(await world.types(id)).toEqual(expect.arrayContaining(['attempt-unknown', 'node-held', 'execution-held']));
  });

  it('goes on with the task that the vendor finds by its key', async () => {
    const world = await pictureWorld({
      script: () => ({ submit: 'lose', durationMs: 60_000 }),
      acme: { canFind: true },
    });
    const id = await world.draw();
    expect((await world.execution(id)).status).toBe('succeeded');
    expect(world.acme.arrivals).toHaveLength(1);
    expect(await world.types(id)).toContain('attempt-found');
  });

  it('counts "not there" only after the submit timeout plus 90 s and three misses, then buys again', async () => {
    const world = await pictureWorld({
      script: ({ count }) => (count === 1 ? { submit: 'drop' } : { submit: 'accept' }),
      acme: { canFind: true },
    });
    const startMs = world.clock.nowMs();
    const id = await world.draw();
    expect((await world.execution(id)).status).toBe('succeeded');
    expect(world.acme.tasks).toHaveLength(1);
    expect((world.acme.tasks[0]?.acceptedAt ?? 0) - startMs).toBeGreaterThanOrEqual(270_000);
    expect((await world.attempts(id)).map((attempt) => attempt.state)).toEqual(['not-accepted', 'succeeded']);
    expect(await world.cny(id)).toBe(world.acme.bill());
  });

  it('watches for 90 s before "not there" counts, also when the clock is set ahead meanwhile', async () => {
    const world = await pictureWorld({
      script: ({ count }) => (count === 1 ? { submit: 'drop' } : { submit: 'accept' }),
      acme: { canFind: true },
    });
    const id = await world.submit({ input: { prompt: 'a cat' } });
    await world.clock.advance(1_000);
    world.clock.jumpWall(300_000);
    await world.clock.advance(85_000);
    expect((await world.attempts(id)).map((attempt) => attempt.state)).toEqual(['unknown']);
    await world.settle(id);
    expect((await world.attempts(id)).map((attempt) => attempt.state)).toEqual(['not-accepted', 'succeeded']);
  });

  it('is bought again at once where the operator wrote `retry`, and the ledger keeps both', async () => {
    const world = await pictureWorld({
      script: ({ count }) => ({ submit: count === 1 ? 'lose' : 'accept' }),
      settings: (settings) => ({ unknown_outcome: { ...settings.unknown_outcome, image: 'retry' } }),
    });
    const id = await world.draw();
    expect((await world.execution(id)).status).toBe('succeeded');
    expect(await world.store.charges({ executionId: id })).toMatchObject([
      { state: 'settled', source: 'unknown', cnyMicros: 100_000 },
      { state: 'settled', source: 'vendor', cnyMicros: 100_000 },
    ]);
  });

  it('an adapter that never answers is given up on, and counts as lost', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'hang' }) });
    const id = await world.draw();
    expect((await world.execution(id)).status).toBe('held');
    expect(world.acme.arrivals).toHaveLength(1);
  });
});

describe('a person’s word', () => {
  it('accepted: takes the task up under the given id', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'lose', durationMs: 1_000 }) });
    const id = await world.draw();
    const [attempt] = await world.attempts(id);
    const resolved = await running(
      world.clock,
      world.engine.resolve(attempt!.id, { kind: 'accepted', taskId: 'acme-1' }),
    );
    expect(resolved.ok).toBe(true);
    const done = await world.settle(id);
    await world.clock.advance(60_000);
    expect((await world.execution(id)).status).toBe('succeeded');
    expect(world.acme.arrivals).toHaveLength(1);
    expect(done.status).not.toBe('failed');
    expect(await world.types(id)).toEqual(expect.arrayContaining(['attempt-resolved', 'execution-resumed']));
  });

  it('not accepted: frees the node to buy again', async () => {
    const world = await pictureWorld({ script: ({ count }) => ({ submit: count === 1 ? 'drop' : 'accept' }) });
    const id = await world.draw();
    const [attempt] = await world.attempts(id);
    await running(world.clock, world.engine.resolve(attempt!.id, { kind: 'not-accepted', endExecution: false }));
    await world.clock.advance(120_000);
    expect((await world.execution(id)).status).toBe('succeeded');
    expect(world.acme.arrivals).toHaveLength(2);
    expect(await world.cny(id)).toBe(world.acme.bill());
  });

  it('not accepted, and the execution is to end: it fails, nothing is bought', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'drop' }) });
    const id = await world.draw();
    const [attempt] = await world.attempts(id);
    await running(world.clock, world.engine.resolve(attempt!.id, { kind: 'not-accepted', endExecution: true }));
    await world.clock.advance(120_000);
    expect((await world.execution(id)).status).toBe('failed');
    expect(world.acme.arrivals).toHaveLength(1);
    expect(await world.cny(id)).toBe(0);
  });

  it('is refused for a call that is not in doubt', async () => {
    const world = await pictureWorld();
    const id = await world.draw();
    const [attempt] = await world.attempts(id);
    const resolved = await running(
      world.clock,
      world.engine.resolve(attempt!.id, { kind: 'not-accepted', endExecution: false }),
    );
    expect(resolved).toMatchObject({ ok: false, failure: { code: 'not-in-doubt' } });
  });
});

describe('waiting for a task', () => {
  it('P081 believes what the last look at the deadline says', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'accept', durationMs: 599_000 }) });
    const id = await world.draw();
    expect((await world.execution(id)).status).toBe('succeeded');
    expect(await world.types(id)).not.toContain('attempt-overdue');
  });

  it('holds an overdue task, goes on asking, and fills the result in when it comes', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'accept', durationMs: 3_000_000 }) });
    const id = await world.draw();
    expect((await world.execution(id)).status).toBe('held');
    await world.clock.advance(3_600_000);
    const done = await world.execution(id);
    expect(done.status).toBe('succeeded');
    expect(done.marks).toMatchObject([{ kind: 'late' }]);
    expect(world.acme.arrivals).toHaveLength(1);
    expect(await world.cny(id)).toBe(world.acme.bill());
  });

  it('P082 ledger, attempt, node and execution agree while it is overdue', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'accept', result: 'never' }) });
    const id = await world.draw();
    const [attempt] = await world.attempts(id);
    const [node] = await world.store.nodes(id);
    expect([attempt?.state, node?.status, (await world.execution(id)).status]).toEqual(['overdue', 'held', 'held']);
    expect(await world.store.charges({ executionId: id })).toMatchObject([{ state: 'reserved' }]);
  });

  it('buys again after the deadline where the operator wrote `retry`; the late result is booked and told', async () => {
    const world = await pictureWorld({
      script: ({ count }) => ({ submit: 'accept', durationMs: count === 1 ? 1_500_000 : 10_000 }),
      settings: () => ({ overdue: { image: 'retry', video: 'hold' } }),
    });
    const id = await world.draw();
    expect((await world.execution(id)).status).toBe('succeeded');
    await world.clock.advance(3_600_000);
    expect(world.acme.arrivals).toHaveLength(2);
    expect(await world.cny(id)).toBe(world.acme.bill());
    expect((await world.outbox()).map((entry) => entry.message.kind)).toEqual(['ended', 'late-result']);
  });

  it('P067 an unheard-of status word is told once and waited through', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'accept', durationMs: 60_000, result: 'weird' }) });
    const id = await world.draw();
    expect((await world.execution(id)).status).toBe('succeeded');
    expect((await world.types(id)).filter((type) => type === 'status-unrecognised')).toHaveLength(1);
  });

  it('keeps the paid task when status checks answer 503', async () => {
    const world = await pictureWorld({
      script: () => ({ submit: 'accept', durationMs: 60_000, checkFailRatio: 0.7 }),
      acme: {
        random: {
          next: (() => {
            let n = 0;
            return () => (n++ % 3 === 0 ? 0.9 : 0.1);
          })(),
        },
      },
    });
    const id = await world.draw();
    expect((await world.execution(id)).status).toBe('succeeded');
    expect(world.acme.arrivals).toHaveLength(1);
  });

  it('P069 an expired task ends within one look, without buying again', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'accept', durationMs: 1_000, result: 'expire' }) });
    const id = await world.draw();
    expect((await world.execution(id)).failure?.kind).toBe('expired');
    expect(world.acme.polls).toHaveLength(1);
    expect(world.acme.arrivals).toHaveLength(1);
  });

  it('P074 an id that the vendor does not know is lost, not done', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'accept', durationMs: 1_000, result: 'forget' }) });
    const id = await world.draw();
    expect(await world.execution(id)).toMatchObject({
      status: 'failed',
      failure: { kind: 'expired', code: 'task-not-found' },
    });
  });

  it('a wall clock that jumps makes nothing overdue', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'accept', durationMs: 86_400_000 + 120_000 }) });
    const id = await world.submit({ input: { prompt: 'x' } });
    await world.clock.advance(10_000);
    world.clock.jumpWall(86_400_000);
    await world.clock.advance(60_000);
    expect(await world.types(id)).not.toContain('attempt-overdue');
    await world.clock.advance(120_000);
    expect((await world.execution(id)).status).toBe('succeeded');
  });
});
