import { describe, expect, it } from 'vitest';
import type { Failure, FailureKind } from '../../src/contract/index.ts';
import { createSeededRandom, createVirtualClock, type JsonObject } from '../../src/kernel/index.ts';
import { createCalendar, createEventServer } from '../../src/monitor/index.ts';
import { imageSkill, textSkill } from '../engine/support/definitions.ts';
import { running } from '../engine/support/world.ts';
import { answering, type SeedWorld, seedWorld } from './kit.ts';

const drawing = {
  workflows: [
    {
      workflow: 'draw',
      input: {},
      nodes: { draw: { kind: 'skill', skill: 'painter', input: { prompt: '$.input.prompt' } } },
      output: { images: '$.nodes.draw.output.images' },
    },
  ],
};
const both = {
  candidates: [
    { provider: 'acme', model: 'image' },
    { provider: 'backup', model: 'image' },
  ],
};
const failureOf = (kind: FailureKind): Failure => ({ kind, code: 'x', message: 'x' });

describe('seed 000: what is tried again, and what never', () => {
  it.each(['invalid-input', 'content-policy'] as const)(
    'seed 000: %s is never tried again, nor handed to another candidate',
    async (kind) => {
      const world = await seedWorld(
        { ...drawing, skills: [imageSkill('painter', { ...both, retry: { attempts: 5 } })] },
        { script: () => ({ submit: 'refuse', failure: failureOf(kind) }) },
      );
      const done = await world.settle(await world.submit({ input: { prompt: 'x' } }));
      expect(done.failure?.kind).toBe(kind);
      expect([world.acme.arrivals.length, world.backup.arrivals.length]).toEqual([1, 0]);
    },
  );

  it('seed 000: limits, timeouts, outages and bad output are tried again, and then go to the next candidate', async () => {
    for (const kind of ['rate-limit', 'overload', 'unavailable', 'network'] as const) {
      const world = await seedWorld(
        { ...drawing, skills: [imageSkill('painter', { ...both, retry: { attempts: 2 } })] },
        { script: () => ({ submit: 'refuse', failure: failureOf(kind) }) },
      );
      const done = await world.settle(await world.submit({ input: { prompt: 'x' } }));
      expect([kind, done.status]).toEqual([kind, 'succeeded']);
      expect([world.acme.arrivals.length, world.backup.arrivals.length]).toEqual([2, 1]);
    }
  });

  it('seed 000: a provider pauses after repeated failures, is probed, and goes on when it is well', async () => {
    const world = await seedWorld(
      { ...drawing, skills: [imageSkill('painter', { retry: { attempts: 10, delay: '1s' } })] },
      {
        script: ({ count }) =>
          count <= 5 ? { submit: 'refuse', failure: failureOf('overload') } : { submit: 'accept', durationMs: 5_000 },
      },
    );
    const ids = [];
    for (let row = 0; row < 6; row += 1) ids.push(await world.submit({ input: { prompt: `${row}` } }));
    await world.clock.advance(30_000);
    // Six rows that want to try ten times each have asked five times in all, and perhaps probed once.
    expect(world.acme.arrivals.length).toBeLessThanOrEqual(6);
    for (const id of ids) expect((await world.settle(id)).status).toBe('succeeded');
    const types = (await world.store.events(0, 10_000)).map((event) => event.type);
    expect(types.filter((type) => type === 'provider-paused')).toHaveLength(1);
    expect(types.filter((type) => type === 'provider-resumed')).toHaveLength(1);
  });

  it('seed 000: on_failure fallback: another node, or the last good result, and both are told', async () => {
    let isBroken = false;
    const skill = textSkill('writer');
    const flow = (fallback: unknown): Parameters<typeof seedWorld>[0] => ({
      workflows: [
        {
          workflow: 'w',
          input: {},
          nodes: {
            write: { kind: 'skill', skill: 'writer', input: { prompt: '$.input.prompt' }, on_failure: { fallback } },
            spare: { kind: 'function', function: 'echo', input: { text: 'from the shelf' } },
          },
          output: { text: '$.nodes.write.output.text' },
        },
      ],
      skills: [skill],
    });
    const script = (call: Parameters<typeof answering>[0]): ReturnType<typeof answering> =>
      isBroken ? { submit: 'refuse', failure: failureOf('auth') } : answering(call);
    const last = await seedWorld(flow('last_good'), { script });
    await last.settle(await last.submit({ input: { prompt: 'one' }, sourceRef: 'r' }));
    isBroken = true;
    expect(await last.settle(await last.submit({ input: { prompt: 'two' }, sourceRef: 'r' }))).toMatchObject({
      status: 'succeeded',
      output: { text: 'about one' },
      marks: [{ kind: 'degraded' }],
    });
    const spare = await seedWorld(flow({ node: 'spare' }), { script });
    expect(await spare.settle(await spare.submit({ input: { prompt: 'two' } }))).toMatchObject({
      output: { text: 'from the shelf' },
      marks: [{ kind: 'degraded' }],
    });
  });
});

