import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Store } from '../../src/engine/ports/index.ts';
import { createWorld } from './support/world.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a store that fails once', () => {
  it('an end of the command line that could not be acknowledged is acknowledged later, and the process lives', async () => {
    const world = await createWorld();
    const commit = world.store.commit.bind(world.store);
    let failures = 0;
    // Unhandled, the rejection would end the process (and does end this run).
    vi.spyOn(world.store, 'commit').mockImplementation(async (commands) => {
      if (failures === 0 && commands.some((command) => command.type === 'ack-outbox')) {
        failures += 1;
        throw new Error('disk is busy');
      }
      await commit(commands);
    });
    await world.engine.submit({
      workflow: 'w-portrait',
      input: {},
      sourceRef: 'cli:try',
      generation: 0,
      labels: {},
      idempotencyKey: 'cli-1',
    });
    await world.engine.finish(world.engine.last().executionId, { output: {} });
    await world.settle(60_000);
    expect(failures).toBe(1);
    expect(await world.store.outbox(10)).toEqual([]);
  });

  it('a read error between two messages does not end their loop', async () => {
    const world = await createWorld({ alertChatId: 'oc_group' });
    const documents: Store['documents'] = world.store.documents.bind(world.store);
    let failures = 0;
    vi.spyOn(world.store, 'documents').mockImplementation(async (collection, query) => {
      if (collection !== 'bitable-message' || query?.limit !== 1 || failures > 0) {
        return await documents(collection, query);
      }
      failures += 1;
      throw new Error('disk is busy');
    });
    world.newRow('rec1', { 操作: '通过' });
    await world.turn();
    world.newRow('rec2', { 操作: '打回' });
    await world.turn();
    await world.settle(60_000);
    expect(failures).toBe(1);
    expect(world.feishu.messages).toHaveLength(2);
  });
});
