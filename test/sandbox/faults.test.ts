import { describe, expect, it } from 'vitest';
import { TransportError } from '../../src/kernel/index.ts';
import { type Answer, openWorld, origin } from './world.ts';
import { createKie, key, lookKie, slow } from './kie-calls.ts';

describe('faults of the sandbox', () => {
  it('breaks the connection before or after the work, and says which', async () => {
    const world = await openWorld();
    world.sandbox.faults.add({ endpoint: 'kie.createTask', action: { kind: 'refuse' } });
    await expect(createKie(world)).rejects.toMatchObject({ phase: 'not-sent' });
    world.sandbox.faults.add({ endpoint: 'kie.createTask', action: { kind: 'drop-before' } });
    await expect(createKie(world)).rejects.toThrow(TransportError);
    expect(world.sandbox.books.acceptedTasks()).toHaveLength(0);
    world.sandbox.faults.add({ endpoint: 'kie.*', action: { kind: 'drop-after' } });
    await expect(createKie(world)).rejects.toMatchObject({ phase: 'maybe-sent' });
    expect(world.sandbox.books.acceptedTasks()).toHaveLength(1);
    expect((await createKie(world)).at('code')).toBe(200);
  });

  it('answers an error after having done the work, or instead of it', async () => {
    const world = await openWorld();
    const rule = { endpoint: 'kie.createTask', bodyIncludes: 'wearing' } as const;
    world.sandbox.faults.add({ ...rule, action: { kind: 'answer', status: 503, body: 'busy' } });
    expect((await createKie(world)).status).toBe(503);
    expect(world.sandbox.books.acceptedTasks()).toHaveLength(0);
    world.sandbox.faults.add({ ...rule, action: { kind: 'answer-after', status: 502, body: {} } });
    expect((await createKie(world)).status).toBe(502);
    expect(world.sandbox.books.acceptedTasks()).toHaveLength(1);
  });

  it('hangs until the client gives up, and the work is done all the same', async () => {
    const world = await openWorld();
    world.sandbox.faults.add({ endpoint: 'kie.createTask', action: { kind: 'hang-after' } });
    const controller = new AbortController();
    const body = JSON.stringify({ model: 'google/nano-banana', input: { prompt: 'x' } });
    const call = world.fetch(`${origin}/kie/api/v1/jobs/createTask`, {
      method: 'POST',
      headers: key,
      body,
      signal: controller.signal,
    });
    const outcome = expect(call).rejects.toThrow('gave up');
    await world.clock.advance(180_000);
    controller.abort(new Error('gave up'));
    await outcome;
    expect(world.sandbox.books.acceptedTasks()).toHaveLength(1);
  });

  it('repeats the last answer, does the work twice, and cuts a body short', async () => {
    const world = await openWorld();
    world.sandbox.faults.add({ endpoint: 'kie.createTask', action: { kind: 'repeat-last' }, skip: 1 });
    const first = await createKie(world);
    expect((await createKie(world)).at('data.taskId')).toBe(first.at('data.taskId'));
    world.sandbox.faults.clear();
    world.sandbox.faults.add({ endpoint: 'kie.createTask', action: { kind: 'twice' } });
    await createKie(world);
    expect(world.sandbox.books.acceptedTasks()).toHaveLength(4);
    world.sandbox.faults.add({ endpoint: 'kie.credit', action: { kind: 'cut', afterBytes: 5 } });
    await expect(world.call('GET', '/kie/api/v1/chat/credit', undefined, key)).rejects.toThrow();
  });

  it('gives the first answer once more after newer ones, and an answer twice in one body', async () => {
    const world = await openWorld();
    const { faults } = world.sandbox;
    faults.add({ endpoint: 'kie.createTask', action: { kind: 'fate', fate: { durationMs: 60_000 } } });
    const submit = await createKie(world);
    const path = `/kie/api/v1/jobs/recordInfo?taskId=${String(submit.at('data.taskId'))}`;
    const look = async () => await world.call('GET', path, undefined, key);
    faults.add({ endpoint: 'kie.recordInfo', action: { kind: 'repeat-first' }, skip: 2 });
    expect((await look()).at('data.state')).not.toBe('success');
    await world.clock.advance(600_000);
    expect((await look()).at('data.state')).toBe('success');
    expect((await look()).at('data.state')).not.toBe('success');
    faults.clear();
    faults.add({ endpoint: 'kie.createTask', action: { kind: 'double' } });
    const before = world.sandbox.books.acceptedTasks().length;
    const doubled = await world.sandbox.fetch(
      new Request(`${world.sandbox.baseUrl()}/kie/api/v1/jobs/createTask`, {
        method: 'POST',
        headers: key,
        body: JSON.stringify({ model: 'google/nano-banana', input: { prompt: 'x' } }),
      }),
    );
    const text = await doubled.text();
    expect(text.slice(0, text.length / 2)).toBe(text.slice(text.length / 2));
    expect(world.sandbox.books.acceptedTasks().length - before).toBe(1);
  });

  it('strikes as often as it was told, by chance where a chance was given', async () => {
    const world = await openWorld();
    const rule = world.sandbox.faults.add({
      endpoint: 'kie.credit',
      action: { kind: 'answer', status: 500 },
      count: Infinity,
      probability: 0.5,
    });
    for (let index = 0; index < 200; index += 1) await world.call('GET', '/kie/api/v1/chat/credit', undefined, key);
    expect(rule.hits()).toBeGreaterThan(60);
    expect(rule.hits()).toBeLessThan(140);
  });
});

describe('the world as a whole', () => {
  it('survives a restart: rows, files, tasks and bills come back from its snapshot', async () => {
    const world = await openWorld({ latencies: slow });
    const id = world.sandbox.table.createRow('tblTryOn', { 产品说明: '留下' });
    const task = await createKie(world);
    const next = await openWorld({ latencies: slow });
    next.sandbox.restore(JSON.parse(JSON.stringify(world.sandbox.snapshot())));
    expect(next.sandbox.table.text('tblTryOn', id, '产品说明')).toBe('留下');
    await next.clock.advance(1_000);
    expect((await lookKie(next, task)).at('data.state')).toBe('success');
    expect(next.sandbox.books.billTotals()).toEqual({ kie: { 'credit:kie': 4_000_000 } });
    expect(() => {
      next.sandbox.restore({ version: 2 });
    }).toThrow();
  });

  it('is the same world again for the same seed', async () => {
    const run = async (): Promise<unknown> => {
      const world = await openWorld({ latencies: slow });
      await createKie(world);
      return world.sandbox.snapshot();
    };
    expect(await run()).toEqual(await run());
  });

  it('counts pushes, and refuses a bad token', async () => {
    const world = await openWorld();
    const send = (token: string): Promise<Answer> =>
      world.call('POST', '/pushplus/send', { token, title: '告警', content: '内容' });
    expect((await send('t')).at('code')).toBe(200);
    expect((await send('bad')).at('code')).toBe(903);
    expect(world.sandbox.books.pushes()).toHaveLength(1);
  });
});
