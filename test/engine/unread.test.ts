import { describe, expect, it, onTestFinished } from 'vitest';
import type { ExecutionId } from '../../src/kernel/index.ts';
import { type AskingWorld, askingWorld, choice, choosing, judged } from './support/asking-world.ts';
import { imageWorkflow } from './support/definitions.ts';
import type { Script } from './support/vendor.ts';
import { instantCollector, running, type World } from './support/world.ts';

/** What nobody has caught ends the process in production: here it is counted. */
function countUnhandled(): () => number {
  let count = 0;
  const note = (): void => {
    count += 1;
  };
  process.on('unhandledRejection', note);
  onTestFinished(() => {
    process.off('unhandledRejection', note);
  });
  return () => count;
}

const cancel = async (world: World, id: ExecutionId): Promise<void> => {
  await running(world.clock, world.engine.cancel(id, 'test'));
};

describe('a node’s call while the store cannot be read', () => {
  it.each(['remembered', 'attemptsByFingerprint'] as const)('asks %s again, and goes on', async (read) => {
    const world = await askingWorld();
    world.faults.refuse(read, 2);
    const done = await world.settle(await world.submit({ input: { prompt: 'x' } }), 600_000);
    expect(world.faults.refused(read)).toBe(2);
    expect(done.status).toBe('succeeded');
    expect(world.acme.arrivals).toHaveLength(1);
  });

  it('keeps what was bought before a restart, and the sum that is at risk', async () => {
    const world = await askingWorld({ script: () => ({ submit: 'lose' }) });
    const id = await world.submit({ input: { prompt: 'x' } });
    expect((await world.settle(id)).status).toBe('held');
    world.faults.refuse('chargesOfAttempt', 3);
    await world.restart();
    await world.clock.advance(60_000);
    expect(world.faults.refused('chargesOfAttempt')).toBe(3);
    expect((await world.execution(id)).status).toBe('held');
    const [attempt] = await world.store.attempts(id);
    const resolved = world.engine.resolve(attempt!.id, { kind: 'accepted', taskId: 'acme-1' });
    expect(await running(world.clock, resolved)).toMatchObject({ ok: true });
    await world.clock.advance(60_000);
    expect((await world.execution(id)).status).toBe('succeeded');
    expect(world.acme.arrivals).toHaveLength(1);
    expect(await world.cny(id)).toBe(world.acme.bill());
  });

  it('ends with a cancel, while the store still cannot be read', async () => {
    const world = await askingWorld();
    world.faults.refuse('remembered', 1_000_000);
    const id = await world.submit({ input: { prompt: 'x' } });
    await world.clock.advance(10_000);
    expect((await world.execution(id)).status).toBe('running');
    await cancel(world, id);
    expect((await world.settle(id, 60_000)).status).toBe('canceled');
    expect(world.acme.arrivals).toHaveLength(0);
  });

  it.each([
    ['its workflow’s deadline', { deadline: '30s' }, 'workflow-deadline'],
    [
      'its own time limit',
      { nodes: { draw: { kind: 'skill', skill: 'painter', input: { prompt: '$.input.prompt' }, timeout: '30s' } } },
      'node-timeout',
    ],
  ])('ends with %s, while the store still cannot be read', async (_name, workflow, code) => {
    const world = await askingWorld({ workflows: [imageWorkflow('draw', workflow)] });
    world.faults.refuse('remembered', 1_000_000);
    const id = await world.submit({ input: { prompt: 'x' } });
    expect(await world.settle(id, 120_000)).toMatchObject({ status: 'failed', failure: { kind: 'timeout', code } });
    expect(world.acme.arrivals).toHaveLength(0);
  });

  it('fails in words for whatever else goes wrong there', async () => {
    const holds = (): Promise<boolean> => Promise.reject(new Error('the spool is gone'));
    const world = await askingWorld({ deps: { collector: { ...instantCollector, holds } } });
    const input = { prompt: 'x' };
    const source = { input, sourceRef: 'test:row#stage' };
    expect((await world.settle(await world.submit(source))).status).toBe('succeeded');
    expect(await world.settle(await world.submit(source), 600_000)).toMatchObject({
      status: 'failed',
      failure: { kind: 'internal', code: 'engine', message: 'the spool is gone' },
    });
  });

  it('watches on what was bought before, where its history cannot be read for another reason', async () => {
    const world = await askingWorld({ script: () => ({ submit: 'accept', durationMs: 3_000_000 }) });
    const id = await world.submit({ input: { prompt: 'x' } });
    expect((await world.settle(id)).status).toBe('held');
    world.faults.refuse('chargesOfAttempt', 1, new Error('a stored charge cannot be read'));
    await world.restart();
    await world.clock.advance(10_000);
    expect(await world.execution(id)).toMatchObject({ status: 'failed', failure: { kind: 'internal' } });
    await world.clock.advance(3_600_000);
    expect(world.acme.arrivals).toHaveLength(1);
    expect(await world.cny(id)).toBe(world.acme.bill());
    expect((await world.outbox()).map((entry) => entry.message.kind)).toEqual(['held', 'ended', 'late-result']);
  });
});

