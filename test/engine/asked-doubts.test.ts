import { describe, expect, it } from 'vitest';
import type { ResolveVerdict } from '../../src/engine/ports/index.ts';
import type { ExecutionId } from '../../src/kernel/index.ts';
import { type AskingWorld, askingWorld, choice, choosing, drawing, judged } from './support/asking-world.ts';
import type { Script } from './support/vendor.ts';
import { running } from './support/world.ts';

/** The first answer in words is lost; the operator wants to be asked before it is bought again. */
function losing(): Script {
  let asked = 0;
  return (call) => {
    if (call.model !== 'text-1') return drawing(call);
    asked += 1;
    const answer = drawing(call);
    return asked === 1 ? { ...answer, submit: 'lose', durationMs: 1_000 } : answer;
  };
}

async function holdingWorld(draft: Parameters<typeof askingWorld>[0]): Promise<AskingWorld> {
  return await askingWorld({
    ...draft,
    script: losing(),
    settings: (settings) => ({ unknown_outcome: { ...settings.unknown_outcome, text: 'hold' } }),
  });
}

async function held(world: AskingWorld, request: Parameters<AskingWorld['submit']>[0]): Promise<ExecutionId> {
  const id = await world.submit(request);
  expect((await world.settle(id, 600_000)).status).toBe('held');
  const doubt = (await world.store.attempts(id)).find((each) => each.state === 'unknown');
  expect((await world.outbox()).at(-1)?.message).toMatchObject({ kind: 'held', attemptId: doubt?.id });
  return id;
}

async function resolve(world: AskingWorld, id: ExecutionId, verdict: ResolveVerdict): Promise<void> {
  const doubt = (await world.store.attempts(id)).find((each) => each.state === 'unknown');
  expect(await running(world.clock, world.engine.resolve(doubt!.id, verdict))).toMatchObject({ ok: true });
}

const notAccepted = { kind: 'not-accepted', endExecution: false } as const;
const arrivals = (world: AskingWorld): readonly string[] => world.acme.tasks.map((task) => task.model);

describe.each([
  ['a planner', choosing, choice, ['text-1', 'text-1', 'image-1']],
  ['a judge', { skills: judged }, { input: { prompt: 'x' } }, ['image-1', 'text-1', 'text-1']],
] as const)('the call in doubt of %s', (name, draft, request, bought) => {
  const isJudge = name === 'a judge';

  it('is bought again when a person says that it was not accepted, and the execution goes on', async () => {
    const world = await holdingWorld(draft);
    const id = await held(world, request);
    await resolve(world, id, notAccepted);
    await world.clock.advance(120_000);
    expect(await world.execution(id)).toMatchObject({ status: 'succeeded', workflow: 'draw', marks: [] });
    expect(arrivals(world)).toEqual(bought);
    expect(await world.types(id)).toContain('execution-resumed');
  });

  it('is taken up under the task id that a person gives: nothing is bought again', async () => {
    const world = await holdingWorld(draft);
    const id = await held(world, request);
    const task = world.acme.tasks.find((each) => each.model === 'text-1');
    await resolve(world, id, { kind: 'accepted', taskId: task?.id ?? '' });
    await world.clock.advance(120_000);
    expect(await world.execution(id)).toMatchObject({ status: 'succeeded', workflow: 'draw', marks: [] });
    expect(arrivals(world)).toEqual(bought.filter((model, at) => model !== 'text-1' || bought.indexOf(model) === at));
  });

  it('ends its execution when a person says so: nothing more is bought', async () => {
    const world = await holdingWorld(draft);
    const id = await held(world, request);
    const before = arrivals(world);
    await resolve(world, id, { kind: 'not-accepted', endExecution: true });
    await world.clock.advance(120_000);
    expect(await world.execution(id)).toMatchObject({ status: 'failed', failure: { code: 'not-accepted' } });
    expect(arrivals(world)).toEqual(before);
  });

  it('is given up with its execution when that is canceled', async () => {
    const world = await holdingWorld(draft);
    const id = await held(world, request);
    const before = arrivals(world);
    await running(world.clock, world.engine.cancel(id, 'test'));
    await world.clock.advance(10_000);
    expect(await world.execution(id)).toMatchObject({ status: 'canceled', marks: [] });
    expect(arrivals(world)).toEqual(before);
    expect((await world.outbox()).map((entry) => entry.message.kind)).toEqual([
      'held',
      'ended',
      ...(isJudge ? ['late-result'] : []),
    ]);
  });

  it('is still reached after a restart', async () => {
    const world = await holdingWorld(draft);
    const id = await held(world, request);
    await world.restart();
    await world.clock.advance(60_000);
    expect((await world.execution(id)).status).toBe('held');
    await resolve(world, id, notAccepted);
    await world.clock.advance(120_000);
    expect((await world.execution(id)).status).toBe('succeeded');
    expect(arrivals(world)).toEqual(bought);
  });

  it('goes on when another worker wrote its verdict', async () => {
    const peers = { isFrozen: () => Promise.resolve(false), isPresent: () => true };
    const world = await holdingWorld({ ...draft, deps: { peers } });
    const id = await held(world, request);
    const doubt = (await world.store.attempts(id)).find((each) => each.state === 'unknown');
    const record = { ...doubt!, state: 'not-accepted', settledAt: world.clock.nowMs() } as const;
    await world.store.commit([{ type: 'put-attempt', record, expected: ['unknown'] }]);
    await world.clock.advance(120_000);
    expect((await world.execution(id)).status).toBe('succeeded');
    expect(arrivals(world)).toEqual(bought);
  });
});

describe('a result whose judge was given up in a cancel', () => {
  it('is judged by the next execution that uses it, and not bought again', async () => {
    const world = await holdingWorld({ skills: judged });
    const request = { input: { prompt: 'x' }, sourceRef: 'test:row#stage' };
    const id = await held(world, request);
    await running(world.clock, world.engine.cancel(id, 'test'));
    await world.clock.advance(10_000);
    expect((await world.execution(id)).status).toBe('canceled');
    const next = await world.submit(request);
    expect(await world.settle(next, 120_000)).toMatchObject({ status: 'succeeded', marks: [] });
    expect(arrivals(world)).toEqual(['image-1', 'text-1', 'text-1']);
  });
});
