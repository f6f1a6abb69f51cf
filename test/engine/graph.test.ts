import { describe, expect, it } from 'vitest';
import type { NodeFunction } from '../../src/engine/ports/index.ts';
import { createVirtualClock, type JsonObject, sleep } from '../../src/kernel/index.ts';
import { define, imageSkill, provider, textSkill } from './support/definitions.ts';
import { createScriptedVendor, type Script } from './support/vendor.ts';
import { createWorld, echo, type World, type WorldOptions } from './support/world.ts';

const fn = (input: object = {}, extra: object = {}): object => ({
  kind: 'function',
  function: 'echo',
  input,
  ...extra,
});
const failing: NodeFunction = () =>
  Promise.resolve({ ok: false, failure: { kind: 'internal', code: 'broken', message: 'it broke' } });

async function runGraph(
  nodes: object,
  output: object,
  extra: {
    input?: JsonObject;
    workflow?: object;
    functions?: Record<string, NodeFunction>;
    world?: Partial<WorldOptions>;
    more?: readonly object[];
  } = {},
): Promise<{ world: World; id: Awaited<ReturnType<World['submit']>>; done: Awaited<ReturnType<World['settle']>> }> {
  const definitions = define({
    workflows: [{ workflow: 'w', input: {}, nodes, output, ...extra.workflow }, ...(extra.more ?? [])],
  });
  const world = await createWorld({ definitions, functions: { echo, failing, ...extra.functions }, ...extra.world });
  const id = await world.submit({ input: extra.input ?? {} });
  return { world, id, done: await world.settle(id) };
}

const statuses = async (world: World, id: Awaited<ReturnType<World['submit']>>): Promise<Record<string, string>> =>
  Object.fromEntries((await world.store.nodes(id)).map((node) => [node.path, node.status]));

describe('branches', () => {
  const nodes = {
    c: { kind: 'condition', input: { n: '$.input.n' }, branches: { big: 'input.n > 10', small: 'input.n > 0' } },
    a: fn({ v: 'big' }, { after: ['c.big'] }),
    b: fn({ v: 'small' }, { after: ['c.small'] }),
    e: fn({ v: 'else' }, { after: ['c.else'] }),
    after_a: fn({ v: '$.nodes.a.output.v' }),
    j: fn({ v: { $first: ['$.nodes.a.output.v', '$.nodes.b.output.v', '$.nodes.e.output.v'] } }, { join: 'any' }),
  };

  it.each([
    [50, 'big', { a: 'succeeded', b: 'skipped', e: 'skipped', after_a: 'succeeded' }],
    [5, 'small', { a: 'skipped', b: 'succeeded', e: 'skipped', after_a: 'skipped' }],
    [-1, 'else', { a: 'skipped', b: 'skipped', e: 'succeeded', after_a: 'skipped' }],
  ])('n = %i takes "%s", skips the others and what hangs on them, and joins', async (n, taken, expected) => {
    const { world, id, done } = await runGraph(
      nodes,
      { v: '$.nodes.j.output.v', branch: '$.nodes.c.branch' },
      { input: { n } },
    );
    expect(done.output).toEqual({ v: taken, branch: taken });
    expect(await statuses(world, id)).toMatchObject(expected);
  });

  it('a rule that cannot be decided on the values at hand fails its node in words', async () => {
    const { done } = await runGraph(nodes, {}, { input: {} });
    expect(done).toMatchObject({ status: 'failed', failure: { kind: 'invalid-input', code: 'condition' } });
  });
});

describe('order', () => {
  it('each node starts as soon as its own inputs are settled, not by layer', async () => {
    const clock = createVirtualClock();
    const starts: string[] = [];
    const slow: NodeFunction = async (input, signal) => {
      starts.push(`${typeof input['name'] === 'string' ? input['name'] : ''}@${clock.monotonicMs()}`);
      await sleep(clock, Number(input['ms']), signal);
      return { ok: true, value: {} };
    };
    const at = (name: string, ms: number, extra: object = {}): object => ({
      kind: 'function',
      function: 'slow',
      input: { name, ms },
      ...extra,
    });
    await runGraph(
      { a: at('a', 100), b: at('b', 1_000), c: at('c', 100, { after: ['a'] }), d: at('d', 1, { after: ['b', 'c'] }) },
      {},
      { functions: { slow }, world: { clock } },
    );
    expect(starts).toEqual(['a@0', 'b@0', 'c@100', 'd@1000']);
  });

  it('max_concurrency bounds the nodes that run at once', async () => {
    const clock = createVirtualClock();
    let open = 0;
    let most = 0;
    const slow: NodeFunction = async (_input, signal) => {
      open += 1;
      most = Math.max(most, open);
      await sleep(clock, 100, signal);
      open -= 1;
      return { ok: true, value: {} };
    };
    const nodes = Object.fromEntries(
      Array.from({ length: 9 }, (_, at) => [`n${at}`, { kind: 'function', function: 'slow' }]),
    );
    const { done } = await runGraph(
      nodes,
      {},
      { functions: { slow }, workflow: { max_concurrency: 2 }, world: { clock } },
    );
    expect([done.status, most]).toEqual(['succeeded', 2]);
  });
});

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

