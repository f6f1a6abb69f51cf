import type { NodeFunction } from '../../../src/engine/ports/index.ts';
import { type JsonObject } from '../../../src/kernel/index.ts';
import { define } from './definitions.ts';
import { createWorld, echo, type World, type WorldOptions } from './world.ts';

export const fn = (input: object = {}, extra: object = {}): object => ({
  kind: 'function',
  function: 'echo',
  input,
  ...extra,
});
const failing: NodeFunction = () =>
  Promise.resolve({ ok: false, failure: { kind: 'internal', code: 'broken', message: 'it broke' } });

export async function runGraph(
  nodes: object,
  output: object,
  extra: {
    input?: JsonObject;
    workflow?: object;
    functions?: Record<string, NodeFunction>;
    world?: Partial<WorldOptions>;
    more?: readonly object[];
  } = {},
): Promise<{ world: World; id: Awaited<ReturnType<World['submit']>>; done: Awaited<ReturnType<World['settle']>> }> {
  const definitions = define({
    workflows: [{ workflow: 'w', input: {}, nodes, output, ...extra.workflow }, ...(extra.more ?? [])],
  });
  const world = await createWorld({ definitions, functions: { echo, failing, ...extra.functions }, ...extra.world });
  const id = await world.submit({ input: extra.input ?? {} });
  return { world, id, done: await world.settle(id) };
}

export const statuses = async (
  world: World,
  id: Awaited<ReturnType<World['submit']>>,
): Promise<Record<string, string>> =>
  Object.fromEntries((await world.store.nodes(id)).map((node) => [node.path, node.status]));
