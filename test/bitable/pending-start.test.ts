import { describe, expect, it } from 'vitest';
import type { ExecutionId } from '../../src/kernel/index.ts';
import { type FailpointName, noFailpoints } from '../../src/kernel/index.ts';
import { failure } from './support/fake-feishu.ts';
import { createWorld, type World } from './support/world.ts';
import { end, type } from './support/waiting-row.ts';

/** 提交 with a picture that cannot be fetched for some seconds: the start is stored, and not executed for so long. */
function submitSlowly(world: World, fault?: World['feishu']['fault']): void {
  world.put('rec1', { 操作: '提交', 产品图: [world.photo('new.png')] });
  const untilMs = world.clock.monotonicMs() + 4_000;
  world.feishu.fault = (call) => {
    if (call.name === 'download' && world.clock.monotonicMs() < untilMs) return { failure: failure(1061001) };
    return fault?.(call);
  };
}

/** The engine takes note of 取消, and the execution ends later. */
function cancelSlowly(world: World): void {
  world.engine.cancel = async (id) => {
    world.engine.cancels.push(id);
    const record = await world.store.execution(id);
    if (record === undefined || record.endedAt !== undefined) return;
    await world.store.commit([
      { type: 'put-execution', record: { ...record, cancelRequestedAt: world.clock.nowMs() } },
    ]);
  };
}

/** 待核对, then 取消: the row is 已取消 while its execution has not ended yet. */
async function canceledInDoubt(): Promise<{ readonly world: World; readonly first: ExecutionId }> {
  const world = await createWorld();
  world.newRow('rec1');
  await world.turn();
  const first = world.engine.last().executionId;
  await world.engine.hold(first);
  await world.settle();
  cancelSlowly(world);
  await type(world, '取消');
  expect(world.cell('rec1', '状态')).toBe('已取消');
  return { world, first };
}

async function memory(world: World): Promise<unknown> {
  return (await world.store.document('bitable-row', 'app1/tbl1/rec1'))?.value;
}

describe('a start that is stored and not executed yet', () => {
  it('is not overwritten by an older 取消 that waited: a second 提交 is refused and buys nothing', async () => {
    let isArmed = false;
    const failpoints = {
      hit: (name: FailpointName) => {
        if (!isArmed || name !== 'intake:after-clear') return;
        isArmed = false;
        throw new Error('killed');
      },
    };
    const world = await createWorld({ failpoints });
    world.newRow('rec1');
    await world.turn();
    isArmed = true;
    world.put('rec1', { 操作: '取消' });
    void world.side.tick().catch(() => undefined);
    await world.settle(2_000);
    await world.engine.finish(world.engine.last().executionId, { status: 'canceled' });
    await world.restart({ failpoints: noFailpoints });
    expect(world.cell('rec1', '状态')).toBe('已取消');
    submitSlowly(world);
    void world.side.tick();
    await world.settle(2_000);
    await type(world, '提交');
    expect(world.engine.submits).toHaveLength(2);
    expect(world.cell('rec1', '提示')).toMatch(/状态为「生成中」时不能选「提交」/);
    await end(world, { output: await world.output('portrait') });
    expect(world.cell('rec1', '状态')).toBe('待确认');
  });

  it('is not overwritten by an end that waited to be acknowledged: a second 提交 is refused and buys nothing', async () => {
    const { world, first } = await canceledInDoubt();
    let faults = 1;
    submitSlowly(world, (call) => {
      if (call.name !== 'update' || faults === 0) return undefined;
      faults -= 1;
      void world.side.tick();
      return { failure: failure(5000) };
    });
    await world.engine.finish(first, { status: 'canceled' });
    await world.settle(3_000);
    expect(world.cell('rec1', '操作')).toBeUndefined();
    expect(await world.store.outbox(10)).toEqual([]);
    expect(world.engine.submits).toHaveLength(1);
    await type(world, '提交');
    expect(world.engine.submits).toHaveLength(2);
    expect(await memory(world)).toMatchObject({ status: '生成中', starts: [expect.anything(), expect.anything()] });
    expect(world.cell('rec1', '状态')).toBe('生成中');
  });

  it('waits for the end of what was cancelled before it, and then buys once', async () => {
    const { world, first } = await canceledInDoubt();
    await type(world, '提交');
    await world.turn();
    expect(world.engine.submits).toHaveLength(1);
    expect(world.cell('rec1', '状态')).toBe('生成中');
    await world.engine.finish(first, { status: 'canceled' });
    await world.turn();
    expect(world.engine.submits).toHaveLength(2);
    await end(world, { output: await world.output('portrait') });
    expect(world.cell('rec1', '状态')).toBe('待确认');
    expect(await world.store.outbox(10)).toEqual([]);
  });

  it('that waits so is given up by a later 取消', async () => {
    const { world, first } = await canceledInDoubt();
    await type(world, '提交');
    await type(world, '取消');
    expect(await world.store.documents('bitable-command')).toEqual([]);
    await world.engine.finish(first, { status: 'canceled' });
    await world.turn();
    expect(world.engine.submits).toHaveLength(1);
    expect(world.cell('rec1', '状态')).toBe('已取消');
  });

  it('is not executed beside an execution of its row that runs, whatever has come to stand in 状态', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    await world.turn();
    const record = (await world.store.document('bitable-row', 'app1/tbl1/rec1'))!;
    const value = { ...record.value, status: '已取消' };
    await world.store.commit([{ type: 'put-document', record: { ...record, value } }]);
    await type(world, '提交');
    expect(world.engine.submits).toHaveLength(1);
    expect(world.cell('rec1', '提示')).toMatch(/还没有结束，没有再启动/);
    await end(world, { output: await world.output('portrait') });
    expect(world.cell('rec1', '状态')).toBe('待确认');
  });

  it('keeps a result that comes to its row from chaining into the next stage beside it', async () => {
    const world = await createWorld({ confirmSetting: () => false });
    world.newRow('rec1');
    await world.turn();
    await end(world, { output: await world.output('portrait') });
    await type(world, '通过');
    const board = world.engine.last().executionId;
    await world.engine.hold(board);
    await world.settle();
    cancelSlowly(world);
    await type(world, '取消');
    let isStored = false;
    world.feishu.fault = (call) => {
      if (isStored || call.name !== 'upload') return undefined;
      isStored = true;
      world.put('rec1', { 操作: '提交' });
      void world.side.tick();
      return { failure: failure(1061001) };
    };
    await world.engine.finish(board, { output: await world.output('storyboard') });
    await world.settle(60_000);
    expect(isStored).toBe(true);
    expect(world.engine.submits.map((submit) => submit.sourceRef.split('#')[1])).toEqual([
      'portrait',
      'storyboard',
      'storyboard',
    ]);
    expect(world.cell('rec1', '状态')).toBe('生成中');
  });
});
