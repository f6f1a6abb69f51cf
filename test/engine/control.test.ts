import { describe, expect, it } from 'vitest';
import type { Failure } from '../../src/contract/index.ts';
import { createDayStart } from '../../src/engine/policy/budget.ts';
import { pictureWorld, twoCandidates } from './support/picture-world.ts';
import { provider } from './support/definitions.ts';
import { running } from './support/world.ts';

describe('cancel', () => {
  it('reaches the vendor where it can, and books what was said', async () => {
    const world = await pictureWorld({
      script: () => ({ submit: 'accept', durationMs: 300_000 }),
      acme: { canCancel: true },
    });
    const id = await world.submit({ input: { prompt: 'x' } });
    await world.clock.advance(5_000);
    await running(world.clock, world.engine.cancel(id, '员工取消'));
    expect((await world.settle(id)).status).toBe('canceled');
    expect(world.acme.cancels).toEqual(['acme-1']);
    expect((await world.attempts(id))[0]?.state).toBe('canceled');
    expect(await world.cny(id)).toBe(0);
    expect((await world.outbox()).map((entry) => entry.message)).toMatchObject([{ kind: 'ended', status: 'canceled' }]);
  });

  it('where it cannot: ends at once, books the bill when it comes, keeps the result', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'accept', durationMs: 300_000, costMicros: 70_000 }) });
    const id = await world.submit({ input: { prompt: 'x' } });
    await world.clock.advance(5_000);
    await running(world.clock, world.engine.cancel(id, 'x'));
    expect((await world.settle(id)).status).toBe('canceled');
    await world.clock.advance(600_000);
    expect(await world.cny(id)).toBe(70_000);
    expect((await world.outbox()).map((entry) => entry.message)).toMatchObject([
      { kind: 'ended' },
      { kind: 'late-result', output: { images: [{ kind: 'artifact' }] } },
    ]);
  });

  it('waits for an unanswered submit and cancels what it gave', async () => {
    const world = await pictureWorld({
      script: () => ({ submit: 'accept', submitMs: 5_000, durationMs: 300_000 }),
      acme: { canCancel: true },
    });
    const id = await world.submit({ input: { prompt: 'x' } });
    await world.clock.advance(1_000);
    await running(world.clock, world.engine.cancel(id, 'x'));
    expect((await world.settle(id)).status).toBe('canceled');
    expect(world.acme.cancels).toEqual(['acme-1']);
  });

  it('P061 before anything was bought touches nothing at the vendor and costs nothing', async () => {
    const world = await pictureWorld();
    await running(world.clock, world.engine.pause());
    const id = await world.submit({ input: { prompt: 'x' } });
    await world.clock.advance(5_000);
    await running(world.clock, world.engine.cancel(id, 'x'));
    expect((await world.settle(id)).status).toBe('canceled');
    await running(world.clock, world.engine.resume());
    await world.clock.advance(60_000);
    expect([world.acme.arrivals.length, world.acme.cancels.length, await world.cny(id)]).toEqual([0, 0, 0]);
  });

  it('survives a kill between the wish and its end', async () => {
    const world = await pictureWorld({
      script: () => ({ submit: 'accept', durationMs: 300_000 }),
      acme: { canCancel: true },
    });
    const id = await world.submit({ input: { prompt: 'x' } });
    await world.clock.advance(5_000);
    const record = await world.execution(id);
    await world.store.commit([
      { type: 'put-execution', record: { ...record, cancelRequestedAt: world.clock.nowMs() } },
    ]);
    await world.restart();
    expect((await world.settle(id)).status).toBe('canceled');
    expect(world.acme.cancels).toHaveLength(1);
  });

  it('of an ended execution is no fault', async () => {
    const world = await pictureWorld();
    const id = await world.draw();
    await running(world.clock, world.engine.cancel(id, 'x'));
    expect((await world.execution(id)).status).toBe('succeeded');
  });
});

