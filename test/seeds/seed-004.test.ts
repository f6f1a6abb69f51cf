import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { workflowSchema } from '../../src/contract/index.ts';
import { compile } from '../../src/engine/index.ts';
import { define } from '../engine/support/definitions.ts';
import { createVirtualClock, isJsonObject, sleep } from '../../src/kernel/index.ts';
import { answering, promptOf, seedWorld } from './kit.ts';

const fn = (input: object = {}, extra: object = {}): object => ({
  kind: 'function',
  function: 'echo',
  input,
  ...extra,
});
const flow = (nodes: object, output: object = {}): Parameters<typeof define>[0] => ({
  workflows: [{ workflow: 'w', input: {}, nodes, output }],
});

function edges(nodes: object): readonly string[] {
  const result = compile(define(flow(nodes)));
  if (!result.ok) return result.failure.map((fault) => fault.what);
  const graph = result.value.plans.get('w')?.plan.graphs['w'];
  return (graph?.nodes ?? []).flatMap((node) =>
    node.incoming.map((edge) => `${edge.from}${edge.branch === undefined ? '' : `.${edge.branch}`}→${node.id}`),
  );
}

describe('seed 004', () => {
  it('seed 004: a graph need not be connected: isolated nodes and several components run', async () => {
    const world = await seedWorld(
      flow(
        {
          alone: fn({ x: 1 }),
          a: fn({ x: 2 }),
          b: fn({ x: '$.nodes.a.output.x' }),
          c: fn({ x: 3 }),
          d: fn({ x: '$.nodes.c.output.x' }),
        },
        { x: ['$.nodes.alone.output.x', '$.nodes.b.output.x', '$.nodes.d.output.x'] },
      ),
    );
    expect((await world.settle(await world.submit())).output).toEqual({ x: [1, 2, 3] });
  });

  it('seed 004: ports: an edge leaves a condition at its branch', () => {
    expect(
      edges({
        c: { kind: 'condition', branches: { yes: 'true', no: 'false' } },
        a: fn({}, { after: ['c.yes'] }),
        b: fn({}, { after: ['c.no'] }),
      }),
    ).toEqual(['c.yes→a', 'c.no→b']);
  });

  it('seed 004: two branches of one condition never lead straight into the same node, unless a join is declared', () => {
    const nodes = (extra: object): object => ({
      c: { kind: 'condition', branches: { yes: 'true', no: 'false' } },
      a: fn({}, { after: ['c.yes', 'c.no'], ...extra }),
    });
    expect(edges(nodes({}))[0]).toContain('meet here');
    expect(edges(nodes({ join: 'any' }))).toEqual(['c.yes→a', 'c.no→a']);
  });

  it('seed 004: transitive reduction: the picture of the seed loses a→d and a→e', () => {
    const nodes = {
      a: fn(),
      b: fn({}, { after: ['a'] }),
      c: fn({}, { after: ['a'] }),
      d: fn({}, { after: ['a', 'b', 'c'] }),
      e: fn({}, { after: ['a', 'c', 'd'] }),
    };
    expect([...edges(nodes)].sort()).toEqual(['a→b', 'a→c', 'b→d', 'c→d', 'd→e']);
  });

  it('seed 004: topological order finds cycles: fewer nodes placed than there are', () => {
    expect(edges({ a: fn(), b: fn({}, { after: ['c'] }), c: fn({}, { after: ['b'] }) })[0]).toMatch(
      /b → c → b|c → b → c/,
    );
  });

  it('seed 004: a node waits for all that it depends on, and starts as soon as they are there', async () => {
    const clock = createVirtualClock();
    const ends: string[] = [];
    const slow = async (input: Readonly<Record<string, unknown>>, signal: AbortSignal) => {
      await sleep(clock, Number(input['ms']), signal);
      ends.push(`${promptOf(input['name'])}@${clock.monotonicMs()}`);
      return { ok: true as const, value: {} };
    };
    const at = (name: string, ms: number, after: readonly string[] = []): object => ({
      kind: 'function',
      function: 'slow',
      input: { name, ms },
      after,
    });
    const world = await seedWorld(
      flow({
        a: at('a', 10),
        b: at('b', 500, ['a']),
        c: at('c', 20, ['a']),
        d: at('d', 30, ['c']),
        e: at('e', 1, ['b', 'd']),
      }),
      { clock, functions: { slow } },
    );
    await world.settle(await world.submit());
    expect(ends).toEqual(['a@10', 'c@30', 'd@60', 'b@510', 'e@511']);
  });

  it('seed 004: a workflow is finite: no loops, bounded maps, a limit on paid calls', () => {
    expect(() =>
      define(flow({ m: { kind: 'map', over: '$.input.x', max_items: 1_000, body: { workflow: 'w' } } })),
    ).toThrow();
    const nested = compile(define(flow({ m: { kind: 'workflow', workflow: 'w' } })));
    expect(nested.ok ? '' : nested.failure[0]?.what).toContain('w → w');
  });

  it('seed 004: the schema of the file is a JSON Schema that editors can use, and it really checks', () => {
    const schema: unknown = z.toJSONSchema(workflowSchema, { io: 'input', unrepresentable: 'any' });
    expect(isJsonObject(schema) && schema['type']).toBe('object');
    expect(
      workflowSchema.safeParse({
        workflow: 'w',
        input: {},
        nodes: { a: { kind: 'function', functon: 'x' } },
        output: {},
      }).success,
    ).toBe(false);
  });

  it('seed 004: node kinds are told apart by their type, each with its own checked members', () => {
    const kinds = ['skill', 'condition', 'map', 'workflow', 'function'];
    for (const kind of kinds)
      expect(workflowSchema.safeParse({ workflow: 'w', input: {}, nodes: { a: { kind } }, output: {} }).success).toBe(
        false,
      );
    expect(
      workflowSchema.safeParse({ workflow: 'w', input: {}, nodes: { a: { kind: 'llm' } }, output: {} }).success,
    ).toBe(false);
  });

  it('seed 004: plugins are capabilities: a search is a skill like any other, free of charge', async () => {
    const hits = { hits: [{ source: 's', title: 't', text: '上身' }] };
    const world = await seedWorld(
      {
        workflows: [
          {
            workflow: 'w',
            input: {},
            nodes: {
              find: { kind: 'skill', skill: 'finder', input: { query: '$.input.q' } },
              use: fn({ text: '$.nodes.find.output.hits[*].text' }),
            },
            output: { text: '$.nodes.use.output.text' },
          },
        ],
        skills: [
          {
            skill: 'finder',
            capability: 'knowledge.search',
            input: {},
            candidates: [{ provider: 'acme', model: 'snippets' }],
          },
        ],
        providers: {
          acme: {
            vendor: 'acme',
            key: 'x',
            base_url: 'https://x',
            models: { snippets: { capability: ['knowledge.search'], implementation: 'acme.tasks', model: 'snippets' } },
          },
        },
      },
      { script: () => ({ submit: 'complete', output: hits }) },
    );
    const adapter = world.acme.provider.adapters[0];
    Object.assign(adapter ?? {}, { capabilities: ['knowledge.search'] });
    const id = await world.submit({ input: { q: '上身' } });
    expect((await world.settle(id)).output).toEqual({ text: ['上身'] });
    expect(await world.store.charges({ executionId: id })).toEqual([]);
  });

  it('seed 004: the run of a step makes what it gives visible to its successors, and to nobody before', async () => {
    const world = await seedWorld(
      { ...flow({ a: fn({ x: '$.input.x' }), b: fn({ x: '$.nodes.a.output.x' }) }, { x: '$.nodes.b.output.x' }) },
      { script: answering },
    );
    expect((await world.settle(await world.submit({ input: { x: 9 } }))).output).toEqual({ x: 9 });
  });
});
