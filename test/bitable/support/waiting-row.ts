import { type World } from './world.ts';

/** A row that waits for 通过 after its first stage. */
export async function waitingRow(world: World, id = 'rec1'): Promise<void> {
  world.newRow(id);
  await world.turn();
  await end(world, { output: await world.output('portrait', `${id} v1`) });
}

export async function end(world: World, changes: Parameters<World['engine']['finish']>[1]): Promise<void> {
  await world.engine.finish(world.engine.last().executionId, changes);
  await world.settle();
}

export async function type(world: World, word: string, cells = {}): Promise<void> {
  world.put('rec1', { 操作: word, ...cells });
  await world.turn();
}