describe('pause', () => {
  it('stops new paid calls, collects what is in flight, and outlives a restart', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'accept', durationMs: 30_000 }) });
    const first = await world.submit({ input: { prompt: 'x' } });
    await world.clock.advance(2_000);
    await running(world.clock, world.engine.pause());
    const second = await world.submit({ input: { prompt: 'y' } });
    expect((await world.settle(first)).status).toBe('succeeded');
    await world.restart();
    await world.clock.advance(60_000);
    expect(world.engine.isPaused()).toBe(true);
    expect(world.acme.arrivals).toHaveLength(1);
    expect(world.engine.activity().waiting).toMatchObject([
      { executionId: second, node: 'draw', reason: '已暂停接新任务' },
    ]);
    await running(world.clock, world.engine.resume());
    expect((await world.settle(second)).status).toBe('succeeded');
  });
});

describe('a provider that is in trouble', () => {
  const balance: Failure = { kind: 'balance', code: '402', message: 'no credit left' };

  it('P111 is paused after the first "no credit": others wait, one probe at a time, and go on when it is back', async () => {
    let isEmpty = true;
    const world = await pictureWorld({
      script: () => (isEmpty ? { submit: 'refuse', failure: balance } : { submit: 'accept' }),
    });
    const first = await world.draw('0');
    expect((await world.execution(first)).failure?.kind).toBe('balance');
    const others = [];
    for (let row = 1; row <= 20; row += 1) others.push(await world.submit({ input: { prompt: `${row}` } }));
    await world.clock.advance(290_000);
    expect(world.acme.arrivals).toHaveLength(1);
    isEmpty = false;
    await world.clock.advance(600_000);
    for (const id of others) expect((await world.execution(id)).status).toBe('succeeded');
    const all = await world.store.events(0, 10_000);
    expect(all.filter((event) => event.type === 'provider-paused')).toHaveLength(1);
    expect(all.filter((event) => event.type === 'provider-resumed')).toHaveLength(1);
  });

  it('P111 the next candidate is used at once while the first is paused', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'refuse', failure: balance }), skill: twoCandidates });
    await world.draw('0');
    const id = await world.draw('1');
    expect((await world.execution(id)).status).toBe('succeeded');
    expect([world.acme.arrivals.length, world.backup.arrivals.length]).toEqual([1, 2]);
  });

  it('is paused after five failures in a row, and probed again', async () => {
    const world = await pictureWorld({
      script: ({ count }) =>
        count <= 5
          ? { submit: 'refuse', failure: { kind: 'overload', code: '503', message: 'x' } }
          : { submit: 'accept' },
    });
    const ids = [];
    for (let row = 0; row < 4; row += 1) ids.push(await world.submit({ input: { prompt: `${row}` } }));
    await world.clock.advance(30_000);
    expect(world.acme.arrivals.length).toBeLessThanOrEqual(6);
    await world.clock.advance(300_000);
    for (const id of ids) expect((await world.execution(id)).status).toBe('succeeded');
  });
});

describe('room', () => {
  it('a provider takes no more tasks at a time than its concurrency; the rest waits in order', async () => {
    const world = await pictureWorld({
      script: () => ({ submit: 'accept', durationMs: 20_000 }),
      providers: { acme: provider('acme', { concurrency: 2 }) },
    });
    const ids = [];
    for (let row = 0; row < 6; row += 1) ids.push(await world.submit({ input: { prompt: `${row}` } }));
    await world.clock.advance(5_000);
    expect(world.acme.tasks).toHaveLength(2);
    expect(world.engine.activity().waiting).toHaveLength(4);
    await world.clock.advance(200_000);
    for (const id of ids) expect((await world.execution(id)).status).toBe('succeeded');
    expect(world.acme.arrivals).toHaveLength(6);
  });

  it('a provider is sent no more submits than its rate', async () => {
    const world = await pictureWorld({ providers: { acme: provider('acme', { rate: '3/10s' }) } });
    for (let row = 0; row < 7; row += 1) await world.submit({ input: { prompt: `${row}` } });
    await world.clock.advance(5_000);
    expect(world.acme.tasks).toHaveLength(3);
    await world.clock.advance(10_000);
    expect(world.acme.tasks).toHaveLength(6);
    await world.clock.advance(10_000);
    expect(world.acme.tasks).toHaveLength(7);
  });

  it('waiting for a vendor takes no room of the agent', async () => {
    const world = await pictureWorld({
      script: () => ({ submit: 'accept', durationMs: 60_000 }),
      settings: (settings) => ({ limits: { ...settings.limits, concurrency: { 'try-on': 1 } } }),
    });
    for (let row = 0; row < 3; row += 1)
      await world.submit({ input: { prompt: `${row}` }, labels: { agent: 'try-on' } });
    await world.clock.advance(5_000);
    expect(world.acme.tasks).toHaveLength(3);
  });
});

