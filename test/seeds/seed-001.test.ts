import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createVirtualClock, type JsonObject, silentLogger, sleep } from '../../src/kernel/index.ts';
import type { NodeFunction } from '../../src/engine/ports/index.ts';
import { createSqliteStore } from '../../src/store/index.ts';
import { textSkill } from '../engine/support/definitions.ts';
import type { Script } from '../engine/support/vendor.ts';
import { answering, promptOf, seedWorld } from './kit.ts';

/** The seed's own picture: intent → (knowledge, context) → fusion → writing → check. */
const content = {
  workflow: 'content',
  input: { type: 'object', properties: { need: { type: 'string' } } },
  nodes: {
    intent: { kind: 'skill', skill: 'writer', input: { prompt: '$.input.need' } },
    knowledge: { kind: 'function', function: 'slow', input: { of: '$.nodes.intent.output.text', ms: 300 } },
    context: { kind: 'function', function: 'slow', input: { of: '$.nodes.intent.output.text', ms: 200 } },
    fusion: {
      kind: 'function',
      function: 'echo',
      input: { knowledge: '$.nodes.knowledge.output.of', context: '$.nodes.context.output.of' },
    },
    draft: { kind: 'skill', skill: 'author', input: { prompt: '$.nodes.fusion.output.context' } },
  },
  output: { text: '$.nodes.draft.output.text' },
};

const judge = textSkill('judge', { input: {}, defaults: { prompt: 'judge' }, parse: { as: 'json' } });

/** The judge refuses the first `times` drafts. */
function refusing(times: number): Script {
  let refused = 0;
  return ({ body }) => {
    const prompt = promptOf(body['prompt']);
    if (!prompt.startsWith('judge'))
      return { submit: 'complete', output: { text: `draft for: ${prompt}`, finish: 'stop' } };
    refused += 1;
    const verdict = refused <= times ? '{"ok":false,"reasons":["too dry"]}' : '{"ok":true,"reasons":[]}';
    return { submit: 'complete', output: { text: verdict, finish: 'stop' } };
  };
}

function world(script: Script, author: object = {}): ReturnType<typeof seedWorld> {
  const clock = createVirtualClock();
  const slow: NodeFunction = async (input, signal) => {
    await sleep(clock, Number(input['ms']), signal);
    return { ok: true, value: input };
  };
  return seedWorld(
    {
      workflows: [content],
      skills: [textSkill('writer'), textSkill('author', { verify: [{ judge: 'judge' }], ...author }), judge],
    },
    { clock, script, functions: { slow } },
  );
}

