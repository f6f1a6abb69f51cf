import { describe, expect, it } from 'vitest';
import { compile, describePlan } from '../../src/engine/index.ts';
import { define, imageSkill, provider, shippedSettings, textSkill } from '../engine/support/definitions.ts';
import { running } from '../engine/support/world.ts';
import { answering, seedWorld } from './kit.ts';

const retouch = {
  workflow: 'retouch',
  title: '智能修图',
  input: { type: 'object', properties: { request: { type: 'string' }, style: { type: 'string' } } },
  nodes: {
    understand: { kind: 'skill', skill: 'writer', input: { prompt: '$.input.request' } },
    style: { kind: 'skill', skill: 'writer', input: { prompt: '$.input.style' } },
    draw: { kind: 'skill', skill: 'painter', input: { prompt: '$.nodes.understand.output.text' } },
    write_up: {
      kind: 'function',
      function: 'echo',
      input: { plan: '$.nodes.understand.output.text', style: '$.nodes.style.output.text' },
    },
  },
  output: { images: '$.nodes.draw.output.images', plan: '$.nodes.write_up.output.plan' },
};
const draft = { workflows: [retouch], skills: [textSkill('writer'), imageSkill('painter')] };
const input = { request: 'brighter', style: 'oil' };

describe('seed 000: separate things in configuration', () => {
  it('seed 000: a vendor is exchanged by editing one skill, no code, and nothing is bought again', async () => {
    const world = await seedWorld(draft, { script: answering });
    const first = await world.submit({ input, sourceRef: 'row' });
    await world.settle(first);
    const bought = world.acme.tasks.length;
    world.redefine({
      ...draft,
      skills: [
        textSkill('writer', { candidates: [{ provider: 'backup', model: 'text' }] }),
        imageSkill('painter', { candidates: [{ provider: 'backup', model: 'image' }] }),
      ],
    });
    const second = await world.submit({ input, sourceRef: 'row' });
    expect((await world.settle(second)).output).toEqual((await world.execution(first)).output);
    expect([world.acme.tasks.length, world.backup.tasks.length]).toEqual([bought, 0]);
    const third = await world.submit({ input: { ...input, request: 'darker' }, sourceRef: 'row' });
    await world.settle(third);
    expect(world.backup.tasks.length).toBeGreaterThan(0);
  });

  it('seed 000: one skill serves several nodes and workflows, each with its own mapping and parameters', async () => {
    const world = await seedWorld(draft, { script: answering });
    await world.settle(await world.submit({ input }));
    expect(world.acme.tasks.map((task) => task.body['prompt'])).toEqual(['brighter', 'oil', 'about brighter']);
  });

  it('seed 000: a capability is a contract: a model that does not offer it is no candidate', () => {
    const result = compile(
      define({
        ...draft,
        skills: [textSkill('writer', { candidates: [{ provider: 'acme', model: 'image' }] }), imageSkill('painter')],
      }),
    );
    expect(result.ok ? '' : result.failure[0]?.what).toContain('is no model for text.generate');
  });

  it('seed 000: the engine never touches a business table: it is told a source and answers through the outbox', async () => {
    const world = await seedWorld(draft, { script: answering });
    const id = await world.submit({ input, sourceRef: 'bitable:a/b/c#one' });
    await world.settle(id);
    expect(await world.outbox()).toMatchObject([
      { sourceRef: 'bitable:a/b/c#one', message: { kind: 'ended', status: 'succeeded' } },
    ]);
  });
});

