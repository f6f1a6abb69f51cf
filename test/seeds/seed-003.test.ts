import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { compile, defineWorkflow } from '../../src/engine/index.ts';
import { createVirtualClock, sleep } from '../../src/kernel/index.ts';
import { createWorld } from '../engine/support/world.ts';
import { answering, seedWorld } from './kit.ts';
import { textSkill } from '../engine/support/definitions.ts';

const screenshot = (result: unknown = { components: ['Header', 'Card'], layout: 'stack' }): ReturnType<typeof build> =>
  build(result);
function build(result: unknown) {
  return defineWorkflow('screenshot', z.object({ url: z.string(), limit: z.number().optional() }))
    .step('analyze', {
      map: ({ input }) => ({ url: input.url }),
      output: z.object({ components: z.array(z.string()), layout: z.string() }),
      run: () => Promise.resolve(result as { components: string[]; layout: string }),
    })
    .step('suggest', {
      map: ({ steps }) => ({ first: steps.analyze.components[0], layout: steps.analyze.layout, fixed: 3 }),
      output: z.object({ suggestions: z.array(z.string()) }),
      run: ({ first, layout, fixed }) =>
        Promise.resolve({ suggestions: [`${first ?? ''} in a ${layout}: ${fixed.toFixed(0)} px more`] }),
    })
    .build(({ steps }) => ({ suggestions: steps.suggest.suggestions }));
}

async function run(
  typed: ReturnType<typeof build>,
  input: Parameters<Awaited<ReturnType<typeof createWorld>>['submit']>[0],
) {
  const world = await createWorld({
    definitions: {
      workflows: new Map([[typed.workflow.workflow, typed.workflow]]),
      skills: new Map(),
      prompts: new Map(),
      providers: new Map(),
      agents: new Map(),
    },
    functions: Object.fromEntries(typed.functions),
  });
  const id = await world.submit(input);
  return await world.settle(id);
}

