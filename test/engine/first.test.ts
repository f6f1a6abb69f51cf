import { expect, it } from 'vitest';
import { define, imageSkill, imageWorkflow } from './support/definitions.ts';
import { createScriptedVendor } from './support/vendor.ts';
import { createWorld, echo } from './support/world.ts';
import { createVirtualClock } from '../../src/kernel/index.ts';

it('runs a function workflow', async () => {
  const definitions = define({
    workflows: [
      {
        workflow: 'w',
        input: {},
        nodes: {
          a: { kind: 'function', function: 'echo', input: { x: '$.input.x' } },
          b: { kind: 'function', function: 'echo', input: { y: '$.nodes.a.output.x' } },
        },
        output: { y: '$.nodes.b.output.y' },
      },
    ],
  });
  const world = await createWorld({ definitions, functions: { echo } });
  const id = await world.submit({ input: { x: 5 } });
  const done = await world.settle(id);
  expect(done.status).toBe('succeeded');
  expect(done.output).toEqual({ y: 5 });
});

it('buys a picture', async () => {
  const clock = createVirtualClock();
  const vendor = createScriptedVendor({ clock });
  const definitions = define({ workflows: [imageWorkflow()], skills: [imageSkill('painter')] });
  const world = await createWorld({ definitions, clock, providers: new Map([['acme', vendor.provider]]) });
  const id = await world.submit({ input: { prompt: 'a cat' } });
  const done = await world.settle(id);
  expect(done.status).toBe('succeeded');
  expect(await world.types(id)).toEqual([]);
});
