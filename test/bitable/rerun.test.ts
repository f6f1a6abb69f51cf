import { describe, expect, it } from 'vitest';
import type { ExecutionId } from '../../src/kernel/index.ts';
import { createWorld, type World } from './support/world.ts';

/** A row whose first stage waits for 通过; the execution that made it. */
async function waitingRow(): Promise<{ readonly world: World; readonly first: ExecutionId }> {
  const world = await createWorld();
  world.newRow('rec1');
  await world.turn();
  const first = world.engine.last().executionId;
  await world.engine.finish(first, { output: await world.output('portrait', 'v1') });
  await world.settle();
  return { world, first };
}

/** What `gridloom rerun` leaves with the engine: a copy of an execution, with its parent named. */
async function rerun(world: World, parent: ExecutionId): Promise<ExecutionId> {
  const record = await world.store.execution(parent);
  if (record === undefined) throw new Error('no parent');
  const { workflow, input, sourceRef, labels, generation } = record;
  const submitted = await world.engine.submit({
    workflow,
    input,
    sourceRef,
    labels,
    generation,
    idempotencyKey: `rerun of ${parent} ${world.engine.submits.length}`,
    parentId: parent,
  });
  if (!submitted.ok) throw new Error(submitted.failure.message);
  const id = submitted.value.executionId;
  await world.engine.event(id, 'execution-queued', {});
  await world.settle();
  return id;
}

async function type(world: World, word: string): Promise<void> {
  world.put('rec1', { 操作: word });
  await world.turn();
}

describe('an operator’s rerun of a row’s execution', () => {
  it('makes the row 生成中 while it runs, fills it as the stage would, and is named in 提示', async () => {
    const { world, first } = await waitingRow();
    const [v1 = ''] = world.tokens('rec1', '上身图');
    const again = await rerun(world, first);
    expect(world.row('rec1')).toMatchObject({ 状态: '生成中', 执行编号: `${again}@tag1` });
    await world.engine.charge(again, 200_000);
    await world.engine.finish(again, { output: await world.output('portrait', 'v2') });
    await world.settle();
    expect(world.row('rec1')).toMatchObject({ 状态: '待确认', 脚本方案: '脚本 v2', '成本(元)': 0.2, 进度: null });
    expect(world.tokens('rec1', '上身图')).toHaveLength(2);
    expect(world.tokens('rec1', '上身图')[1]).toBe(v1);
    expect(world.cell('rec1', '提示')).toContain(again);
    await type(world, '通过');
    expect(world.engine.last()).toMatchObject({ sourceRef: 'bitable:app1/tbl1/rec1#storyboard' });
    expect(world.engine.last().input['script']).toBe('脚本 v2');
  });

  it('cannot be bought beside: 提交 is refused until it has ended', async () => {
    const { world, first } = await waitingRow();
    await rerun(world, first);
    const before = world.engine.submits.length;
    await type(world, '打回');
    expect(world.engine.submits).toHaveLength(before);
    expect(world.cell('rec1', '状态')).toBe('生成中');
  });

  it('fills a failed row too, also where only its end was seen', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    await world.turn();
    const first = world.engine.last().executionId;
    await world.engine.finish(first, { status: 'failed' });
    await world.settle();
    expect(world.cell('rec1', '状态')).toBe('失败');
    await world.side.stop();
    const again = await rerun(world, first);
    await world.engine.finish(again, { output: await world.output('portrait') });
    await world.restart();
    await world.settle();
    expect(world.row('rec1')).toMatchObject({ 状态: '待确认', 报错: null, 执行编号: `${again}@tag1` });
    expect(world.tokens('rec1', '上身图')).toHaveLength(1);
    expect(await world.store.outbox(10)).toEqual([]);
  });

  it.each([
    ['generation', '打回'],
    ['stage', '通过'],
  ])('is named, and touches nothing else, where the row has moved on by %s', async (_what, word) => {
    const { world, first } = await waitingRow();
    await type(world, word);
    const running = world.engine.last().executionId;
    const again = await rerun(world, first);
    await world.engine.charge(again, 200_000);
    await world.engine.finish(again, { output: await world.output('portrait', 'stray') });
    await world.settle();
    expect(world.row('rec1')).toMatchObject({ 状态: '生成中', 执行编号: `${running}@tag1`, '成本(元)': 0.2 });
    expect(world.tokens('rec1', '上身图')).toHaveLength(1);
    expect(world.cell('rec1', '提示')).toMatch(new RegExp(`重跑（${again}）已结束.*已往下走.*费用已计入成本`));
  });

  it('that fails leaves a row that had its result as it was, and says so', async () => {
    const { world, first } = await waitingRow();
    const again = await rerun(world, first);
    const failure = { kind: 'content-policy', code: '400', message: 'no', provider: 'kie' } as const;
    await world.engine.finish(again, { status: 'failed', failure, failedNode: '画图' });
    await world.settle();
    expect(world.row('rec1')).toMatchObject({ 状态: '待确认', 报错: null, 进度: null });
    expect(world.tokens('rec1', '上身图')).toHaveLength(1);
    expect(world.cell('rec1', '提示')).toMatch(new RegExp(`审核拦截.*${again}.*原来的结果不变`, 's'));
    await type(world, '通过');
    expect(world.engine.last()).toMatchObject({ sourceRef: 'bitable:app1/tbl1/rec1#storyboard' });
  });

  it('in doubt makes the row 待核对, and a result found afterwards fills it', async () => {
    const { world, first } = await waitingRow();
    const again = await rerun(world, first);
    const attempt = await world.engine.hold(again);
    await world.settle();
    expect(world.cell('rec1', '状态')).toBe('待核对');
    expect(world.cell('rec1', '报错')).toContain(attempt);
    await world.engine.finish(again, { output: await world.output('portrait', 'v2') });
    await world.settle();
    expect(world.row('rec1')).toMatchObject({ 状态: '待确认', 脚本方案: '脚本 v2' });
  });

  it('is stopped by 取消, as a start of staff would be', async () => {
    const { world, first } = await waitingRow();
    const again = await rerun(world, first);
    await type(world, '取消');
    expect(world.engine.cancels).toEqual([again]);
    expect(world.cell('rec1', '状态')).toBe('已取消');
  });
});