describe('seed 001', () => {
  it('seed 001: what to do is declared; the order and what runs side by side follow from it', async () => {
    const it001 = await world(refusing(0));
    const startMs = it001.clock.monotonicMs();
    const id = await it001.submit({ input: { need: 'tea' } });
    expect((await it001.settle(id)).status).toBe('succeeded');
    // Knowledge and context side by side: 300 ms, not 500.
    expect(it001.clock.monotonicMs() - startMs).toBeLessThan(450);
  });

  it('seed 001: quality gate: a refused draft goes back with the reasons, and the graph stays without cycles', async () => {
    const it001 = await world(refusing(1));
    const id = await it001.submit({ input: { need: 'tea' } });
    expect((await it001.settle(id)).status).toBe('succeeded');
    const drafts = it001.acme.tasks.filter((task) => !promptOf(task.body['prompt']).startsWith('judge')).slice(1);
    expect(drafts).toHaveLength(2);
    expect(drafts[1]?.body['prompt']).toContain('too dry');
    expect(await it001.types(id)).toContain('output-refused');
  });

  it('seed 001: quality gate: bounded by the paid calls of the node, the judge’s included', async () => {
    const it001 = await world(refusing(100), { max_paid_calls: 5, retry: { attempts: 10 } });
    const id = await it001.submit({ input: { need: 'tea' } });
    expect((await it001.settle(id)).failure?.kind).toBe('output-invalid');
    // One for the intent; draft, verdict, draft, verdict; a fifth call would be a draft that nobody could judge.
    expect(it001.acme.tasks).toHaveLength(1 + 4);
  });

  it('seed 001: after a fault it goes on at the last good step, not at the beginning', async () => {
    let isBroken = true;
    const it001 = await world(({ body, ...rest }) => {
      const prompt = promptOf(body['prompt']);
      if (prompt !== 'tea' && isBroken)
        return { submit: 'refuse', failure: { kind: 'auth', code: '401', message: 'x' } };
      return refusing(0)({ body, ...rest });
    });
    const first = await it001.submit({ input: { need: 'tea' }, sourceRef: 'r' });
    expect((await it001.settle(first)).status).toBe('failed');
    isBroken = false;
    await it001.clock.advance(400_000);
    const second = await it001.submit({ input: { need: 'tea' }, sourceRef: 'r', parentId: first });
    expect((await it001.settle(second)).status).toBe('succeeded');
    expect(it001.acme.tasks.filter((task) => task.body['prompt'] === 'tea')).toHaveLength(1);
    expect(await it001.types(second)).toContain('node-reused');
  });

  it('seed 001: retries per node: exponential, with full jitter, only for the kinds named', async () => {
    const arrivals: number[] = [];
    const clock = createVirtualClock();
    const it001 = await seedWorld(
      {
        workflows: [
          {
            workflow: 'w',
            input: {},
            nodes: {
              a: {
                kind: 'skill',
                skill: 'writer',
                input: { prompt: 'x' },
                retry: { attempts: 6, delay: '1s', factor: 2, max_delay: '60s', on: ['overload'] },
              },
            },
            output: {},
          },
        ],
        skills: [textSkill('writer')],
      },
      {
        clock,
        script: () => {
          arrivals.push(clock.monotonicMs());
          return {
            submit: 'refuse',
            failure: { kind: arrivals.length < 5 ? 'overload' : 'unavailable', code: 'x', message: 'x' },
          };
        },
      },
    );
    await it001.settle(await it001.submit());
    expect(arrivals).toHaveLength(5);
    const gaps = arrivals.slice(1).map((at, index) => at - (arrivals[index] ?? 0));
    for (const [index, gap] of gaps.entries()) expect(gap).toBeLessThanOrEqual(1_000 * 2 ** index + 50);
    expect(new Set(gaps).size).toBe(gaps.length);
  });

  it('seed 001: tokens are counted, and priced by the table', async () => {
    const it001 = await seedWorld(
      { workflows: [content], skills: [textSkill('writer'), textSkill('author')] },
      { script: answering, functions: { slow: (input) => Promise.resolve({ ok: true, value: input }) } },
    );
    const id = await it001.submit({ input: { need: 'tea' } });
    await it001.settle(id);
    expect(await it001.cny(id)).toBe(2_000);
    expect((await it001.store.charges({ executionId: id }))[0]).toMatchObject({ source: 'vendor', state: 'settled' });
  });

  it('seed 001: the state lives in a store, in memory or on disk: the same run either way, and the disk keeps it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gridloom-seed-'));
    const path = join(folder, 'state.db');
    const draft = { workflows: [content], skills: [textSkill('writer'), textSkill('author')] };
    const functions = { slow: (input: JsonObject) => Promise.resolve({ ok: true as const, value: input }) };
    const runOn = async (where: string) => {
      const clock = createVirtualClock();
      const store = createSqliteStore({ path: where, clock, logger: silentLogger });
      const it001 = await seedWorld(draft, { script: answering, functions, clock, store });
      const id = await it001.submit({ input: { need: 'tea' } });
      const { status, output } = await it001.settle(id);
      await it001.engine.stop(0);
      await store.close();
      return { id, seen: { status, output } };
    };
    try {
      const inMemory = await runOn(':memory:');
      const onDisk = await runOn(path);
      expect(onDisk.seen).toEqual(inMemory.seen);
      const reopened = createSqliteStore({ path, clock: createVirtualClock(), logger: silentLogger });
      expect(await reopened.execution(onDisk.id)).toMatchObject(onDisk.seen);
      await reopened.close();
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