describe('seed 000: cancel', () => {
  const slow = { ...drawing, skills: [imageSkill('painter')] };

  it('seed 000: cancel settles the bill where the vendor cannot be stopped, and keeps what still comes', async () => {
    const script = () => ({ submit: 'accept' as const, durationMs: 300_000, costMicros: 70_000 });
    const world = await seedWorld(
      { ...slow, skills: [imageSkill('painter', { candidates: [{ provider: 'backup', model: 'image' }] })] },
      { backupScript: script },
    );
    const id = await world.submit({ input: { prompt: 'x' } });
    await world.clock.advance(5_000);
    await running(world.clock, world.engine.cancel(id, 'staff'));
    expect((await world.settle(id)).status).toBe('canceled');
    await world.clock.advance(600_000);
    expect(await world.cny(id)).toBe(70_000);
    expect((await world.outbox()).map((entry) => entry.message.kind)).toEqual(['ended', 'late-result']);
  });

  it('seed 000: cancel races acceptance safely: whenever it comes, one purchase at most, and the ledger is the vendor’s bill', async () => {
    const random = createSeededRandom(11);
    const ends = new Set<string>();
    for (let round = 0; round < 60; round += 1) {
      const canCancel = round % 2 === 0;
      const script = () => ({ submit: 'accept' as const, submitMs: 400, durationMs: 2_000, costMicros: 50_000 });
      const provider = canCancel ? 'acme' : 'backup';
      const world = await seedWorld(
        { ...slow, skills: [imageSkill('painter', { candidates: [{ provider, model: 'image' }] })] },
        { script, backupScript: script },
      );
      const id = await world.submit({ input: { prompt: 'x' } });
      // From before the request leaves to after the result has been told.
      await world.clock.advance(Math.floor(random.next() * 9_000));
      await running(world.clock, world.engine.cancel(id, 'staff'));
      if (round % 3 === 0) await world.restart();
      const done = await world.settle(id);
      await world.clock.advance(1_200_000);
      const vendor = canCancel ? world.acme : world.backup;
      const [attempt] = await world.store.attempts(id);
      ends.add(`${done.status}, ${attempt?.state ?? 'nothing'}`);
      expect(vendor.arrivals.length, `round ${round}`).toBeLessThanOrEqual(1);
      // Killed while the request was under way, nobody knows: the sum stays at risk, and it is not bought again.
      if (attempt?.state === 'unknown') expect(round % 3).toBe(0);
      else expect(await world.cny(id), `round ${round}`).toBe(vendor.bill());
    }
    expect([...ends].sort()).toEqual([
      'canceled, canceled',
      'canceled, succeeded',
      'canceled, unknown',
      'succeeded, succeeded',
    ]);
  });
});

describe('seed 000: history explains itself', () => {
  it('seed 000: a snapshot by content: workflow, skills, prompts, routes, chosen pictures and earlier results', async () => {
    const prompt = {
      prompt: 'p',
      version: 3,
      variables: { topic: { required: true } },
      body: 'Write about {{topic}}.',
    };
    const world = await seedWorld(
      {
        workflows: [
          {
            workflow: 'w',
            version: 7,
            input: {},
            nodes: {
              write: { kind: 'skill', skill: 'writer', input: { topic: '$.input.topic' } },
              draw: {
                kind: 'skill',
                skill: 'painter',
                input: { prompt: '$.nodes.write.output.text', images: '$.input.photos' },
              },
            },
            output: { images: '$.nodes.draw.output.images' },
          },
        ],
        prompts: [prompt],
        skills: [textSkill('writer', { prompt: 'p', input: {} }), imageSkill('painter', { input: {}, ...both })],
      },
      { script: answering },
    );
    const photos = [{ kind: 'artifact', hash: 'ab'.repeat(32), sizeBytes: 9, mime: 'image/png', name: '原图.png' }];
    const input: JsonObject = { topic: 'tea', photos };
    const first = await world.submit({ input, sourceRef: 'r', labels: { agent: 'studio', stage: 'one' } });
    const { planHash } = await world.settle(first);
    const again = await world.submit({ input: { ...input, photos: [] }, sourceRef: 'r', parentId: first });
    const second = await world.settle(again);
    // Content-addressed: the same configuration is stored once, and both executions name it.
    expect(second.planHash).toBe(planHash);
    const plan = JSON.stringify(await world.store.blob(planHash));
    for (const part of ['"version":7', 'Write about {{topic}}.', '"provider":"backup"', '"painter"'])
      expect(plan).toContain(part);
    const record = await world.execution(first);
    expect(record).toMatchObject({ input: { photos }, labels: { agent: 'studio' } });
    const reused = (await world.eventsOf(again)).find((event) => event.type === 'node-reused');
    const [bought] = await world.store.attempts(first);
    expect(reused?.data).toEqual({ node: 'write', attempt: bought?.id });
    expect(bought?.executionId).toBe(first);
  });
});