describe('a judge’s call while the store cannot be read', () => {
  it.each(['remembered', 'attemptsByFingerprint'] as const)('asks %s again, and judges', async (read) => {
    const unhandled = countUnhandled();
    const world = await askingWorld({ skills: judged });
    const id = await world.submit({ input: { prompt: 'x' } });
    await world.clock.advance(5_000);
    world.faults.refuse(read, 1);
    const done = await world.settle(id, 600_000);
    expect(world.faults.refused(read)).toBe(1);
    expect(done).toMatchObject({ status: 'succeeded', marks: [] });
    expect(world.acme.tasks.map((task) => task.model)).toEqual(['image-1', 'text-1']);
    expect(unhandled()).toBe(0);
  });

  it('is unavailable for whatever else goes wrong there: the paid result is kept, and marked', async () => {
    const unhandled = countUnhandled();
    const world = await askingWorld({ skills: judged });
    const id = await world.submit({ input: { prompt: 'x' } });
    await world.clock.advance(5_000);
    world.faults.refuse('remembered', 1, new Error('a stored result cannot be read'));
    const done = await world.settle(id, 600_000);
    expect(done).toMatchObject({ status: 'succeeded', marks: [{ kind: 'degraded' }] });
    expect(unhandled()).toBe(0);
  });

  it('ends with a cancel, while the store still cannot be read', async () => {
    const world = await askingWorld({ skills: judged });
    const id = await world.submit({ input: { prompt: 'x' } });
    await world.clock.advance(5_000);
    world.faults.refuse('remembered', 1_000_000);
    await world.clock.advance(30_000);
    expect(world.faults.refused('remembered')).toBeGreaterThan(1);
    await cancel(world, id);
    expect((await world.settle(id, 60_000)).status).toBe('canceled');
  });
});

describe('a planner’s call while the store cannot be read', () => {
  it.each(['remembered', 'attemptsByFingerprint'] as const)('asks %s again, and chooses', async (read) => {
    const world = await askingWorld(choosing);
    world.faults.refuse(read, 1);
    const done = await world.settle(await world.submit(choice), 600_000);
    expect(world.faults.refused(read)).toBe(1);
    expect(done).toMatchObject({ status: 'succeeded', workflow: 'draw' });
    expect(world.acme.arrivals).toHaveLength(2);
  });

  it('ends with a cancel, while the store still cannot be read', async () => {
    const world = await askingWorld(choosing);
    world.faults.refuse('remembered', 1_000_000);
    const id = await world.submit(choice);
    await world.clock.advance(10_000);
    await cancel(world, id);
    expect((await world.settle(id, 60_000)).status).toBe('canceled');
  });

  it('fails in words for whatever else goes wrong there', async () => {
    const world = await askingWorld(choosing);
    world.faults.refuse('remembered', 1, new Error('a stored result cannot be read'));
    const done = await world.settle(await world.submit(choice), 60_000);
    expect(done).toMatchObject({ status: 'failed', failure: { kind: 'internal', code: 'engine' } });
  });
});

