import { describe, expect, it } from 'vitest';
import { StorageError, type StoreCommand } from '../../src/engine/ports/index.ts';
import { createVirtualClock } from '../../src/kernel/index.ts';
import { define, imageSkill, imageWorkflow, provider, shippedSettings } from '../engine/support/definitions.ts';
import { pictureWorld } from '../engine/support/picture-world.ts';
import { createScriptedVendor, type ScriptedVendor } from '../engine/support/vendor.ts';
import { createWorld, running, type World } from '../engine/support/world.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** The times between the first and the last of a list of moments. */
const spanMs = (moments: readonly number[]): number => Math.max(...moments) - Math.min(...moments);

describe('P064 an unrelated wake-up', () => {
  it('P064 the same purchase asked for again, sweeps and another configuration start nothing a second time', async () => {
    const clock = createVirtualClock();
    const acme = createScriptedVendor({ clock, script: () => ({ submit: 'accept', durationMs: 5 * minuteMs }) });
    let definitions = define({ workflows: [imageWorkflow()], skills: [imageSkill('painter')] });
    const world = await createWorld({
      definitions,
      clock,
      providers: new Map([['acme', acme.provider]]),
      deps: { definitions: () => definitions },
    });
    const request = { input: { prompt: 'x' }, idempotencyKey: 'row1', sourceRef: 'row1' };
    const id = await world.submit(request);
    await clock.advance(30_000);
    definitions = define({
      workflows: [imageWorkflow('draw', { version: 2, title: 'edited' })],
      skills: [imageSkill('painter', { version: 2, defaults: { ratio: '1:1' } })],
    });
    expect(await world.submit(request)).toBe(id);
    await clock.advance(30_000);
    expect(acme.arrivals).toHaveLength(1);
    expect((await world.settle(id)).status).toBe('succeeded');
    expect(acme.arrivals).toHaveLength(1);
  });

  it('P064 twin: another key is another purchase', async () => {
    const world = await pictureWorld();
    await world.draw('x', { idempotencyKey: 'one', generation: 1 });
    await world.draw('x', { idempotencyKey: 'two', generation: 2 });
    expect(world.acme.arrivals).toHaveLength(2);
  });
});

describe('P091 a resume', () => {
  it('P091 asks only the vendor: inputs that are gone by then are not looked at again', async () => {
    let areInputsGone = false;
    const world = await pictureWorld({
      script: () => ({ submit: 'accept', durationMs: 5 * minuteMs }),
      acme: {
        refusePrepare: () =>
          areInputsGone ? { kind: 'invalid-input', code: 'no-file', message: 'the picture is gone' } : undefined,
      },
    });
    const id = await world.submit({ input: { prompt: 'x' } });
    await world.clock.advance(30_000);
    areInputsGone = true;
    await world.restart();
    expect((await world.settle(id)).status).toBe('succeeded');
    expect(world.acme.arrivals).toHaveLength(1);
    expect(await world.cny(id)).toBe(world.acme.bill());
    const other = await world.draw('twin: a new purchase does look at them');
    expect((await world.execution(other)).failure?.code).toBe('no-file');
  });
});

describe('P092 many tasks in flight at a restart', () => {
  it('P092 the looks at them are spread, and refused looks count against nobody', async () => {
    const clock = createVirtualClock();
    const acme = createScriptedVendor({ clock, script: () => ({ submit: 'accept', durationMs: 20 * minuteMs }) });
    const adapter = acme.provider.adapters[0];
    const poll = adapter?.poll?.bind(adapter);
    let refusals = 0;
    if (adapter !== undefined && poll !== undefined) {
      adapter.poll = async (handle, signal) => {
        const outcome = await poll(handle, signal);
        if (refusals === 0) return outcome;
        refusals -= 1;
        return { kind: 'check-failed', failure: { kind: 'rate-limit', code: '429', message: 'slow down' } };
      };
    }
    const world = await createWorld({
      definitions: define({ workflows: [imageWorkflow()], skills: [imageSkill('painter')] }),
      clock,
      settings: shippedSettings((settings) => ({
        vendor_poll: { ...settings.vendor_poll, image: { ...settings.vendor_poll.image, deadline: 60 * minuteMs } },
      })),
      providers: new Map([['acme', acme.provider]]),
    });
    const ids = [];
    for (let row = 0; row < 40; row += 1) ids.push(await world.submit({ input: { prompt: `${row}` } }));
    await clock.advance(60_000);
    world.kill();
    await clock.advance(60_000);
    const before = acme.polls.length;
    refusals = 60;
    await world.restart();
    const startedMs = clock.nowMs();
    await clock.advance(3_000);
    const first = acme.polls.slice(before, before + 40);
    expect(new Set(first.map((each) => each.taskId)).size).toBe(40);
    expect(spanMs(first.map((each) => each.at))).toBeGreaterThan(1_000);
    const perTenth = new Map<number, number>();
    for (const { at } of first) {
      const tenth = Math.floor((at - startedMs) / 100);
      perTenth.set(tenth, (perTenth.get(tenth) ?? 0) + 1);
    }
    expect(Math.max(...perTenth.values())).toBeLessThan(12);
    for (const id of ids) expect((await world.settle(id)).status).toBe('succeeded');
    expect(acme.arrivals).toHaveLength(40);
  });
});