describe('map and inner workflows', () => {
  const inner = {
    workflow: 'inner',
    input: { type: 'object', required: ['n'], properties: { n: { type: 'number' } } },
    nodes: { double: { kind: 'function', function: 'double', input: { n: '$.input.n' } } },
    output: { n: '$.nodes.double.output.n' },
  };
  const double: NodeFunction = (input) =>
    Promise.resolve(
      Number(input['n']) === 13
        ? { ok: false, failure: { kind: 'internal', code: 'unlucky', message: 'thirteen' } }
        : { ok: true, value: { n: Number(input['n']) * 2 } },
    );
  const mapNode = (extra: object = {}): object => ({
    kind: 'map',
    over: '$.input.list',
    max_items: 10,
    input: { n: '$.item' },
    body: { workflow: 'inner' },
    ...extra,
  });

  it('runs the body once an item, in order of the list, whoever ends first', async () => {
    const { world, id, done } = await runGraph(
      { m: mapNode({ concurrency: 2 }) },
      { n: '$.nodes.m.output.items[*].n', count: '$.nodes.m.output.count' },
      { input: { list: [1, 2, 3] }, functions: { double }, more: [inner] },
    );
    expect(done.output).toEqual({ n: [2, 4, 6], count: 3 });
    expect(Object.keys(await statuses(world, id))).toEqual(expect.arrayContaining(['m', 'm[0]/double', 'm[2]/double']));
  });

  it('P119 P122 keeps the good items and names the bad ones', async () => {
    const { done } = await runGraph(
      { m: mapNode({ on_item_failure: 'keep' }) },
      { n: '$.nodes.m.output.items[*].n', failed: '$.nodes.m.output.failed' },
      { input: { list: [1, 13, 3, 13] }, functions: { double }, more: [inner] },
    );
    expect(done).toMatchObject({ status: 'partial', output: { n: [2, 6], failed: [1, 3] } });
    expect(done.failure?.message).toContain('#2');
    expect(done.failure?.message).toContain('#4');
    expect(done.marks).toMatchObject([
      { kind: 'partial', text: expect.stringContaining('2/4 完成，第 2、4 项失败') as string },
    ]);
  });

  it('fails as a whole where it is not told to keep', async () => {
    const { done } = await runGraph(
      { m: mapNode() },
      {},
      { input: { list: [1, 13, 3] }, functions: { double }, more: [inner] },
    );
    expect(done).toMatchObject({ status: 'failed', failure: { code: 'unlucky' } });
  });

  it('P134 refuses more items than agreed before anything runs; an empty list is done at once', async () => {
    const many = await runGraph(
      { m: mapNode() },
      {},
      { input: { list: Array.from({ length: 11 }, (_, at) => at) }, functions: { double }, more: [inner] },
    );
    expect(many.done.failure).toMatchObject({ kind: 'invalid-input' });
    const none = await runGraph(
      { m: mapNode() },
      { n: '$.nodes.m.output.items' },
      { input: { list: [] }, functions: { double }, more: [inner] },
    );
    expect(none.done).toMatchObject({ status: 'succeeded', output: { n: [] } });
  });

  it('a workflow as a node: its input is checked, its failure is the node’s, in words', async () => {
    const good = await runGraph(
      { sub: { kind: 'workflow', workflow: 'inner', input: { n: '$.input.n' } } },
      { n: '$.nodes.sub.output.n' },
      { input: { n: 4 }, functions: { double }, more: [inner] },
    );
    expect(good.done.output).toEqual({ n: 8 });
    const bad = await runGraph(
      { sub: { kind: 'workflow', workflow: 'inner', input: { n: '$.input.n' }, title: '外层' } },
      {},
      { input: { n: 13 }, functions: { double }, more: [inner] },
    );
    expect(bad.done.failure).toMatchObject({ code: 'unlucky' });
    expect((await bad.world.outbox())[0]?.message).toMatchObject({ failedNode: '外层 · double' });
    const wrong = await runGraph(
      { sub: { kind: 'workflow', workflow: 'inner', input: { n: '$.input.n' } } },
      {},
      { input: { n: 'four' }, functions: { double }, more: [inner] },
    );
    expect(wrong.done.failure).toMatchObject({ code: 'workflow-input' });
  });

  it('a map over a skill buys one call an item; a retry buys only what is missing', async () => {
    const clock = createVirtualClock();
    let isStrict = true;
    const script: Script = ({ body }) =>
      isStrict && body['prompt'] === 'shot 2'
        ? { submit: 'refuse', failure: { kind: 'content-policy', code: 'x', message: 'no' } }
        : { submit: 'accept' };
    const vendor = createScriptedVendor({ clock, script });
    const definitions = define({
      workflows: [
        {
          workflow: 'w',
          input: {},
          nodes: {
            shots: {
              kind: 'map',
              over: '$.input.list',
              max_items: 9,
              concurrency: 3,
              on_item_failure: 'keep',
              input: { prompt: '$.item' },
              body: { skill: 'painter' },
            },
          },
          output: { images: '$.nodes.shots.output.items[*].images[*]' },
        },
      ],
      skills: [imageSkill('painter')],
      providers: { acme: provider('acme') },
    });
    const world = await createWorld({ definitions, clock, providers: new Map([['acme', vendor.provider]]) });
    const input = { list: ['shot 1', 'shot 2', 'shot 3', 'shot 1'] };
    const first = await world.submit({ input, sourceRef: 'row' });
    const partial = await world.settle(first);
    expect(partial.status).toBe('partial');
    expect(partial.output?.['images']).toHaveLength(3);
    isStrict = false;
    const second = await world.submit({ input, sourceRef: 'row' });
    const whole = await world.settle(second);
    expect(whole).toMatchObject({ status: 'succeeded' });
    expect(new Set((whole.output?.['images'] as readonly { hash: string }[]).map((image) => image.hash)).size).toBe(4);
    expect(vendor.tasks).toHaveLength(4);
    expect((await world.types(second)).filter((type) => type === 'node-reused')).toHaveLength(3);
  });
});
