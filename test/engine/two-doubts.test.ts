import { describe, expect, it } from 'vitest';
import type { ExecutionId } from '../../src/kernel/index.ts';
import { pictureWorld, type PictureWorld } from './support/picture-world.ts';

/** Two pictures side by side, each with a fate of its own by its prompt. */
const twoPictures = {
  nodes: {
    left: { kind: 'skill', skill: 'painter', input: { prompt: 'left' } },
    right: { kind: 'skill', skill: 'painter', input: { prompt: 'right' } },
  },
  output: { images: '$.nodes.left.output.images', more: '$.nodes.right.output.images' },
};

async function heldMessages(world: PictureWorld): Promise<readonly string[]> {
  const outbox = await world.outbox();
  return outbox.flatMap(({ message }) => (message.kind === 'held' ? [message.failedNode] : []));
}

async function attemptOf(world: PictureWorld, id: ExecutionId, nodePath: string) {
  const attempt = (await world.attempts(id)).find((each) => each.nodePath === nodePath);
  if (attempt === undefined) throw new Error(`no attempt of ${nodePath}`);
  return attempt;
}

describe('a call in doubt beside others of its execution', () => {
  it('is told when the others have ended, also if the worker was killed in between', async () => {
    const world = await pictureWorld({
      workflow: twoPictures,
      script: ({ body }) =>
        JSON.stringify(body).includes('left') ? { submit: 'lose' } : { submit: 'accept', durationMs: 120_000 },
    });
    const id = await world.submit({ input: { prompt: 'x' } });
    await world.clock.advance(30_000);
    expect(await heldMessages(world)).toEqual([]);
    await world.restart();
    await world.clock.advance(300_000);
    expect((await world.execution(id)).status).toBe('held');
    expect(await heldMessages(world)).toHaveLength(1);
  });

  it('is told again when the other one has had its verdict, and the execution stands still for it alone', async () => {
    const world = await pictureWorld({ workflow: twoPictures, script: () => ({ submit: 'lose' }) });
    const id = await world.draw();
    expect(await heldMessages(world)).toHaveLength(2);
    const task = world.acme.tasks.find(({ body }) => JSON.stringify(body).includes('left'));
    const left = await attemptOf(world, id, 'left');
    await world.engine.resolve(left.id, { kind: 'accepted', taskId: task?.id ?? '' });
    await world.clock.advance(300_000);
    expect((await world.execution(id)).status).toBe('held');
    const told = await heldMessages(world);
    expect(told).toHaveLength(3);
    const right = await attemptOf(world, id, 'right');
    expect((await world.outbox()).at(-1)?.message).toMatchObject({ kind: 'held', attemptId: right.id });
  });

  it('is named to the row when the other one turns out well while both stand still', async () => {
    const world = await pictureWorld({
      workflow: twoPictures,
      script: ({ body }) =>
        JSON.stringify(body).includes('left') ? { submit: 'lose' } : { submit: 'accept', durationMs: 900_000 },
    });
    const id = await world.submit({ input: { prompt: 'x' } });
    await world.clock.advance(700_000);
    expect((await attemptOf(world, id, 'right')).state).toBe('overdue');
    const told = (await heldMessages(world)).length;
    await world.clock.advance(1_200_000);
    expect((await attemptOf(world, id, 'right')).state).toBe('succeeded');
    expect((await world.execution(id)).status).toBe('held');
    expect(await heldMessages(world)).toHaveLength(told + 1);
    const left = await attemptOf(world, id, 'left');
    expect((await world.outbox()).at(-1)?.message).toMatchObject({ kind: 'held', attemptId: left.id });
  });
});