describe('seed 000: the event stream', () => {
  const host = 'http://127.0.0.1:4300';

  function streamed(world: SeedWorld) {
    const handle = createEventServer({
      store: world.store,
      clock: world.clock,
      logger: world.deps.logger,
      calendar: createCalendar('Asia/Shanghai'),
      page: () => Promise.resolve(undefined),
      data: () => Promise.resolve(undefined),
    });
    return async (query: string, lastEventId?: number) => {
      const headers = lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) };
      const response = await handle(new Request(`${host}/events${query}`, { headers }));
      const reader = response.body!.getReader();
      const decoder = new TextDecoder();
      return {
        status: response.status,
        /** The numbers and types of the next frame. */
        next: async (): Promise<readonly string[]> => {
          const { value } = await reader.read();
          const frames = decoder.decode(value).split('\n\n');
          return frames.flatMap((frame) => {
            const id = /^id: (\d+)$/m.exec(frame)?.[1];
            const type = /"type":"([^"]+)"/.exec(frame)?.[1];
            return id === undefined ? [] : [`${id} ${type ?? ''}`];
          });
        },
        close: async () => {
          await reader.cancel();
        },
      };
    };
  }

  const flow = {
    workflows: [
      { workflow: 'w', input: {}, nodes: { a: { kind: 'function', function: 'echo', input: { x: 1 } } }, output: {} },
    ],
  };

  it('seed 000: a browser that comes back with Last-Event-ID gets what it missed, once', async () => {
    const world = await seedWorld(flow);
    const id = await world.submit();
    await world.settle(id);
    const all = (await world.store.events(0, 1_000)).map((event) => `${event.seq} ${event.type}`);
    const open = streamed(world);
    const back = await open('', 2);
    await back.next();
    expect(await back.next()).toEqual(all.slice(2));
    await back.close();
  });

  it('seed 000: it is fed by the commit that made the news, not by looking every 500 ms', async () => {
    const world = await seedWorld(flow, { clock: createVirtualClock() });
    const open = streamed(world);
    const live = await open('', 0);
    await live.next();
    const news = live.next();
    await world.clock.advance(0);
    const before = world.clock.monotonicMs();
    const id = await world.submit();
    expect((await news).length).toBeGreaterThan(0);
    expect(world.clock.monotonicMs() - before).toBeLessThan(100);
    await live.close();
    expect((await world.settle(id)).status).toBe('succeeded');
  });

  it('seed 004: several subscribers follow the same events, each with a filter of its own', async () => {
    const world = await seedWorld(flow);
    const open = streamed(world);
    const first = await world.submit();
    await world.settle(first);
    const second = await world.submit();
    await world.settle(second);
    const seen = async (query: string): Promise<readonly string[]> => {
      const stream = await open(query, 0);
      await stream.next();
      const frame = await stream.next();
      await stream.close();
      return frame.map((line) => line.replace(/^\d+ /, ''));
    };
    const everything = await seen('');
    expect(everything.length).toBeGreaterThan(8);
    expect(await seen('?type=execution-ended')).toEqual(['execution-ended', 'execution-ended']);
    expect(await seen(`?execution=${second}&type=execution-ended,node-started`)).toEqual([
      'node-started',
      'execution-ended',
    ]);
    expect(await seen(`?execution=${first}`)).toEqual(await world.types(first));
    expect((await open('?execution=nobody', 0)).status).toBe(400);
  });
});
