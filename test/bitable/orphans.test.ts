import { describe, expect, it } from 'vitest';
import { createWorld } from './support/world.ts';

describe('rows in 生成中 that nobody works on', () => {
  it.each([
    ['with our tag', '019@tag1'],
    ['without a tag', null],
  ])('%s: seen twice, then 失败 with what to do, never run again', async (_name, mark) => {
    const world = await createWorld();
    world.newRow('rec1', { 操作: null, 状态: '生成中', 执行编号: mark });
    await world.turn();
    expect(world.cell('rec1', '状态')).toBe('生成中');
    await world.turn();
    expect(world.cell('rec1', '状态')).toBe('失败');
    expect(world.cell('rec1', '报错')).toMatch(/确认厂商后台.*再选「提交」续跑/s);
    expect(world.engine.submits).toHaveLength(0);
    world.put('rec1', { 操作: '提交' });
    await world.turn();
    expect(world.engine.submits).toHaveLength(1);
  });

  it('a row whose execution goes on is no orphan, nor is one whose end is about to be written', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    world.newRow('rec2');
    await world.turn();
    const [, second] = world.engine.submits;
    world.feishu.fault = (call) =>
      call.name === 'upload'
        ? { failure: { code: 1, httpStatus: 403, message: '', outcome: 'refused', class: 'quota' } }
        : undefined;
    await world.engine.finish(second!.executionId, { output: await world.output('portrait') });
    await world.restart();
    for (let turn = 0; turn < 4; turn += 1) await world.turn();
    expect(world.cell('rec1', '状态')).toBe('生成中');
    expect(world.cell('rec2', '状态')).toBe('生成中');
  });

  it('another installation’s tag stops the intake of the table and tells the operator once', async () => {
    const world = await createWorld();
    world.newRow('foreign', { 操作: null, 状态: '生成中', 执行编号: '019@other' });
    world.newRow('rec1');
    await world.turn();
    await world.turn();
    expect(world.engine.submits).toHaveLength(0);
    expect(world.cell('foreign', '状态')).toBe('生成中');
    const notices = await world.store.events(0, 100, { types: ['notice'] });
    expect(notices.filter((event) => event.data['name'] === 'foreign-installation')).toHaveLength(1);
    world.put('foreign', { 状态: '完成' });
    for (let turn = 0; turn < 21; turn += 1) await world.turn();
    expect(world.engine.submits).toHaveLength(1);
  });

  it('a 状态 set to 生成中 by hand on a finished row is put right, not failed', async () => {
    const world = await createWorld();
    world.newRow('rec1', { 产品图: null });
    await world.turn();
    expect(world.cell('rec1', '状态')).toBe('失败');
    world.put('rec1', { 状态: '生成中' });
    for (let turn = 0; turn < 122; turn += 1) await world.turn();
    expect(world.engine.submits).toHaveLength(0);
    expect(world.cell('rec1', '状态')).toBe('失败');
    expect(world.cell('rec1', '提示')).toMatch(/由机器人维护/);
  });
});
