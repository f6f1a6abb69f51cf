import { describe, expect, it } from 'vitest';
import { agentSchema } from '../../src/contract/index.ts';
import { end } from './support/waiting-row.ts';
import { base, createWorld, tableId, tryOn, type World } from './support/world.ts';

/** A stage of text that goes straight into a stage of pictures. */
const draftFirst = agentSchema.parse({
  ...tryOn,
  stages: [
    {
      stage: 'draft',
      title: '①脚本',
      workflow: 'w-draft',
      input: { notes: '$.inputs.notes' },
      artifacts: [{ column: '脚本方案', type: 'text', from: 'script' }],
      confirm: false,
    },
    {
      stage: 'portrait',
      title: '②上身图',
      workflow: 'w-portrait',
      input: { photos: '$.inputs.photos', script: '$.artifacts.脚本方案' },
      artifacts: [{ column: '上身图', type: 'attachment', from: 'portrait' }],
      confirm: true,
    },
  ],
});

const minutes = (count: number): number => count * 60_000;

async function notices(world: World): Promise<readonly unknown[]> {
  const events = await world.store.events(0, 1_000);
  return events.flatMap((event) => (event.type === 'notice' ? [event.data['name']] : []));
}

describe('a row that the app may not see for a while', () => {
  it('is not taken for deleted: its end waits in the outbox and fills the cells once it is shown again', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    await world.turn();
    world.feishu.hidden.add('rec1');
    await end(world, { output: await world.output('portrait') });
    await world.settle(minutes(5));
    expect(await world.store.outbox(10)).toHaveLength(1);
    expect(await world.store.documents('bitable-row')).toHaveLength(1);
    expect((await notices(world)).filter((name) => name === 'row-stuck')).toHaveLength(1);
    world.feishu.hidden.clear();
    await world.settle(minutes(11));
    expect(world.tokens('rec1', '上身图')).toHaveLength(1);
    expect(world.cell('rec1', '状态')).toBe('待确认');
    expect(await world.store.outbox(10)).toEqual([]);
  });

  it('holds nothing back but itself: the other rows of its batch are written, and new work starts', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    world.newRow('rec2');
    await world.turn();
    world.feishu.hidden.add('rec1');
    for (const submit of world.engine.submits) {
      await world.engine.finish(submit.executionId, { output: await world.output('portrait', submit.sourceRef) });
    }
    await world.settle(minutes(2));
    expect(world.cell('rec2', '状态')).toBe('待确认');
    world.newRow('rec3');
    await world.turn();
    expect(world.engine.submits).toHaveLength(3);
    expect(await notices(world)).not.toContain('write-back-down');
  });

  it('waits between two stages: the next one starts when the row can be read', async () => {
    const world = await createWorld({ agents: [{ definition: draftFirst, table: { appToken: base, tableId } }] });
    world.newRow('rec1');
    await world.turn();
    world.feishu.fault = (call) => {
      if (call.name === 'get' && world.cell('rec1', '脚本方案') !== undefined) world.feishu.hidden.add('rec1');
      return undefined;
    };
    await end(world, { output: { script: '脚本在此' } });
    await world.settle(minutes(3));
    expect(await world.store.outbox(10)).toHaveLength(1);
    expect(await world.store.documents('bitable-row')).toHaveLength(1);
    world.feishu.fault = undefined;
    world.feishu.hidden.clear();
    await world.settle(minutes(11));
    expect(world.engine.last().sourceRef).toBe('bitable:app1/tbl1/rec1#portrait');
    expect(await world.store.outbox(10)).toEqual([]);
  });
});
