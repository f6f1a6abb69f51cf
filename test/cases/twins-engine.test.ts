import { describe, expect, it } from 'vitest';
import { createVirtualClock } from '../../src/kernel/index.ts';
import { define, textSkill } from '../engine/support/definitions.ts';
import { pictureWorld } from '../engine/support/picture-world.ts';
import { createScriptedVendor } from '../engine/support/vendor.ts';
import { createWorld, running } from '../engine/support/world.ts';

/** Second looks at cases of the engine whose first test left a part of the case out. */

describe('P061 a new round after a failed one', () => {
  it('P061 has no task of the old round: cancelled before it starts, it touches nothing and costs nothing', async () => {
    const world = await pictureWorld({
      script: () => ({ submit: 'accept', result: 'fail', costMicros: 40_000 }),
      acme: { canCancel: true },
      skill: { retry: { attempts: 1 } },
    });
    const first = await world.draw('x', { sourceRef: 'row', generation: 1 });
    expect((await world.execution(first)).status).toBe('failed');
    await running(world.clock, world.engine.pause());
    const second = await world.submit({ input: { prompt: 'x' }, sourceRef: 'row', generation: 2 });
    await world.clock.advance(5_000);
    await running(world.clock, world.engine.cancel(second, '员工取消'));
    expect((await world.settle(second)).status).toBe('canceled');
    await running(world.clock, world.engine.resume());
    await world.clock.advance(120_000);
    expect(world.acme.cancels).toEqual([]);
    expect(world.acme.arrivals).toHaveLength(1);
    expect([await world.cny(first), await world.cny(second)]).toEqual([40_000, 0]);
  });
});

describe('P132 an answer that does not fit its schema', () => {
  const scenes = (third: object): string =>
    JSON.stringify({ scenes: [{ prompt: 'a' }, { prompt: 'b' }, third, { prompt: 'd' }] });
  const output = {
    type: 'object',
    required: ['scenes'],
    properties: {
      scenes: {
        type: 'array',
        items: { type: 'object', required: ['prompt'], properties: { prompt: { type: 'string' } } },
      },
    },
  };

  async function write(answers: readonly string[]) {
    const clock = createVirtualClock();
    const acme = createScriptedVendor({
      clock,
      script: ({ count }) => ({
        submit: 'complete',
        output: { text: answers[Math.min(count, answers.length) - 1] ?? '', finish: 'stop' },
        costMicros: 1_000,
      }),
    });
    const world = await createWorld({
      clock,
      definitions: define({
        workflows: [
          {
            workflow: 'w',
            input: {},
            nodes: { a: { kind: 'skill', skill: 'writer', input: { prompt: 'write' } } },
            output: { scenes: '$.nodes.a.output.scenes' },
          },
        ],
        skills: [textSkill('writer', { parse: { as: 'json' }, output, max_paid_calls: 4, retry: { attempts: 4 } })],
      }),
      providers: new Map([['acme', acme.provider]]),
    });
    const id = await world.submit({ input: {} });
    return { done: await world.settle(id), acme, cny: await world.cny(id) };
  }

  it('P132 the next try is told the place, and a good answer ends it', async () => {
    const { done, acme, cny } = await write([scenes({}), scenes({ prompt: 'c' })]);
    expect(done.status).toBe('succeeded');
    expect(acme.tasks[1]?.body['prompt']).toMatch(/scenes.{0,3}2.*prompt/);
    expect(cny).toBe(2_000);
  });

  it.each([
    ['a scene without its prompt', scenes({})],
    ['an object in place of a list', '{"scenes":{"1":{"prompt":"a"}}}'],
    ['a chat answer', '好的，请把文案发给我。'],
  ])('P132 %s for ever: every try is in the cost, and there are no more than were allowed', async (_what, answer) => {
    const { done, acme, cny } = await write([answer]);
    expect(done).toMatchObject({ status: 'failed', failure: { kind: 'output-invalid' } });
    expect(acme.tasks).toHaveLength(4);
    expect(cny).toBe(4_000);
  });
});