describe('seed 000: how a skill is executed, in order', () => {
  const skill = (extra: object): object => textSkill('writer', extra);
  const one = (extra: object, nodeExtra: object = {}): Parameters<typeof define>[0] => ({
    workflows: [
      {
        workflow: 'one',
        input: {},
        nodes: { a: { kind: 'skill', skill: 'writer', input: { topic: '$.input.topic' }, ...nodeExtra } },
        output: { text: '$.nodes.a.output.text' },
      },
    ],
    skills: [skill(extra)],
    prompts: [
      Object.assign(
        {
          prompt: 'p',
          variables: { topic: { required: true }, tone: {}, feedback: {} },
          parameters: { temperature: 0 },
        },
        { body: 'Write about {{topic}}{{#tone}}, {{tone}}{{/tone}}.{{#feedback}} Mend: {{feedback}}{{/feedback}}' },
      ),
    ],
  });

  it('seed 000: 1. the input schema comes first: nothing is rendered or paid for what does not fit', async () => {
    const world = await seedWorld(
      one({
        prompt: 'p',
        input: { type: 'object', required: ['topic'], properties: { topic: { type: 'string', minLength: 3 } } },
      }),
      { script: answering },
    );
    const id = await world.submit({ input: { topic: 'x' } });
    expect((await world.settle(id)).failure).toMatchObject({ kind: 'invalid-input', code: 'skill-input' });
    expect(world.acme.arrivals).toHaveLength(0);
  });

  it('seed 000: 2. skill defaults, node and run parameters are merged, then the prompt’s model parameters', async () => {
    const world = await seedWorld(
      one(
        { prompt: 'p', defaults: { tone: 'plain', temperature: 1, maxOutputTokens: 10 } },
        { params: { tone: 'warm', maxOutputTokens: 20 } },
      ),
      { script: answering },
    );
    await world.settle(await world.submit({ input: { topic: 'tea' }, params: { a: { maxOutputTokens: 30 } } }));
    expect(world.acme.tasks[0]?.body).toEqual({
      prompt: 'Write about tea, warm.',
      temperature: 0,
      maxOutputTokens: 30,
    });
  });

  it('seed 000: 3. the prompt is rendered, and needs its required variables', async () => {
    const world = await seedWorld(one({ prompt: 'p' }), { script: answering });
    const id = await world.submit({ input: {} });
    expect((await world.settle(id)).failure).toMatchObject({ kind: 'invalid-input', code: 'prompt-variable' });
  });

  it('seed 000: 4. candidates without a key, or beyond a model’s limits, are passed over', async () => {
    const world = await seedWorld(
      {
        ...one({
          prompt: 'p',
          candidates: [
            { provider: 'nokey', model: 'text' },
            { provider: 'acme', model: 'text' },
          ],
        }),
        providers: { nokey: provider('nokey'), acme: provider('acme') },
      },
      { script: answering },
    );
    const id = await world.submit({ input: { topic: 'tea' } });
    expect((await world.settle(id)).status).toBe('succeeded');
  });

  it('seed 000: 5. the adapter is asked once, under a key that names execution, node and attempt', async () => {
    const world = await seedWorld(one({ prompt: 'p' }), { script: answering });
    const id = await world.submit({ input: { topic: 'tea' } });
    await world.settle(id);
    const [attempt] = await world.store.attempts(id);
    expect(world.acme.arrivals).toEqual([attempt?.key]);
    expect(attempt).toMatchObject({ executionId: id, nodePath: 'a', ordinal: 1, provider: 'acme', model: 'text' });
  });

  it('seed 000: 6. the output schema is checked; what does not fit is a failed attempt whose reasons feed the next', async () => {
    let answers = 0;
    const world = await seedWorld(
      one({
        prompt: 'p',
        parse: { as: 'json' },
        output: { type: 'object', required: ['text'], properties: { text: { type: 'string', minLength: 5 } } },
      }),
      {
        script: () => {
          answers += 1;
          return {
            submit: 'complete',
            output: { text: answers === 1 ? '{"text":"no"}' : '{"text":"long enough"}', finish: 'stop' },
          };
        },
      },
    );
    const id = await world.submit({ input: { topic: 'tea' } });
    expect((await world.settle(id)).output).toEqual({ text: 'long enough' });
    expect(world.acme.tasks[1]?.body['prompt']).toContain('Mend: the output does not fit its schema: /text');
  });

  it('seed 000: 7. kinds in fallback_on switch to the next candidate; no others do', async () => {
    const script = (): ReturnType<typeof answering> => ({
      submit: 'refuse',
      failure: { kind: 'rate-limit', code: '429', message: 'x' },
    });
    const both = {
      candidates: [
        { provider: 'acme', model: 'text' },
        { provider: 'backup', model: 'text' },
      ],
      retry: { attempts: 1 },
    };
    const yes = await seedWorld(one({ prompt: 'p', ...both, fallback_on: ['rate-limit'] }), {
      script,
      backupScript: answering,
    });
    expect((await yes.settle(await yes.submit({ input: { topic: 'tea' } }))).status).toBe('succeeded');
    const no = await seedWorld(one({ prompt: 'p', ...both, fallback_on: ['overload'] }), {
      script,
      backupScript: answering,
    });
    expect((await no.settle(await no.submit({ input: { topic: 'tea' } }))).failure?.kind).toBe('rate-limit');
  });

  it('seed 000: full JSON Schema at the edges, not a light one', async () => {
    const schema = {
      type: 'object',
      properties: { topic: { oneOf: [{ const: 'tea' }, { pattern: '^c' }] } },
      dependentRequired: { topic: ['x'] },
    };
    const world = await seedWorld(one({ prompt: 'p', input: schema }), { script: answering });
    expect((await world.settle(await world.submit({ input: { topic: 'tea' } }))).failure?.message).toContain('x');
  });
});