describe('budgets', () => {
  it('warns at four fifths, stops new paid calls at the limit, and goes on the next day: never a failure', async () => {
    const world = await pictureWorld({
      settings: (settings) => ({ limits: { ...settings.limits, daily_cost: { 'try-on': '0.45' } } }),
    });
    const labels = { agent: 'try-on', submitter: 'ou_1' };
    for (let row = 0; row < 4; row += 1) await world.draw(`${row}`, { labels });
    const fifth = await world.submit({ input: { prompt: '5' }, labels });
    await world.clock.advance(3_600_000);
    expect(world.acme.arrivals).toHaveLength(4);
    expect((await world.execution(fifth)).status).toBe('running');
    expect(world.engine.activity().waiting).toMatchObject([{ reason: '已达预算上限' }]);
    const types = (await world.store.events(0, 10_000)).map((event) => event.type);
    expect(types.filter((type) => type === 'budget-warning')).toHaveLength(1);
    expect(types.filter((type) => type === 'budget-reached')).toHaveLength(1);
    await world.clock.advance(24 * 3_600_000);
    expect((await world.execution(fifth)).status).toBe('succeeded');
  });

  it('told of once a day of the team’s own time zone', async () => {
    const world = await pictureWorld({
      settings: (settings) => ({ limits: { ...settings.limits, daily_cost: { 'try-on': '0.11' } } }),
    });
    const labels = { agent: 'try-on' };
    const midnight = createDayStart('Asia/Shanghai')(world.clock.nowMs()) + 86_400_000;
    const at = async (hour: number): Promise<void> => {
      await world.clock.advance(midnight + hour * 3_600_000 - world.clock.nowMs());
    };
    const reached = async (): Promise<number> =>
      (await world.store.events(0, 10_000, { types: ['budget-reached'] })).length;
    await at(20);
    await world.draw('a', { labels });
    for (const row of ['b', 'c', 'd']) await world.submit({ input: { prompt: row }, labels });
    await world.clock.advance(600_000);
    expect(await reached()).toBe(1);
    // The next day's money is spent at once; in Greenwich it is the same day still.
    await at(27);
    expect(world.acme.arrivals).toHaveLength(2);
    expect(await reached()).toBe(2);
    await at(34);
    expect(await reached()).toBe(2);
  });

  it('a row has a limit of its own, over all its stages and generations', async () => {
    const world = await pictureWorld({
      settings: (settings) => ({ limits: { ...settings.limits, row_cost: { 'try-on': 0.15 } } }),
    });
    const labels = { agent: 'try-on' };
    await world.draw('a', { labels, sourceRef: 'bitable:b/t/r1#one' });
    const second = await world.submit({
      labels,
      input: { prompt: 'b' },
      sourceRef: 'bitable:b/t/r1#two',
      generation: 2,
    });
    const other = await world.draw('c', { labels, sourceRef: 'bitable:b/t/r10#one' });
    await world.clock.advance(60_000);
    expect((await world.execution(second)).status).toBe('running');
    expect((await world.execution(other)).status).toBe('succeeded');
  });
});

it('writes no intent below the free space that the settings ask for', async () => {
  let free = 100 * 1024 ** 2;
  const world = await pictureWorld({ deps: { freeBytes: () => Promise.resolve(free) } });
  const id = await world.submit({ input: { prompt: 'x' } });
  await world.clock.advance(120_000);
  expect(world.acme.arrivals).toHaveLength(0);
  free = 10 ** 12;
  expect((await world.settle(id)).status).toBe('succeeded');
});
