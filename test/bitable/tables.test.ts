import { describe, expect, it } from 'vitest';
import { agentSchema } from '../../src/contract/index.ts';
import type { JsonObject } from '../../src/kernel/index.ts';
import { failure } from './support/fake-feishu.ts';
import { createWorld, tryOn, tryOnFields, base, tableId } from './support/world.ts';

const content = agentSchema.parse({
  agent: 'content',
  title: '内容',
  table_env: 'CONTENT_TABLE_ID',
  columns: { 操作: '指令', 状态: '结果状态' },
  inputs: { brief: { column: '需求', type: 'text', required: true } },
  stages: [
    {
      stage: 'draft',
      title: '成稿',
      workflow: ['w-post', 'w-notice'],
      planner: 'choose',
      choose_by: { input: 'brief', values: { 公告: 'w-notice' } },
      input: { brief: '$.inputs.brief', feedback: '$.feedback' },
      artifacts: [{ column: '成稿', type: 'text', from: 'draft' }],
      confirm: false,
    },
  ],
});

const contentFields = ['指令', '结果状态', '报错', '成本', '需求', '成稿', '打回意见'].map((name, index) => ({
  fieldId: `c${index}`,
  name,
  type: name === '指令' || name === '结果状态' ? 3 : name === '成本' ? 2 : 1,
}));

async function twoTables(): ReturnType<typeof createWorld> {
  const world = await createWorld();
  world.feishu.tables.set('tbl2', { fields: contentFields, rows: new Map() });
  await world.side.stop();
  await world.restart({
    agents: [
      { definition: tryOn, table: { appToken: base, tableId } },
      { definition: content, table: { appToken: 'app2', tableId: 'tbl2' } },
    ],
  });
  return world;
}

describe('several tables in several bases', () => {
  it('each is read and written by its own column names, and a text stage ends in 完成', async () => {
    const world = await twoTables();
    world.newRow('rec1');
    const rows = world.feishu.tables.get('tbl2')!.rows;
    rows.set('post', { 需求: '写一篇种草', 指令: '提交' });
    rows.set('notice', { 需求: '公告', 指令: '提交' });
    await world.turn();
    const find = (id: string) => world.engine.submits.find((submit) => submit.sourceRef.includes(`/${id}#`));
    expect(find('rec1')?.sourceRef).toBe('bitable:app1/tbl1/rec1#portrait');
    expect(find('post')).toMatchObject({ workflow: ['w-post', 'w-notice'], planner: 'choose' });
    expect(find('notice')).toMatchObject({ workflow: 'w-notice' });
    await world.engine.finish(find('post')!.executionId, { output: { draft: '成稿在此' } });
    await world.settle();
    expect(rows.get('post')).toMatchObject({ 指令: null, 结果状态: '完成', 成稿: '成稿在此', 成本: 0 });
  });

  it('提交 on a finished text asks anew with what was written into 打回意见', async () => {
    const world = await twoTables();
    const rows = world.feishu.tables.get('tbl2')!.rows;
    rows.set('post', { 需求: '写一篇种草', 指令: '提交' });
    await world.turn();
    await world.engine.finish(world.engine.last().executionId, { output: { draft: '第一稿' } });
    await world.settle();
    rows.set('post', { ...rows.get('post'), 指令: '提交', 打回意见: '再活泼一点' });
    await world.turn();
    expect(world.engine.last()).toMatchObject({ generation: 1, input: { feedback: '再活泼一点' } });
    await world.engine.finish(world.engine.last().executionId, { output: { draft: '第二稿' } });
    await world.settle();
    expect(rows.get('post')).toMatchObject({ 成稿: '第二稿' });
  });

  it('ends that are stuck in one base do not stop those of another', async () => {
    const world = await twoTables();
    for (let index = 0; index < 270; index += 1) world.newRow(`rec${index}`);
    world.feishu.tables.get('tbl2')!.rows.set('post', { 需求: '写', 指令: '提交' });
    for (let turn = 0; turn < 3; turn += 1) await world.turn();
    expect(world.engine.submits).toHaveLength(271);
    world.feishu.fault = (call) =>
      call.name === 'update' && call.table?.appToken === base
        ? { failure: failure(91403, { class: 'permission' }) }
        : undefined;
    const isPost = (submit: { readonly sourceRef: string }): boolean => submit.sourceRef.includes('/post#');
    for (const submit of world.engine.submits.filter((each) => !isPost(each))) {
      await world.engine.finish(submit.executionId, { output: await world.output('portrait', submit.sourceRef) });
    }
    await world.settle(60_000);
    await world.engine.finish(world.engine.submits.find(isPost)!.executionId, { output: { draft: '成稿在此' } });
    await world.settle();
    expect(world.feishu.tables.get('tbl2')!.rows.get('post')).toMatchObject({ 结果状态: '完成', 成稿: '成稿在此' });
    world.feishu.fault = undefined;
    await world.settle(300_000);
    expect(await world.store.outbox(100)).toEqual([]);
  });

  it('starts that are stuck in one base do not stop those of another', async () => {
    const world = await twoTables();
    for (let index = 0; index < 6; index += 1) world.newRow(`rec${index}`, { 产品图: null });
    const isRefusal = (fields: JsonObject): boolean => fields['状态'] === '失败';
    world.feishu.fault = (call) =>
      call.name === 'update' && call.writes?.some((write) => isRefusal(write.fields)) === true
        ? { failure: failure(91403, { class: 'permission' }) }
        : undefined;
    await world.turn();
    world.feishu.tables.get('tbl2')!.rows.set('post', { 需求: '写', 指令: '提交' });
    await world.turn();
    expect(world.engine.submits.map((submit) => submit.sourceRef)).toEqual(['bitable:app2/tbl2/post#draft']);
  });

  it('a table whose columns have gone stops alone; the other goes on, and it resumes when they are back', async () => {
    const world = await twoTables();
    const table = world.feishu.tables.get('tbl2')!;
    table.fields = contentFields.filter((field) => field.name !== '结果状态');
    table.rows.set('post', { 需求: '写', 指令: '提交' });
    world.newRow('rec1');
    await world.turn();
    await world.turn();
    expect(world.engine.submits.map((submit) => submit.sourceRef)).toEqual(['bitable:app1/tbl1/rec1#portrait']);
    expect(world.side.status().tables.map((each) => each.halted)).toEqual([null, 'columns']);
    table.fields = contentFields;
    for (let turn = 0; turn < 5; turn += 1) await world.turn();
    expect(world.engine.submits).toHaveLength(2);
  });

  it('all faults of all tables are told at the start, and nothing is started', async () => {
    const world = await createWorld();
    world.feishu.tables.get(tableId)!.fields = tryOnFields.filter((field) => !['状态', '视频'].includes(field.name));
    await world.side.stop();
    await expect(world.restart()).rejects.toThrow(/状态.*视频/s);
  });
});