describe('seed 000: the planner', () => {
  const scene = (name: string): object => ({
    workflow: name,
    title: name,
    input: {},
    nodes: { a: { kind: 'function', function: 'echo', input: { scene: name } } },
    output: { scene: '$.nodes.a.output.scene' },
  });
  const planner = textSkill('planner', {
    input: {},
    defaults: { prompt: 'choose' },
    parse: { as: 'json' },
    output: { type: 'object', required: ['workflow'] },
  });
  const scenes = { workflows: [scene('cartoon'), scene('fusion')], skills: [planner] };
  const choosing = (choice: string) => () => ({
    submit: 'complete' as const,
    output: { text: `{"workflow":"${choice}","reasons":["two pictures"]}`, finish: 'stop' },
  });

  it('seed 000: chooses among an agent’s workflows; the choice and its reasons are an event', async () => {
    const world = await seedWorld(scenes, { script: choosing('fusion') });
    const id = await world.submit({ workflow: ['cartoon', 'fusion'], planner: 'planner', input: { request: 'x' } });
    expect(await world.settle(id)).toMatchObject({ workflow: 'fusion', output: { scene: 'fusion' } });
    expect((await world.eventsOf(id)).find((event) => event.type === 'workflow-chosen')?.data).toMatchObject({
      workflow: 'fusion',
      reasons: ['two pictures'],
    });
  });

  it('seed 000: the choice is reused on resume: the planner is not asked again', async () => {
    const world = await seedWorld(
      {
        ...scenes,
        workflows: [
          {
            ...scene('cartoon'),
            nodes: { a: { kind: 'skill', skill: 'painter', input: { prompt: 'x' } } },
            output: {},
          },
          scene('fusion'),
        ],
        skills: [planner, imageSkill('painter')],
      },
      {
        script: ({ model }) => (model === 'text-1' ? choosing('cartoon')() : { submit: 'accept', durationMs: 60_000 }),
      },
    );
    const id = await world.submit({ workflow: ['cartoon', 'fusion'], planner: 'planner' });
    await world.clock.advance(10_000);
    await world.restart();
    expect((await world.settle(id)).status).toBe('succeeded');
    expect(world.acme.tasks.map((task) => task.model)).toEqual(['text-1', 'image-1']);
  });

  it('seed 000: with one candidate there is nothing to choose; a choice outside the list fails in words', async () => {
    const world = await seedWorld(scenes, { script: choosing('nonsense') });
    expect((await world.settle(await world.submit({ workflow: ['fusion'] }))).output).toEqual({ scene: 'fusion' });
    expect(world.acme.arrivals).toHaveLength(0);
    const lost = await world.settle(await world.submit({ workflow: ['cartoon', 'fusion'], planner: 'planner' }));
    expect(lost.failure).toMatchObject({ kind: 'output-invalid', code: 'planner-choice' });
  });
});