describe('P121 two branches that end at different times', () => {
  it('P121 each vendor is called once, and the join runs once', async () => {
    const clock = createVirtualClock();
    const [quick, slow] = [5_000, 60_000].map((durationMs, at) =>
      createScriptedVendor({
        clock,
        name: at === 0 ? 'acme' : 'backup',
        script: () => ({ submit: 'accept', durationMs }),
      }),
    ) as [ScriptedVendor, ScriptedVendor];
    let joins = 0;
    const world = await createWorld({
      clock,
      definitions: define({
        workflows: [
          {
            workflow: 'w',
            input: {},
            nodes: {
              picture: { kind: 'skill', skill: 'painter', input: { prompt: 'p' } },
              voice: { kind: 'skill', skill: 'speaker', input: { prompt: 'v' } },
              both: {
                kind: 'function',
                function: 'join',
                input: { p: '$.nodes.picture.output.images', v: '$.nodes.voice.output.images' },
              },
            },
            output: { count: '$.nodes.both.output.count' },
          },
        ],
        skills: [
          imageSkill('painter'),
          imageSkill('speaker', { candidates: [{ provider: 'backup', model: 'image' }] }),
        ],
        providers: { acme: provider('acme'), backup: provider('backup') },
      }),
      providers: new Map([
        ['acme', quick.provider],
        ['backup', slow.provider],
      ]),
      functions: {
        join: () => {
          joins += 1;
          return Promise.resolve({ ok: true, value: { count: 2 } });
        },
      },
    });
    const id = await world.submit({ input: {} });
    expect((await world.settle(id)).output).toEqual({ count: 2 });
    expect([quick.arrivals.length, slow.arrivals.length, joins]).toEqual([1, 1, 1]);
  });
});

describe('P137 a hiccup of the database while work is taken up', () => {
  it('P137 loses none of ten executions', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'accept', durationMs: 5 * minuteMs }) });
    const ids = [];
    for (let row = 0; row < 10; row += 1) ids.push(await world.submit({ input: { prompt: `${row}` } }));
    await world.clock.advance(30_000);
    world.kill();
    let claims = 0;
    let refused = 0;
    const { store } = world;
    const commit = store.commit.bind(store);
    store.commit = (commands: readonly StoreCommand[]) => {
      if (!commands.some((command) => command.type === 'claim-execution')) return commit(commands);
      claims += 1;
      if (claims !== 3 && claims !== 11) return commit(commands);
      refused += 1;
      return Promise.reject(new StorageError('SQLITE_BUSY: database is locked'));
    };
    await world.restart();
    for (const id of ids) expect((await world.settle(id)).status).toBe('succeeded');
    expect(refused).toBe(2);
    expect(world.acme.arrivals).toHaveLength(10);
  });
});

describe('P146 identity of steps', () => {
  it('P146 another rhythm after a restart repeats no finished item; another round buys all of them', async () => {
    const clock = createVirtualClock();
    const acme = createScriptedVendor({
      clock,
      script: ({ count }) => ({ submit: 'accept', durationMs: count <= 3 ? 10_000 : 5 * minuteMs }),
    });
    const world = await createWorld({
      clock,
      definitions: define({
        workflows: [
          {
            workflow: 'w',
            input: {},
            nodes: {
              shots: {
                kind: 'map',
                over: '$.input.list',
                max_items: 6,
                concurrency: 6,
                input: { prompt: '$.item' },
                body: { skill: 'painter' },
              },
            },
            output: { images: '$.nodes.shots.output.items[*].images[*]' },
          },
        ],
        skills: [imageSkill('painter')],
      }),
      providers: new Map([['acme', acme.provider]]),
    });
    const request = { input: { list: ['a', 'b', 'c', 'd', 'e', 'f'] }, sourceRef: 'row' };
    const id = await world.submit(request);
    await clock.advance(60_000);
    const paths = (await world.store.attempts(id)).map((attempt) => attempt.nodePath);
    expect(new Set(paths).size).toBe(6);
    await world.restart({
      settings: shippedSettings((settings) => ({
        vendor_poll: { ...settings.vendor_poll, image: { ...settings.vendor_poll.image, interval: 27_000 } },
      })),
    });
    expect((await world.settle(id)).output?.['images']).toHaveLength(6);
    expect(acme.arrivals).toHaveLength(6);
    const again = await world.submit({ ...request, generation: 2 });
    expect((await world.settle(again)).output?.['images']).toHaveLength(6);
    expect(acme.arrivals).toHaveLength(12);
    expect(new Set(acme.arrivals).size).toBe(12);
  });
});

