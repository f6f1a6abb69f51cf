import { describe, expect, it } from 'vitest';
import { failure } from './support/fake-feishu.ts';
import { base, createWorld, tableId } from './support/world.ts';
import { end, type, waitingRow } from './support/waiting-row.ts';

describe('a result on its way to the table is overtaken:', () => {
  it('an end whose cells are written while something new is started does not make the row forget that', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    await world.turn();
    await world.settle();
    const ending = world.engine.last().executionId;
    const key = `${base}/${tableId}/rec1`;
    const startAnother = async (): Promise<void> => {
      const row = (await world.store.document('bitable-row', key))!;
      const current = { executionId: 'another', stage: 'portrait', startedAt: 1 };
      const record = { ...row, value: { ...row.value, status: '生成中', current } };
      await world.store.commit([{ type: 'put-document', record }]);
    };
    // The platform is away for a moment, and the end's cells have to wait.
    world.feishu.fault = (call) => {
      if (call.name !== 'update') return undefined;
      world.feishu.fault = undefined;
      void startAnother();
      return { failure: failure(5000) };
    };
    await world.engine.finish(ending, { status: 'canceled' });
    await world.settle(60_000);
    expect((await world.store.document('bitable-row', key))?.value['current']).toMatchObject({
      executionId: 'another',
    });
    expect(world.cell('rec1', '状态')).toBe('生成中');
    expect(await world.store.outbox(10)).toEqual([]);
  });

  it('a result that the table refused is what 提交 writes, whatever older file has come back into its cell', async () => {
    const world = await createWorld();
    await waitingRow(world);
    const old = world.tokens('rec1', '上身图');
    world.put('rec1', { 上身图: null });
    await type(world, '打回');
    world.put('rec1', { 上身图: old.map((token) => ({ file_token: token })) });
    world.feishu.fault = (call) =>
      call.writes?.some(({ fields }) => '上身图' in fields) === true
        ? { failure: failure(1254045, { class: 'schema' }) }
        : undefined;
    await end(world, { output: await world.output('portrait', 'anew') });
    world.feishu.fault = undefined;
    expect(world.cell('rec1', '报错')).toMatch(/写回表格失败.*只重新写回/s);
    await type(world, '提交');
    expect(world.engine.last()).toMatchObject({ sourceRef: 'bitable:app1/tbl1/rec1#portrait', generation: 1 });
    await end(world, { output: await world.output('portrait', 'anew') });
    expect(world.tokens('rec1', '上身图')[0]).not.toBe(old[0]);
    expect(world.cell('rec1', '状态')).toBe('待确认');
  });
});