describe('seed 000: reliability', () => {
  it('seed 000: submit returns the execution number at once; the work goes on behind', async () => {
    const world = await seedWorld(draft, { script: answering });
    const id = await world.submit({ input });
    expect((await world.execution(id)).endedAt).toBeUndefined();
    expect((await world.settle(id)).status).toBe('succeeded');
  });

  it('seed 000: the same idempotency key gives the same execution, also from two at once', async () => {
    const world = await seedWorld(draft, { script: answering });
    const request = { workflow: 'retouch', input, sourceRef: 'r', labels: {}, generation: 1, idempotencyKey: 'same' };
    const receipts = await running(
      world.clock,
      Promise.all([world.engine.submit(request), world.engine.submit(request), world.engine.submit(request)]),
    );
    const given = receipts.map((receipt) => (receipt.ok ? receipt.value : undefined));
    expect(new Set(given.map((each) => each?.executionId)).size).toBe(1);
    expect(given.filter((each) => each?.created === true)).toHaveLength(1);
  });

  it('seed 000: a snapshot: publishing a new version never changes what runs', async () => {
    const world = await seedWorld(draft, { script: answering });
    const id = await world.submit({ input });
    world.redefine({
      ...draft,
      workflows: [
        {
          ...retouch,
          nodes: {
            ...retouch.nodes,
            write_up: {
              kind: 'function',
              function: 'echo',
              input: { plan: 'changed', style: '$.nodes.style.output.text' },
            },
          },
        },
      ],
    });
    await world.clock.advance(3_000);
    await world.restart();
    expect((await world.settle(id)).output?.['plan']).toBe('about brighter');
    const later = await world.settle(await world.submit({ input }));
    expect(later.output?.['plan']).toBe('changed');
    expect((await world.execution(id)).planHash).not.toBe(later.planHash);
    expect(await world.store.blob(later.planHash)).toMatchObject({ format: 1, workflow: 'retouch' });
  });

  it('seed 000: a retry is a new execution with its parent', async () => {
    const world = await seedWorld(draft, { script: answering });
    const first = await world.submit({ input, sourceRef: 'r' });
    await world.settle(first);
    const second = await world.submit({ input, sourceRef: 'r', parentId: first });
    expect(await world.settle(second)).toMatchObject({ parentId: first, status: 'succeeded' });
  });

  it('seed 000: rerun from a node runs it and what depends on it anew, and reuses the rest', async () => {
    const world = await seedWorld(draft, { script: answering });
    const first = await world.submit({ input, sourceRef: 'r' });
    await world.settle(first);
    const before = world.acme.tasks.length;
    const second = await world.submit({ input, sourceRef: 'r', parentId: first, rerunFrom: 'draw' });
    await world.settle(second);
    expect(world.acme.tasks.slice(before).map((task) => task.model)).toEqual(['image-1']);
  });

  it('seed 000: incremental change: only what depends on the changed requirement runs again', async () => {
    const world = await seedWorld(draft, { script: answering });
    await world.settle(await world.submit({ input, sourceRef: 'r' }));
    const before = world.acme.tasks.length;
    await world.settle(await world.submit({ input: { ...input, style: 'water colour' }, sourceRef: 'r' }));
    expect(world.acme.tasks.slice(before).map((task) => task.body['prompt'])).toEqual(['water colour']);
  });

  it('seed 000: another generation asks for everything anew', async () => {
    const world = await seedWorld(draft, { script: answering });
    await world.settle(await world.submit({ input, sourceRef: 'r' }));
    const before = world.acme.tasks.length;
    await world.settle(await world.submit({ input, sourceRef: 'r', generation: 2 }));
    expect(world.acme.tasks.length).toBe(before * 2);
  });

  it('seed 000: breakpoint: ended nodes come back from the store, the waiting one goes on polling its job', async () => {
    const world = await seedWorld(draft, { script: answering });
    const id = await world.submit({ input });
    await world.clock.advance(5_000);
    await world.restart();
    expect((await world.settle(id)).status).toBe('succeeded');
    expect(world.acme.tasks).toHaveLength(3);
  });

  it('seed 000: cancel reaches the remote task', async () => {
    const world = await seedWorld(draft, { script: answering });
    const id = await world.submit({ input });
    await world.clock.advance(5_000);
    await running(world.clock, world.engine.cancel(id, 'staff'));
    expect((await world.settle(id)).status).toBe('canceled');
    expect(world.acme.cancels).toHaveLength(1);
  });

  it('seed 000: events are numbered and stored; anyone reads on from a number, and is woken instead of polling', async () => {
    const world = await seedWorld(draft, { script: answering });
    let wakes = 0;
    const off = world.store.onAppend(() => {
      wakes += 1;
    });
    const id = await world.submit({ input });
    await world.settle(id);
    off();
    const all = await world.eventsOf(id);
    const middle = all[5]?.seq ?? 0;
    expect((await world.store.events(middle, 1_000, { executionId: id })).map((event) => event.seq)).toEqual(
      all.slice(6).map((event) => event.seq),
    );
    expect(all.map((event) => event.seq)).toEqual(
      [...all.map((event) => event.seq)].sort((left, right) => left - right),
    );
    expect(wakes).toBeGreaterThan(0);
  });

  it('seed 000: the whole of a task can be seen: every node, attempt, vendor, cost and result', async () => {
    const world = await seedWorld(draft, { script: answering });
    const id = await world.submit({ input });
    await world.settle(id);
    expect((await world.store.nodes(id)).map((node) => node.path).sort()).toEqual([
      'draw',
      'style',
      'understand',
      'write_up',
    ]);
    expect(
      (await world.store.attempts(id))
        .map((attempt) => `${attempt.nodePath} ${attempt.provider}/${attempt.model} ${attempt.state}`)
        .sort(),
    ).toEqual(['draw acme/image succeeded', 'style acme/text succeeded', 'understand acme/text succeeded']);
    expect(await world.cny(id)).toBe(world.acme.bill());
  });

  it('seed 000: a dry run shows the plan, the most paid calls and the estimated cost, and calls nobody', () => {
    const compiled = compile(define({ ...draft, providers: { acme: provider('acme'), backup: provider('backup') } }));
    const plan = compiled.ok ? compiled.value.plans.get('retouch') : undefined;
    const told = describePlan(plan!, shippedSettings());
    expect(told).toMatchObject({
      mostPaidCalls: 18,
      estimatedCnyMicros: 100_000,
      mostCnyMicros: 600_000,
      unpriced: ['acme/text'],
    });
    expect(told.mermaid).toContain('understand --> draw');
  });
});
