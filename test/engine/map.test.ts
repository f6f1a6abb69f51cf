import { describe, expect, it } from 'vitest';
import type { NodeFunction } from '../../src/engine/ports/index.ts';
import { createVirtualClock } from '../../src/kernel/index.ts';
import { define, imageSkill, provider } from './support/definitions.ts';
import { createScriptedVendor, type Script } from './support/vendor.ts';
import { createWorld } from './support/world.ts';
import { runGraph, statuses } from './support/graph-runs.ts';

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

  it('equal items in equal items of a map around them are bought once each', async () => {
    const clock = createVirtualClock();
    const vendor = createScriptedVendor({ clock });
    const shots = { kind: 'map', max_items: 9, concurrency: 1 };
    const definitions = define({
      workflows: [
        {
          workflow: 'w',
          input: {},
          nodes: {
            scenes: { ...shots, over: '$.input.scenes', input: { shots: '$.item' }, body: { workflow: 'scene' } },
          },
          output: { images: '$.nodes.scenes.output.items[*].images[*]' },
        },
        {
          workflow: 'scene',
          input: {},
          nodes: {
            shots: { ...shots, over: '$.input.shots', input: { prompt: '$.item' }, body: { skill: 'painter' } },
          },
          output: { images: '$.nodes.shots.output.items[*].images[*]' },
        },
      ],
      skills: [imageSkill('painter')],
      providers: { acme: provider('acme') },
    });
    const world = await createWorld({ definitions, clock, providers: new Map([['acme', vendor.provider]]) });
    const input = {
      scenes: [
        ['wide', 'wide'],
        ['wide', 'wide'],
      ],
    };
    expect((await world.settle(await world.submit({ input, sourceRef: 'row' }))).status).toBe('succeeded');
    expect(vendor.tasks).toHaveLength(4);
    await world.settle(await world.submit({ input, sourceRef: 'row' }));
    expect(vendor.tasks).toHaveLength(4);
  });
});
