import { describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../src/kernel/index.ts';
import { failure } from './support/fake-feishu.ts';
import { base, createWorld, tableId, type World } from './support/world.ts';
import { end, type, waitingRow } from './support/waiting-row.ts';

const key = `${base}/${tableId}/rec1`;

async function memory(world: World): Promise<JsonObject> {
  return (await world.store.document('bitable-row', key))?.value ?? {};
}

/** As another hand of the table side would, while the one under test waits for something. */
async function changeMemory(world: World, changes: JsonObject): Promise<void> {
  const record = (await world.store.document('bitable-row', key))!;
  await world.store.commit([{ type: 'put-document', record: { ...record, value: { ...record.value, ...changes } } }]);
}

/** The row has ended, and its end is acknowledged: its memory is at rest. */
async function endMemory(world: World): Promise<void> {
  const record = (await world.store.document('bitable-row', key))!;
  const { current, ...rest } = record.value;
  if (current === undefined) return;
  await world.store.commit([{ type: 'put-document', record: { ...record, value: { ...rest, status: '待确认' } } }]);
}

describe('a result on its way to the table is overtaken:', () => {
  it('an end whose cells are written while something new is started does not make the row forget that', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    await world.turn();
    await world.settle();
    const ending = world.engine.last().executionId;
    const current = { executionId: 'another', stage: 'portrait', startedAt: 1 };
    // The platform is away for a moment, and the end's cells have to wait.
    world.feishu.fault = (call) => {
      if (call.name !== 'update') return undefined;
      world.feishu.fault = undefined;
      void changeMemory(world, { status: '生成中', current });
      return { failure: failure(5000) };
    };
    await world.engine.finish(ending, { status: 'canceled' });
    await world.settle(60_000);
    expect(await memory(world)).toMatchObject({ current: { executionId: 'another' } });
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

  it('a start keeps what the row has learnt while it was made', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    world.engine.onSubmit = async () => await changeMemory(world, { notes: ['迟到的结果'], cancelRequested: true });
    await world.turn();
    expect(await memory(world)).toMatchObject({
      status: '生成中',
      notes: ['迟到的结果'],
      cancelRequested: true,
      current: { executionId: world.engine.last().executionId },
    });
  });

  it('a 状态 put right by hand does not put back the memory of a row that ended in that moment', async () => {
    const world = await createWorld({ wakeIsAlive: () => true });
    await waitingRow(world);
    const current = { executionId: world.engine.last().executionId, stage: 'portrait', startedAt: 1 };
    await changeMemory(world, { status: '生成中', current });
    const execution = vi.spyOn(world.store, 'execution').mockImplementation(async () => {
      await endMemory(world);
      return { endedAt: undefined } as never;
    });
    world.put('rec1', { 状态: '完成' });
    const records = [{ recordId: 'rec1', action: 'record_edited', fieldIds: ['fld1'], after: { fld1: '完成' } }];
    world.side.wake({ eventId: 'e1', tableId, isOwn: false, records });
    await world.settle(5_000);
    expect(execution).toHaveBeenCalled();
    expect(await memory(world)).toMatchObject({ status: '待确认' });
  });

  it('a row whose end is acknowledged while its owner is sought is no orphan', async () => {
    const world = await createWorld();
    await waitingRow(world);
    await changeMemory(world, { status: '生成中', current: { executionId: 'ended', stage: 'portrait', startedAt: 1 } });
    world.put('rec1', { 状态: '生成中' });
    await world.restart();
    await world.turn();
    const outbox = world.store.outbox.bind(world.store);
    const asked = vi.spyOn(world.store, 'outbox').mockImplementation(async (...range) => {
      await endMemory(world);
      return await outbox(...range);
    });
    await world.turn();
    expect(asked).toHaveBeenCalled();
    expect(world.cell('rec1', '状态')).not.toBe('失败');
    expect(await memory(world)).toMatchObject({ status: '待确认' });
  });
});
