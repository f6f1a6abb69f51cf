import { describe, expect, it } from 'vitest';
import type { NodeFunction } from '../../src/engine/ports/index.ts';
import { createVirtualClock, sleep } from '../../src/kernel/index.ts';
import { define, textSkill } from './support/definitions.ts';
import { createScriptedVendor, type Script } from './support/vendor.ts';
import { createWorld } from './support/world.ts';
import { fn, runGraph, statuses } from './support/graph-runs.ts';

describe('a failed node', () => {
  it('fails the execution; what hangs on it never starts; words name it', async () => {
    const { world, id, done } = await runGraph(
      { a: { kind: 'function', function: 'failing', title: '第一步' }, b: fn({ x: '$.nodes.a.output.x' }) },
      {},
    );
    expect(done).toMatchObject({ status: 'failed', failure: { code: 'broken' } });
    expect(await statuses(world, id)).toEqual({ a: 'failed', b: 'canceled' });
    expect((await world.outbox())[0]?.message).toMatchObject({ kind: 'ended', status: 'failed', failedNode: '第一步' });
  });

  it('keeps finished parts where the workflow says so', async () => {
    const { done } = await runGraph(
      { good: fn({ x: 1 }), bad: { kind: 'function', function: 'failing', after: ['good'] } },
      { good: '$.nodes.good.output.x', bad: '$.nodes.bad.output.x' },
      { workflow: { keep_partial: true } },
    );
    expect(done).toMatchObject({ status: 'partial', output: { good: 1 }, failure: { code: 'broken' } });
  });

  it('skip: goes on without it, marked', async () => {
    const { done } = await runGraph(
      { a: { kind: 'function', function: 'failing', on_failure: 'skip' }, b: fn({ x: '$.nodes.a.output.x', y: 2 }) },
      { y: '$.nodes.b.output.y', x: '$.nodes.b.output.x' },
    );
    expect(done).toMatchObject({ status: 'succeeded', output: { y: 2 }, marks: [{ kind: 'degraded' }] });
    expect(done.output).not.toHaveProperty('x');
  });

  it('fallback preset: its output is the preset, marked degraded', async () => {
    const { world, id, done } = await runGraph(
      {
        a: { kind: 'function', function: 'failing', on_failure: { fallback: { preset: { x: '$.input.x' } } } },
        b: fn({ x: '$.nodes.a.output.x' }),
      },
      { x: '$.nodes.b.output.x' },
      { input: { x: 7 } },
    );
    expect(done).toMatchObject({ status: 'succeeded', output: { x: 7 }, marks: [{ kind: 'degraded' }] });
    expect((await world.store.nodes(id)).find((node) => node.path === 'a')).toMatchObject({
      degraded: true,
      status: 'succeeded',
    });
  });

  it('fallback node: runs only then, and its output takes the place', async () => {
    const nodes = (name: string): object => ({
      a: { kind: 'function', function: name, input: { x: 1 }, on_failure: { fallback: { node: 'b' } } },
      b: fn({ x: 2 }),
      c: fn({ x: '$.nodes.a.output.x' }),
    });
    const failed = await runGraph(nodes('failing'), { x: '$.nodes.c.output.x' });
    expect(failed.done).toMatchObject({ status: 'succeeded', output: { x: 2 }, marks: [{ kind: 'degraded' }] });
    const good = await runGraph(nodes('echo'), { x: '$.nodes.c.output.x' });
    expect(good.done).toMatchObject({ status: 'succeeded', output: { x: 1 }, marks: [] });
    expect(await statuses(good.world, good.id)).toMatchObject({ b: 'skipped' });
  });

  it('fallback last_good: the last good result of the same node for the same source', async () => {
    let isBroken = false;
    const clock = createVirtualClock();
    const script: Script = () =>
      isBroken
        ? { submit: 'refuse', failure: { kind: 'auth', code: '401', message: 'x' } }
        : { submit: 'complete', output: { text: 'good', finish: 'stop' } };
    const vendor = createScriptedVendor({ clock, script });
    const definitions = define({
      workflows: [
        {
          workflow: 'w',
          input: {},
          nodes: {
            a: {
              kind: 'skill',
              skill: 'writer',
              input: { prompt: '$.input.p' },
              on_failure: { fallback: 'last_good' },
            },
          },
          output: { text: '$.nodes.a.output.text' },
        },
      ],
      skills: [textSkill('writer')],
    });
    const world = await createWorld({ definitions, clock, providers: new Map([['acme', vendor.provider]]) });
    const first = await world.submit({ input: { p: 'one' }, sourceRef: 's' });
    await world.settle(first);
    isBroken = true;
    const second = await world.submit({ input: { p: 'two' }, sourceRef: 's' });
    expect(await world.settle(second)).toMatchObject({
      status: 'succeeded',
      output: { text: 'good' },
      marks: [{ kind: 'degraded' }],
    });
  });

  it.each<readonly [string, NodeFunction, string]>([
    [
      'throws at once',
      () => {
        throw new Error('no ink');
      },
      'no ink',
    ],
    ['rejects', () => Promise.reject(new Error('no paper')), 'no paper'],
    ['gives nothing', () => Promise.resolve(JSON.parse('{"ok":true}')), 'the function gave no object'],
    ['gives no answer at all', () => Promise.resolve(JSON.parse('null')), 'Cannot read properties of null'],
  ])('a function that %s has failed, and ends its execution', async (_what, odd, message) => {
    const { done } = await runGraph({ a: { kind: 'function', function: 'odd' } }, {}, { functions: { odd } });
    expect(done.status).toBe('failed');
    expect(done.failure).toMatchObject({ kind: 'internal', code: 'function' });
    expect(done.failure?.message).toContain(message);
  });

  it('a function that takes too long is aborted and fails as a timeout', async () => {
    const clock = createVirtualClock();
    const stuck: NodeFunction = async () => await new Promise(() => undefined);
    const { done } = await runGraph(
      { a: { kind: 'function', function: 'stuck', timeout: '5s' } },
      {},
      { functions: { stuck }, world: { clock } },
    );
    expect(done.failure?.kind).toBe('timeout');
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(5_000);
    expect(clock.monotonicMs()).toBeLessThan(8_000);
  });

  it('the deadline of the workflow ends it', async () => {
    const clock = createVirtualClock();
    const slow: NodeFunction = async (_input, signal) => {
      await sleep(clock, 4_000, signal);
      return { ok: true, value: {} };
    };
    const node = (extra: object = {}): object => ({ kind: 'function', function: 'slow', ...extra });
    const { done } = await runGraph(
      { a: node(), b: node({ after: ['a'] }), c: node({ after: ['b'] }) },
      {},
      { functions: { slow }, workflow: { deadline: '6s' }, world: { clock } },
    );
    expect(done.failure?.kind).toBe('timeout');
  });
});
