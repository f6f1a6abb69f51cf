import { describe, expect, it } from 'vitest';
import { type FailpointName, noFailpoints } from '../../src/kernel/index.ts';
import { failure } from './support/fake-feishu.ts';
import { createWorld, type World } from './support/world.ts';
import { type, waitingRow } from './support/waiting-row.ts';

/** A row whose word was stored when the process died: it still stands in the cell. */
async function storedRow(): Promise<World> {
  let isArmed = true;
  const failpoints = {
    hit: (name: FailpointName) => {
      if (!isArmed || name !== 'intake:after-store') return;
      isArmed = false;
      throw new Error('killed');
    },
  };
  const world = await createWorld({ failpoints });
  world.newRow('rec1');
  void world.side.tick().catch(() => undefined);
  await world.settle(2_000);
  return world;
}

async function turns(world: World): Promise<void> {
  for (let count = 0; count < 4; count += 1) await world.turn();
}

describe('a word typed over one that was stored but never cleared', () => {
  it('取消 over 提交: nothing is bought', async () => {
    const world = await storedRow();
    world.put('rec1', { 操作: '取消' });
    await world.restart({ failpoints: noFailpoints });
    await turns(world);
    expect(world.engine.submits).toHaveLength(0);
    expect(world.row('rec1')).toMatchObject({ 操作: null, 状态: '已取消' });
    expect(await world.store.documents('bitable-command')).toEqual([]);
  });

  it('twin: a word that is refused leaves the 提交 before it in force, with its cells and this installation’s mark', async () => {
    const world = await storedRow();
    world.put('rec1', { 操作: '通过' });
    await world.restart({ failpoints: noFailpoints });
    let seen: unknown;
    world.engine.onSubmit = async () => {
      seen = { ...world.row('rec1') };
      await Promise.resolve();
    };
    await turns(world);
    expect(world.engine.submits).toHaveLength(1);
    expect(seen).toMatchObject({ 操作: null, 状态: '生成中', 执行编号: '@tag1' });
    expect(world.cell('rec1', '提示')).toMatch(/状态为「生成中」时不能选「通过」/);
    expect(await world.store.documents('bitable-command')).toEqual([]);
  });

  it('提交 over 取消: the new start is not what is cancelled', async () => {
    const world = await createWorld();
    await waitingRow(world);
    world.feishu.fault = (call) =>
      call.name === 'update' ? { failure: failure(1254045, { class: 'schema' }) } : undefined;
    await type(world, '取消');
    world.put('rec1', { 操作: '提交' });
    world.feishu.fault = undefined;
    await world.settle(60_000);
    await turns(world);
    expect(world.engine.submits).toHaveLength(2);
    expect(world.engine.cancels).toEqual([]);
    expect(world.cell('rec1', '状态')).toBe('生成中');
  });
});