describe('a last good result while the store cannot be read', () => {
  const falling = imageWorkflow('draw', {
    nodes: {
      draw: {
        kind: 'skill',
        skill: 'painter',
        input: { prompt: '$.input.prompt' },
        on_failure: { fallback: 'last_good' },
      },
    },
  });
  const once: Script = ({ count }) =>
    count === 1
      ? { submit: 'accept', durationMs: 1_000 }
      : { submit: 'refuse', failure: { kind: 'content-policy', code: 'no', message: 'no' } };

  const drawn = async (): Promise<AskingWorld> => {
    const world = await askingWorld({ workflows: [falling], script: once });
    const first = await world.submit({ input: { prompt: 'x' }, sourceRef: 'test:row#stage' });
    expect((await world.settle(first)).status).toBe('succeeded');
    return world;
  };

  it('is asked for again, and used', async () => {
    const world = await drawn();
    world.faults.refuse('lastGood', 2);
    const id = await world.submit({ input: { prompt: 'y' }, sourceRef: 'test:row#stage' });
    const done = await world.settle(id, 60_000);
    expect(world.faults.refused('lastGood')).toBe(2);
    expect(done).toMatchObject({ status: 'succeeded', marks: [{ kind: 'degraded' }] });
  });

  it('is done without where a cancel comes first', async () => {
    const world = await drawn();
    world.faults.refuse('lastGood', 1_000_000);
    const id = await world.submit({ input: { prompt: 'y' }, sourceRef: 'test:row#stage' });
    await world.clock.advance(10_000);
    expect((await world.execution(id)).status).toBe('running');
    await cancel(world, id);
    expect((await world.settle(id, 60_000)).endedAt).toBeDefined();
  });

  it('keeps nothing from being told: what stands still beside the node is all that is left after it', async () => {
    const side = (prompt: string): object => ({ kind: 'skill', skill: 'painter', input: { prompt } });
    const right = { ...side('$.input.right'), on_failure: { fallback: 'last_good' } };
    const refusal = { kind: 'content-policy', code: 'no', message: 'no' } as const;
    const world = await askingWorld({
      workflows: [
        { workflow: 'draw', input: { type: 'object' }, nodes: { left: side('$.input.left'), right }, output: {} },
      ],
      script: ({ body }) => {
        if (body['prompt'] === 'lost') return { submit: 'lose' };
        const fate = body['prompt'] === 'refused' ? ({ result: 'fail', failure: refusal } as const) : {};
        return { submit: 'accept', durationMs: 30_000, ...fate };
      },
    });
    const sourceRef = 'test:row#stage';
    await world.settle(await world.submit({ input: { left: 'a', right: 'b' }, sourceRef }));
    const id = await world.submit({ input: { left: 'lost', right: 'refused' }, sourceRef });
    expect((await world.settle(id, 600_000)).status).toBe('held');
    expect((await world.store.nodes(id)).find((node) => node.path === 'right')?.degraded).toBe(true);
    expect((await world.outbox()).map((entry) => entry.message.kind)).toEqual(['ended', 'held']);
  });

  it('is done without where it cannot be read for another reason: the node fails with its own failure', async () => {
    const world = await drawn();
    world.faults.refuse('lastGood', 1, new Error('a stored result cannot be read'));
    const id = await world.submit({ input: { prompt: 'y' }, sourceRef: 'test:row#stage' });
    expect(await world.settle(id, 60_000)).toMatchObject({ status: 'failed', failure: { kind: 'content-policy' } });
  });
});
