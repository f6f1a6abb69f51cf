import { describe, expect, it } from 'vitest';
import {
  type Clock,
  createIdSource,
  createSeededRandom,
  createVirtualClock,
  Secret,
  silentLogger,
} from '../../src/kernel/index.ts';
import { createMemorySpool } from '../../src/media/index.ts';
import { providerFactories } from '../../src/providers/index.ts';
import { createInProcessFetch, createPlainPainter, createSandbox } from '../../src/sandbox/index.ts';
import { define, imageSkill, imageWorkflow, shippedSettings } from '../engine/support/definitions.ts';
import { createWorld } from '../engine/support/world.ts';

const account = {
  vendor: 'dashscope',
  key: 'x',
  base_url: 'http://127.0.0.1:7010/dashscope',
  models: {
    image: {
      capability: ['image.generate'],
      implementation: 'dashscope.image',
      model: 'wan2.2-t2i-plus',
      fields: { prompt: { name: 'input.prompt' }, count: { name: 'parameters.n', as: 'integer', default: 1 } },
      price: { currency: 'CNY', dated: '2026-01-01', items: [{ unit: 'images', amount: '0.2' }] },
    },
  },
};

/** The engine on the local DashScope, whose clock is right; the worker's is wrong by what `skew` says. */
async function skewedWorld(skew: { ms: number }) {
  const clock = createVirtualClock();
  const workerClock: Clock = {
    nowMs: () => clock.nowMs() + skew.ms,
    monotonicMs: () => clock.monotonicMs(),
    after: (delayMs, run) => clock.after(delayMs, run),
  };
  const random = createSeededRandom(7);
  const painter = createPlainPainter();
  const sandbox = createSandbox({ clock, random, baseUrl: 'http://127.0.0.1:7010', tables: [], painter });
  const provider = providerFactories['dashscope']!({
    account: { id: 'dashscope', baseUrl: account.base_url, key: new Secret('any-key'), proxy: 'direct' },
    fetch: createInProcessFetch(sandbox),
    clock: workerClock,
    ids: createIdSource(workerClock, random),
    logger: silentLogger,
    media: createMemorySpool(),
    timeouts: { connectMs: 15_000, submitMs: 180_000, queryMs: 30_000, textMs: 180_000 },
  });
  const world = await createWorld({
    definitions: define({
      workflows: [imageWorkflow('draw')],
      skills: [imageSkill('painter', { candidates: [{ provider: 'dashscope', model: 'image' }] })],
      providers: { dashscope: account },
    }),
    clock,
    settings: shippedSettings(),
    providers: new Map([['dashscope', provider]]),
    deps: { clock: workerClock },
  });
  return { world, sandbox };
}

describe('a submit at DashScope whose answer was lost, with a worker whose clock is wrong', () => {
  it.each([
    ['right', 0],
    ['5 minutes ahead', 300_000],
    ['10 minutes behind', -600_000],
    ['2 hours ahead', 7_200_000],
  ])('is found, and never bought again: %s', async (_what, ms) => {
    const { world, sandbox } = await skewedWorld({ ms });
    sandbox.faults.add({ endpoint: 'dashscope.image.create', action: { kind: 'drop-after' } });
    const id = await world.submit({ input: { prompt: 'a cat' } });
    await world.settle(id);
    expect((await world.execution(id)).status).toBe('succeeded');
    expect((await world.store.attempts(id)).map((each) => each.state)).toEqual(['succeeded']);
    expect(sandbox.books.acceptedTasks()).toHaveLength(1);
  });

  it('is found when the clock is put right between submit and search', async () => {
    const skew = { ms: 300_000 };
    const { world, sandbox } = await skewedWorld(skew);
    sandbox.faults.add({ endpoint: 'dashscope.image.create', action: { kind: 'drop-after' } });
    const id = await world.submit({ input: { prompt: 'a cat' } });
    await world.clock.advance(2_000);
    skew.ms = 0;
    await world.settle(id);
    expect((await world.store.attempts(id)).map((each) => each.state)).toEqual(['succeeded']);
    expect(sandbox.books.acceptedTasks()).toHaveLength(1);
  });

  it.each([
    ['10 minutes behind', -600_000],
    ['5 minutes ahead', 300_000],
  ])('that was never accepted is held, since nothing proves it: %s', async (_what, ms) => {
    const { world, sandbox } = await skewedWorld({ ms });
    sandbox.faults.add({ endpoint: 'dashscope.image.create', action: { kind: 'drop-before' } });
    const id = await world.submit({ input: { prompt: 'a cat' } });
    await world.settle(id);
    expect((await world.execution(id)).status).toBe('held');
    expect(sandbox.books.acceptedTasks()).toHaveLength(0);
  });

  it('that was never accepted is bought again when the clocks agree', async () => {
    const { world, sandbox } = await skewedWorld({ ms: 0 });
    sandbox.faults.add({ endpoint: 'dashscope.image.create', action: { kind: 'drop-before' } });
    const id = await world.submit({ input: { prompt: 'a cat' } });
    await world.settle(id);
    expect((await world.store.attempts(id)).map((each) => each.state)).toEqual(['not-accepted', 'succeeded']);
    expect(sandbox.books.acceptedTasks()).toHaveLength(1);
  });
});