describe('seed 003', () => {
  it('seed 003: typed steps: types flow from step to step in code, and compile to the same plan', async () => {
    const typed = screenshot();
    const compiled = compile({
      workflows: new Map([['screenshot', typed.workflow]]),
      skills: new Map(),
      prompts: new Map(),
      providers: new Map(),
      agents: new Map(),
    });
    expect(
      compiled.ok &&
        compiled.value.plans.get('screenshot')?.plan.graphs['screenshot']?.nodes.map((node) => node.incoming),
    ).toEqual([[], [{ from: 'analyze', kind: 'data' }]]);
    expect(await run(typed, { input: { url: 'x' } })).toMatchObject({
      status: 'succeeded',
      output: { suggestions: ['Header in a stack: 3 px more'] },
    });
  });

  it('seed 003: a step whose answer is not of its type fails there, in words, not three steps later', async () => {
    const done = await run(screenshot({ components: 'Header' }), { input: { url: 'x' } });
    expect(done.failure).toMatchObject({
      kind: 'output-invalid',
      code: 'step-output',
      message: expect.stringContaining('components') as string,
    });
  });

  it('seed 003: the workflow’s own input is checked at the door', async () => {
    await expect(run(screenshot(), { input: { url: 5 } })).rejects.toThrow('url');
  });

  it('seed 003: cycles are found at registration, before anything runs', () => {
    const typed = screenshot();
    const looped = {
      ...typed.workflow,
      nodes: { ...typed.workflow.nodes, analyze: { ...typed.workflow.nodes['analyze']!, after: ['suggest'] } },
    };
    const compiled = compile({
      workflows: new Map([['screenshot', looped]]),
      skills: new Map(),
      prompts: new Map(),
      providers: new Map(),
      agents: new Map(),
    });
    expect(compiled.ok ? '' : compiled.failure[0]?.what).toContain('→');
  });

  const node = (name: string, extra: object = {}): object => ({ kind: 'function', function: name, ...extra });
  const failing = () =>
    Promise.resolve({
      ok: false as const,
      failure: { kind: 'internal' as const, code: 'x', message: 'model unreachable' },
    });

  it('seed 003: a fallback per step: a preset analysis instead of none, and it is told', async () => {
    const world = await seedWorld(
      {
        workflows: [
          {
            workflow: 'w',
            input: {},
            nodes: {
              analyze: node('failing', { on_failure: { fallback: { preset: { components: [], layout: 'unknown' } } } }),
              use: node('echo', { input: { layout: '$.nodes.analyze.output.layout' } }),
            },
            output: { layout: '$.nodes.use.output.layout' },
          },
        ],
      },
      { functions: { failing } },
    );
    expect(await world.settle(await world.submit())).toMatchObject({
      status: 'succeeded',
      output: { layout: 'unknown' },
      marks: [{ kind: 'degraded' }],
    });
  });

  it('seed 003: a step that may be skipped does not stop the rest', async () => {
    const world = await seedWorld(
      {
        workflows: [
          {
            workflow: 'w',
            input: {},
            nodes: { a: node('failing', { on_failure: 'skip' }), b: node('echo', { input: { x: 1 }, after: ['a'] }) },
            output: { x: '$.nodes.b.output.x' },
          },
        ],
      },
      { functions: { failing } },
    );
    expect(await world.settle(await world.submit())).toMatchObject({ status: 'succeeded', output: { x: 1 } });
  });

  it('seed 003: partial success is kept and shown where the workflow wants it, all or nothing where it does not', async () => {
    const graph = (keep: boolean): object => ({
      workflow: 'w',
      keep_partial: keep,
      input: {},
      nodes: { a: node('echo', { input: { x: 1 } }), b: node('failing', { after: ['a'] }) },
      output: { x: '$.nodes.a.output.x' },
    });
    for (const [keep, status] of [
      [true, 'partial'],
      [false, 'failed'],
    ] as const) {
      const world = await seedWorld({ workflows: [graph(keep)] }, { functions: { failing } });
      const done = await world.settle(await world.submit());
      expect(done.status).toBe(status);
      expect(done.output).toEqual(keep ? { x: 1 } : undefined);
    }
  });

  it('seed 003: time limits: of a step, and of the whole', async () => {
    const clock = createVirtualClock();
    const stuck = async (_input: object, signal: AbortSignal) => {
      await sleep(clock, 3_600_000, signal);
      return { ok: true as const, value: {} };
    };
    const ofStep = await seedWorld(
      { workflows: [{ workflow: 'w', input: {}, nodes: { a: node('stuck', { timeout: '30s' }) }, output: {} }] },
      { clock, functions: { stuck } },
    );
    expect((await ofStep.settle(await ofStep.submit())).failure?.kind).toBe('timeout');
    const ofWhole = await seedWorld(
      { workflows: [{ workflow: 'w', input: {}, deadline: '120s', nodes: { a: node('stuck') }, output: {} }] },
      { clock, functions: { stuck } },
    );
    expect((await ofWhole.settle(await ofWhole.submit())).failure?.kind).toBe('timeout');
  });

  it('seed 003: cost is under control: a limit on the paid calls of a step, whatever its retries say', async () => {
    const world = await seedWorld(
      {
        workflows: [
          {
            workflow: 'w',
            input: {},
            nodes: { a: { kind: 'skill', skill: 'writer', input: { prompt: 'x' } } },
            output: {},
          },
        ],
        skills: [textSkill('writer', { retry: { attempts: 10 }, max_paid_calls: 2 })],
      },
      { script: () => ({ submit: 'fail', failure: { kind: 'generation-failed', code: 'x', message: 'x' } }) },
    );
    await world.settle(await world.submit());
    expect(world.acme.tasks).toHaveLength(2);
  });

  it('seed 003: retries of one step stay inside it: its neighbours are called once', async () => {
    const world = await seedWorld(
      {
        workflows: [
          {
            workflow: 'w',
            input: {},
            nodes: {
              a: { kind: 'skill', skill: 'writer', input: { prompt: 'a' } },
              b: { kind: 'skill', skill: 'writer', input: { prompt: 'b' } },
            },
            output: {},
          },
        ],
        skills: [textSkill('writer')],
      },
      {
        script: (call) =>
          call.body['prompt'] === 'b' && call.count < 4
            ? { submit: 'refuse', failure: { kind: 'overload', code: 'x', message: 'x' } }
            : answering(call),
      },
    );
    expect((await world.settle(await world.submit())).status).toBe('succeeded');
    expect(world.acme.tasks.filter((task) => task.body['prompt'] === 'a')).toHaveLength(1);
  });
});
