import { describe, expect, it } from 'vitest';
import { createWorld } from './support/world.ts';

describe('a row from 提交 to 完成', () => {
  it('goes through its stages, waits for people, and ends with files, cost and time in the row', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    await world.turn();
    expect(world.cell('rec1', '操作')).toBeUndefined();
    expect(world.cell('rec1', '状态')).toBe('生成中');
    expect(world.engine.submits).toHaveLength(1);
    const first = world.engine.last();
    expect(first.sourceRef).toBe('bitable:app1/tbl1/rec1#portrait');
    expect(world.cell('rec1', '执行编号')).toBe(`${first.executionId}@tag1`);
    await world.engine.charge(first.executionId, 350_000);
    await world.engine.finish(first.executionId, { output: await world.output('portrait') });
    await world.settle();
    expect(world.row('rec1')).toMatchObject({
      状态: '待确认',
      '成本(元)': 0.35,
      '耗时(秒)': 10,
      脚本方案: '脚本 portrait',
    });
    expect(world.tokens('rec1', '上身图')).toHaveLength(1);
    world.put('rec1', { 操作: '通过' });
    await world.turn();
    const second = world.engine.last();
    expect(second.sourceRef).toBe('bitable:app1/tbl1/rec1#storyboard');
    expect(second.input).toMatchObject({ script: '脚本 portrait' });
    await world.engine.finish(second.executionId, { output: await world.output('storyboard') });
    await world.settle();
    expect(world.cell('rec1', '状态')).toBe('待确认');
    world.put('rec1', { 操作: '通过' });
    await world.turn();
    await world.engine.finish(world.engine.last().executionId, { output: await world.output('film') });
    await world.settle();
    expect(world.cell('rec1', '状态')).toBe('完成');
    expect(world.tokens('rec1', '视频')).toHaveLength(1);
    expect(world.engine.submits).toHaveLength(3);
    expect(await world.store.outbox(10)).toEqual([]);
    expect(await world.store.documents('bitable-command')).toEqual([]);
  });
});
