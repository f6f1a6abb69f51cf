import { describe, expect, it } from 'vitest';
import { failure } from './support/fake-feishu.ts';
import { createWorld, settings, type World } from './support/world.ts';

const startsOf = (world: World, id: string): number =>
  world.engine.submits.filter((submit) => submit.sourceRef.includes(`/${id}#`)).length;

describe('words that start nothing', () => {
  it('P047 an automation that copies words back is stopped by the limit of starts an hour', async () => {
    const changed = { ...settings, limits: { ...settings.limits, starts_per_row_per_hour: 3 } };
    const world = await createWorld({ settings: changed });
    for (let round = 0; round < 6; round += 1) {
      world.newRow('rec1', { 上身图: null });
      await world.turn();
      if (startsOf(world, 'rec1') > round) {
        await world.engine.finish(world.engine.last().executionId, { status: 'failed' });
        await world.settle();
      }
    }
    expect(startsOf(world, 'rec1')).toBe(3);
    const notices = await world.store.events(0, 1_000, { types: ['notice'] });
    expect(notices.some((event) => event.data['name'] === 'row-parked')).toBe(true);
    expect(world.cell('rec1', '提示')).toMatch(/一小时内已启动 3 次/);
  });

  it('P047 状态 copied into 操作 is refused in words and starts nothing', async () => {
    const world = await createWorld();
    world.newRow('rec1', { 操作: '生成中' });
    await world.turn();
    expect(world.engine.submits).toHaveLength(0);
    expect(world.cell('rec1', '操作')).toBeUndefined();
    expect(world.cell('rec1', '提示')).toMatch(/「生成中」不是可用的操作/);
  });

  it('an illegal word is cleared, changes nothing, and says why', async () => {
    const world = await createWorld();
    world.newRow('rec1', { 操作: '通过' });
    await world.turn();
    expect(world.engine.submits).toHaveLength(0);
    expect(world.row('rec1')).toMatchObject({ 操作: null });
    expect(world.cell('rec1', '状态')).toBeUndefined();
    expect(world.cell('rec1', '提示')).toMatch(/不能选「通过」/);
  });

  it('P019 nothing is started in a table that refuses writes', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    world.feishu.fault = (call) =>
      call.name === 'update' ? { failure: failure(91403, { class: 'permission' }) } : undefined;
    await world.turn();
    await world.turn();
    expect(world.engine.submits).toHaveLength(0);
    world.feishu.fault = undefined;
    await world.settle(120_000);
    await world.turn();
    expect(startsOf(world, 'rec1')).toBe(1);
  });

  it('P044 a second installation finds the first one’s mark, starts nothing and tells the operator', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    await world.turn();
    world.newRow('rec2');
    await world.restart({ instanceTag: 'other' });
    await world.turn();
    expect(startsOf(world, 'rec2')).toBe(0);
    expect(world.side.status().tables[0]?.halted).toBe('foreign-installation');
    const notices = await world.store.events(0, 100, { types: ['notice'] });
    expect(notices.map((event) => event.data['name'])).toContain('foreign-installation');
  });

  it('P044 whoever wrote the mark last runs the row: the other one lets go before paying', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    const original = world.feishu.updateRecords.bind(world.feishu);
    world.feishu.updateRecords = async (...args) => {
      const result = await original(...args);
      world.put('rec1', { 执行编号: '@other' });
      return result;
    };
    await world.turn();
    expect(world.engine.submits).toHaveLength(0);
    expect(world.side.status().tables[0]?.halted).toBe('foreign-installation');
  });
});
