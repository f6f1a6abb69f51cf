import { describe, expect, it } from 'vitest';
import { createTickLoop } from '../../src/app/index.ts';
import { createVirtualClock, sleep } from '../../src/kernel/index.ts';
import { base, createWorld, type World } from '../bitable/support/world.ts';
import { drive } from '../providers/drive.ts';
import { adapterOf, json, modelOf, providerWith, signal } from '../providers/provider-world.ts';

/** Second looks at cases whose first test could have passed for another reason. */

async function end(world: World, changes: Parameters<World['engine']['finish']>[1]): Promise<void> {
  await world.engine.finish(world.engine.last().executionId, changes);
  await world.settle();
}

describe('P007 a search that takes longer than the interval', () => {
  it('P007 a turn never overlaps the next one', async () => {
    const clock = createVirtualClock();
    let running = 0;
    let most = 0;
    let turns = 0;
    const house = {
      tick: async () => {
        running += 1;
        turns += 1;
        most = Math.max(most, running);
        await sleep(clock, 90_000, new AbortController().signal);
        running -= 1;
      },
    };
    const loop = createTickLoop(house, clock, 30_000);
    loop.start();
    await clock.advance(590_000);
    expect([most, turns]).toEqual([1, 5]);
    const stopping = loop.stop();
    await clock.advance(90_000);
    await stopping;
    expect(running).toBe(0);
  });
});

describe('P031 the token that ends up in the cell', () => {
  it('P031 is one of this base, and the file behind it is the result', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    await world.turn();
    const made = await world.made('portrait');
    const foreign = world.feishu.addFile('another base', 'x.png', new Uint8Array(3));
    const value = { fileToken: foreign };
    await world.store.commit([
      {
        type: 'put-document',
        record: { collection: 'bitable-file', key: `${base}/hash/${made.hash}`, value, updatedAt: 0 },
      },
    ]);
    await end(world, { output: await world.output('portrait') });
    const tokens = world.tokens('rec1', '上身图');
    expect(tokens).toHaveLength(1);
    expect(tokens).not.toContain(foreign);
    const file = world.feishu.files.get(tokens[0] ?? '');
    const kept = await world.spool.read(made, new AbortController().signal);
    expect(kept.ok && file !== undefined && Buffer.compare(file.bytes, kept.value)).toBe(0);
  });
});

describe('P106 the size of an answer', () => {
  it.each([
    [1_000, 'accepted'],
    [10_000_000, 'accepted'],
    [20_000_000, 'unknown'],
  ])('P106 with a task id after %i characters of padding is %s', async (length, kind) => {
    const world = providerWith('kie');
    world.answer('/', json(`{"code":200,"padding":"${'x'.repeat(length)}","data":{"taskId":"t1"}}`));
    const adapter = adapterOf(world, 'kie.market');
    const model = modelOf({ implementation: 'kie.market', fields: { prompt: { name: 'prompt' } } });
    const call = { key: 'k', capability: 'image.generate', model, input: { prompt: 'x' } } as const;
    const request = await adapter.prepare(call, signal);
    if (!request.ok) throw new Error(request.failure.message);
    expect(await drive(world.clock, adapter.submit(request.value, signal))).toMatchObject({ kind });
  });
});

describe('P166 what a row has cost', () => {
  it('P166 includes rounds that failed, and grows, never falls', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    const seen: unknown[] = [];
    for (const [index, cost] of [300_000, 450_000, 120_000].entries()) {
      if (index > 0) world.put('rec1', { 操作: '提交' });
      await world.turn();
      await world.engine.charge(world.engine.last().executionId, cost);
      await end(world, index < 2 ? { status: 'failed' } : { output: await world.output('portrait') });
      seen.push(world.cell('rec1', '成本(元)'));
    }
    expect(world.cell('rec1', '状态')).toBe('待确认');
    expect(seen).toEqual([0.3, 0.75, 0.87]);
  });

  it('P166 twin: another row’s charges are not in it', async () => {
    const world = await createWorld();
    for (const id of ['rec1', 'rec10']) {
      world.newRow(id);
      await world.turn();
      await world.engine.charge(world.engine.last().executionId, 300_000);
      await end(world, { output: await world.output('portrait', id) });
    }
    expect([world.cell('rec1', '成本(元)'), world.cell('rec10', '成本(元)')]).toEqual([0.3, 0.3]);
  });
});