describe('P147 waiting past the due time', () => {
  const dead = async (): Promise<{
    world: Awaited<ReturnType<typeof pictureWorld>>;
    id: Awaited<ReturnType<World['submit']>>;
  }> => {
    const world = await pictureWorld({ script: () => ({ submit: 'accept', durationMs: 5 * minuteMs }) });
    const id = await world.submit({ input: { prompt: 'x' } });
    await world.clock.advance(30_000);
    world.kill();
    await world.clock.advance(2 * dayMs);
    return { world, id };
  };

  it('P147 what fell due while the process was down for two days is looked at in the first seconds', async () => {
    const { world, id } = await dead();
    await world.restart();
    await world.clock.advance(3_000);
    expect((await world.execution(id)).status).toBe('succeeded');
    expect(world.acme.arrivals).toHaveLength(1);
  });

  it.each([['not a time'], [null], [-1], [9_007_199_254_740_991]])(
    'P147 a stored time that is none (%j) is no reason to wait',
    async (acceptedAt) => {
      const { world, id } = await dead();
      const [attempt] = await world.attempts(id);
      const record = { ...attempt!, acceptedAt: acceptedAt as unknown as number };
      await world.store.commit([{ type: 'put-attempt', record, expected: ['accepted'] }]);
      await world.restart();
      await world.clock.advance(3_000);
      expect((await world.execution(id)).status).toBe('succeeded');
    },
  );

  it('P147 a retry that a vendor asked to wait for goes on although its moment passed while the process was down', async () => {
    const world = await pictureWorld({
      script: ({ count }) =>
        count === 1
          ? { submit: 'refuse', failure: { kind: 'rate-limit', code: '429', message: 'later', retryAfterMs: 600_000 } }
          : { submit: 'accept' },
    });
    const id = await world.submit({ input: { prompt: 'x' } });
    await world.clock.advance(5_000);
    world.kill();
    await world.clock.advance(2 * dayMs);
    await world.restart();
    await world.clock.advance(30_000);
    expect((await world.execution(id)).status).toBe('succeeded');
    expect(world.acme.arrivals).toHaveLength(2);
  });
});

describe('P157 a long step', () => {
  it.each([16, 89])('P157 a film of %i minutes is bought once, whatever sweeps past it', async (minutes) => {
    const world = await pictureWorld({
      script: () => ({ submit: 'accept', durationMs: minutes * minuteMs }),
      settings: (settings) => ({
        vendor_poll: { ...settings.vendor_poll, image: { ...settings.vendor_poll.image, deadline: 90 * minuteMs } },
      }),
    });
    const id = await world.draw();
    expect((await world.execution(id)).status).toBe('succeeded');
    expect(world.acme.arrivals).toHaveLength(1);
    expect((await world.attempts(id))[0]?.deadlineMs).toBe(90 * minuteMs);
  });

  it('P157 twin: the deadline that is set is the one that acts', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'accept', durationMs: 16 * minuteMs }) });
    const id = await world.draw();
    expect((await world.execution(id)).status).toBe('held');
    expect((await world.attempts(id))[0]).toMatchObject({ state: 'overdue', deadlineMs: 10 * minuteMs });
  });
});

describe('P141 an event loop that stood still', () => {
  it('P141 forty seconds without a turn: the task goes on under the same handle, nothing is sent again', async () => {
    const clock = createVirtualClock();
    let extraMs = 0;
    const acme = createScriptedVendor({ clock, script: () => ({ submit: 'accept', durationMs: 2 * minuteMs }) });
    const world = await createWorld({
      clock,
      definitions: define({ workflows: [imageWorkflow()], skills: [imageSkill('painter')] }),
      providers: new Map([['acme', acme.provider]]),
      deps: {
        clock: {
          nowMs: () => clock.nowMs() + extraMs,
          monotonicMs: () => clock.monotonicMs() + extraMs,
          after: (delayMs, run) => clock.after(delayMs, run),
        },
      },
    });
    const id = await world.submit({ input: { prompt: 'x' } });
    await clock.advance(20_000);
    // Both clocks went on and no timer fired: what a blocked loop looks like from inside.
    extraMs = 40_000;
    await clock.advance(10_000);
    const { epoch } = await world.execution(id);
    expect(acme.arrivals).toHaveLength(1);
    expect((await world.settle(id)).status).toBe('succeeded');
    expect(acme.arrivals).toHaveLength(1);
    expect((await world.execution(id)).epoch).toBe(epoch);
    await running(clock, world.engine.stop(1_000));
  });
});
