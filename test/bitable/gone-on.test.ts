import { describe, expect, it, vi } from 'vitest';
import type { ExecutionId } from '../../src/kernel/index.ts';
import { failure } from './support/fake-feishu.ts';
import { createWorld, type World } from './support/world.ts';
import { end, type } from './support/waiting-row.ts';

async function runningRow(): Promise<{ readonly world: World; readonly id: ExecutionId }> {
  const world = await createWorld();
  world.newRow('rec1');
  await world.turn();
  return { world, id: world.engine.last().executionId };
}

/** 提交 on a row whose execution runs: refused, and nothing is stopped or bought. */
async function expectRunning(world: World): Promise<void> {
  await type(world, '提交');
  expect(world.engine.resolves).toEqual([]);
  expect(world.engine.cancels).toEqual([]);
  expect(world.engine.submits).toHaveLength(1);
  expect(world.row('rec1')).toMatchObject({ 操作: null, 状态: '生成中', 报错: null });
  expect(world.cell('rec1', '提示')).toMatch(/状态为「生成中」时不能选「提交」/);
  await end(world, { output: await world.output('portrait') });
  expect(world.cell('rec1', '状态')).toBe('待确认');
}

describe('an execution that stood in doubt and runs again', () => {
  it('is not shown as 待核对 by an entry that is delivered after it went on', async () => {
    const { world, id } = await runningRow();
    const outbox = vi.spyOn(world.store, 'outbox').mockResolvedValue([]);
    await world.engine.hold(id);
    await world.engine.goOn(id);
    await world.settle();
    outbox.mockRestore();
    await world.restart();
    await world.settle();
    expect(world.feishu.writes.filter((write) => write.fields['状态'] === '待核对')).toEqual([]);
    expect(await world.store.outbox(10)).toEqual([]);
    await expectRunning(world);
  });

  it('is not shown as 待核对 by cells that had to wait while it went on', async () => {
    const { world, id } = await runningRow();
    world.feishu.fault = (call) => {
      if (call.name !== 'update') return undefined;
      world.feishu.fault = undefined;
      void world.engine.goOn(id);
      return { failure: failure(5000) };
    };
    await world.engine.hold(id);
    await world.settle(60_000);
    expect(world.cell('rec1', '状态')).toBe('生成中');
    await expectRunning(world);
  });

  it('is 生成中 to a word typed after a death between its going on and the row’s', async () => {
    const { world, id } = await runningRow();
    await world.engine.hold(id);
    await world.settle();
    expect(world.cell('rec1', '状态')).toBe('待核对');
    const record = (await world.store.execution(id))!;
    await world.store.commit([{ type: 'put-execution', record: { ...record, status: 'running' } }]);
    await world.restart();
    await expectRunning(world);
  });

  it('is shown as 生成中 again at the next thing that it tells after such a death', async () => {
    const { world, id } = await runningRow();
    await world.engine.hold(id);
    await world.settle();
    const record = (await world.store.execution(id))!;
    await world.store.commit([{ type: 'put-execution', record: { ...record, status: 'running' } }]);
    await world.restart();
    await world.engine.event(id, 'attempt-accepted', { node: 'n', provider: 'kie' });
    await world.settle();
    expect(world.row('rec1')).toMatchObject({ 状态: '生成中', 报错: null });
  });

  it('stays 待核对 where it stands in doubt once more by the time that its going on is heard of', async () => {
    const { world, id } = await runningRow();
    await world.engine.hold(id);
    await world.settle();
    world.newRow('rec2');
    await world.turn();
    const events = vi.spyOn(world.store, 'events').mockResolvedValue([]);
    await world.engine.goOn(id);
    await world.engine.hold(id);
    await world.settle();
    events.mockRestore();
    await world.engine.event(world.engine.last().executionId, 'attempt-accepted', { node: 'n', provider: 'kie' });
    await world.settle();
    expect(world.cell('rec2', '进度')).toMatch(/kie/);
    expect(world.cell('rec1', '状态')).toBe('待核对');
  });
});
