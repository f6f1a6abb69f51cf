import { describe, expect, it } from 'vitest';
import type { NodeFunction } from '../../src/engine/ports/index.ts';
import { createVirtualClock, type JsonObject, sleep } from '../../src/kernel/index.ts';
import { type SeedWorld, seedWorld } from './kit.ts';

const fn = (input: object = {}, extra: object = {}): object => ({
  kind: 'function',
  function: 'echo',
  input,
  ...extra,
});
const flow = (nodes: object, output: object = {}, extra: object = {}): Parameters<typeof seedWorld>[0] => ({
  workflows: [{ workflow: 'w', input: {}, nodes, output, ...extra }],
});

async function statuses(world: SeedWorld, input: JsonObject): Promise<Readonly<Record<string, string>>> {
  const id = await world.submit({ input });
  await world.settle(id);
  return Object.fromEntries((await world.store.nodes(id)).map((node) => [node.path, node.status]));
}

describe('seed 004: branches', () => {
  it('seed 004: conditions are full CEL, not a light one; the first true branch is taken, else the other port', async () => {
    const world = await seedWorld(
      flow({
        which: {
          kind: 'condition',
          input: { scene: '$.input.scene', pictures: '$.input.pictures', note: '$.input.note' },
          branches: {
            fusion: 'size(input.pictures) > 1 && input.scene in ["fusion", "poster"]',
            tiny: 'input.pictures.all(p, p.width < 512 && p.height < 512)',
            asked: 'has(input.note) && input.note.matches("^(再|继续)") ? true : false',
          },
        },
        fuse: fn({}, { after: ['which.fusion'] }),
        enlarge: fn({}, { after: ['which.tiny'] }),
        edit: fn({}, { after: ['which.asked'] }),
        rest: fn({}, { after: ['which.else'] }),
      }),
    );
    const picture = (side: number): JsonObject => ({ width: side, height: side });
    const taken = async (input: JsonObject): Promise<readonly string[]> =>
      Object.entries(await statuses(world, input)).flatMap(([id, status]) =>
        status === 'succeeded' && id !== 'which' ? [id] : [],
      );
    expect(await taken({ scene: 'poster', pictures: [picture(900), picture(900)] })).toEqual(['fuse']);
    expect(await taken({ scene: 'poster', pictures: [picture(300)] })).toEqual(['enlarge']);
    expect(await taken({ scene: 'x', pictures: [picture(900)], note: '再亮一点' })).toEqual(['edit']);
    expect(await taken({ scene: 'x', pictures: [picture(900)] })).toEqual(['rest']);
  });

  it('seed 004: a skipped branch skips what hangs on it; a declared join runs with whichever came', async () => {
    const world = await seedWorld(
      flow(
        {
          which: { kind: 'condition', input: { n: '$.input.n' }, branches: { big: 'input.n > 10' } },
          big: fn({ said: 'big' }, { after: ['which.big'] }),
          small: fn({ said: 'small' }, { after: ['which.else'] }),
          after_big: fn({ said: '$.nodes.big.output.said' }),
          meet: fn(
            { said: { $first: ['$.nodes.after_big.output.said', '$.nodes.small.output.said'] } },
            { join: 'any' },
          ),
        },
        { said: '$.nodes.meet.output.said' },
      ),
    );
    expect(await statuses(world, { n: 3 })).toMatchObject({ big: 'skipped', after_big: 'skipped', meet: 'succeeded' });
    expect((await world.settle(await world.submit({ input: { n: 3 } }))).output).toEqual({ said: 'small' });
    expect((await world.settle(await world.submit({ input: { n: 30 } }))).output).toEqual({ said: 'big' });
  });
});

describe('seed 004: several runs in one', () => {
  const inner = {
    workflow: 'inner',
    input: { type: 'object', required: ['n'], properties: { n: { type: 'number' } } },
    nodes: { half: { kind: 'function', function: 'half', input: { n: '$.input.n' } } },
    output: { n: '$.nodes.half.output.n' },
  };
  const half: NodeFunction = (input) =>
    Promise.resolve(
      Number(input['n']) % 2 === 0
        ? { ok: true, value: { n: Number(input['n']) / 2 } }
        : { ok: false, failure: { kind: 'internal', code: 'odd', message: 'an odd number' } },
    );

  it('seed 000: several workflows in one execution: a workflow is a node, with its input checked at its door', async () => {
    const draft = flow(
      {
        first: { kind: 'workflow', workflow: 'inner', input: { n: '$.input.n' } },
        second: { kind: 'workflow', workflow: 'inner', input: { n: '$.nodes.first.output.n' } },
      },
      { n: '$.nodes.second.output.n' },
    );
    const world = await seedWorld({ ...draft, workflows: [...draft.workflows, inner] }, { functions: { half } });
    const id = await world.submit({ input: { n: 8 } });
    expect((await world.settle(id)).output).toEqual({ n: 2 });
    expect((await world.store.nodes(id)).map((node) => node.path).sort()).toEqual([
      'first',
      'first/half',
      'second',
      'second/half',
    ]);
    const bad = await world.settle(await world.submit({ input: { n: 'eight' } }));
    expect(bad.failure).toMatchObject({ kind: 'invalid-input' });
  });

  it('seed 004: a bounded map: items side by side up to its concurrency, in order of the list, the good ones kept', async () => {
    const clock = createVirtualClock();
    const atOnce = { now: 0, most: 0 };
    const slowHalf: NodeFunction = async (input, signal) => {
      atOnce.now += 1;
      atOnce.most = Math.max(atOnce.most, atOnce.now);
      // The later ones end first.
      await sleep(clock, 1_000 - 10 * Number(input['n']), signal);
      atOnce.now -= 1;
      return await half(input, signal);
    };
    const draft = flow(
      {
        m: {
          kind: 'map',
          over: '$.input.list',
          max_items: 8,
          concurrency: 3,
          on_item_failure: 'keep',
          input: { n: '$.item' },
          body: { workflow: 'inner' },
        },
      },
      { halves: '$.nodes.m.output.items[*].n', failed: '$.nodes.m.output.failed' },
    );
    const world = await seedWorld(
      { ...draft, workflows: [...draft.workflows, inner] },
      { clock, functions: { half: slowHalf } },
    );
    const done = await world.settle(await world.submit({ input: { list: [2, 4, 5, 8, 10, 12] } }));
    expect(done.output).toMatchObject({ halves: [1, 2, 4, 5, 6], failed: [2] });
    expect(atOnce.most).toBe(3);
    const long = await world.settle(await world.submit({ input: { list: Array.from({ length: 9 }, () => 2) } }));
    expect(long.status).toBe('failed');
  });

  it('seed 001: max_concurrency bounds the nodes that run at once; the rest wait in order', async () => {
    const clock = createVirtualClock();
    const atOnce = { now: 0, most: 0 };
    const slow: NodeFunction = async (_input, signal) => {
      atOnce.now += 1;
      atOnce.most = Math.max(atOnce.most, atOnce.now);
      await sleep(clock, 100, signal);
      atOnce.now -= 1;
      return { ok: true, value: {} };
    };
    const nodes = Object.fromEntries(
      Array.from({ length: 12 }, (_, at) => [`n${at}`, { kind: 'function', function: 'slow', input: { at } }]),
    );
    const world = await seedWorld(flow(nodes, {}, { max_concurrency: 4 }), { clock, functions: { slow } });
    expect((await world.settle(await world.submit())).status).toBe('succeeded');
    expect(atOnce.most).toBe(4);
  });
});
