import { describe, expect, it } from 'vitest';
import type { RawRecord } from '../../src/feishu/client.ts';
import { type FailpointName, noFailpoints } from '../../src/kernel/index.ts';
import { failure } from './support/fake-feishu.ts';
import { createWorld, tableId, type World } from './support/world.ts';

const startsOf = (world: World, id: string): number =>
  world.engine.submits.filter((submit) => submit.sourceRef.includes(`/${id}#`)).length;

describe('taking up what staff typed', () => {
  it('P004 a search that ignores its filter starts only the row with a word', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    world.newRow('rec2', { 操作: null });
    world.newRow('rec3', { 操作: null, 状态: '完成' });
    world.feishu.searchInstead = () => allRows(world);
    await world.turn();
    expect(world.engine.submits.map((submit) => submit.sourceRef)).toEqual(['bitable:app1/tbl1/rec1#portrait']);
  });

  it('P012 blank rows get no write and no read of their own', async () => {
    const world = await createWorld();
    for (let index = 0; index < 10; index += 1)
      world.put(`blank${index}`, index % 2 === 0 ? {} : { 操作: null, 状态: null });
    world.newRow('rec1');
    world.feishu.searchInstead = () => allRows(world);
    await world.turn();
    expect(world.feishu.writes.every((write) => write.recordId === 'rec1')).toBe(true);
  });

  it('the same row twice in a search is one command', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    world.feishu.searchInstead = (truth) => [...truth, ...truth];
    await world.turn();
    expect(startsOf(world, 'rec1')).toBe(1);
  });

  it('a stale search that shows an old 提交 again starts nothing, even when the run has ended meanwhile', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    const stale = [raw(world, 'rec1')];
    await world.turn();
    await world.engine.finish(world.engine.last().executionId, { status: 'failed' });
    await world.settle();
    expect(world.cell('rec1', '状态')).toBe('失败');
    world.feishu.searchInstead = () => stale;
    await world.turn();
    expect(startsOf(world, 'rec1')).toBe(1);
  });

  it('a row that a search misses is found by the next one', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    world.feishu.searchInstead = () => [];
    await world.turn();
    expect(startsOf(world, 'rec1')).toBe(0);
    world.feishu.searchInstead = undefined;
    await world.turn();
    expect(startsOf(world, 'rec1')).toBe(1);
  });

  it('the same word typed again after a quick failure is a new command', async () => {
    const world = await createWorld();
    world.newRow('rec1', { 产品图: null });
    await world.turn();
    expect(world.row('rec1')).toMatchObject({ 状态: '失败', 报错: '①上身图：请先上传产品图。' });
    world.newRow('rec1');
    await world.turn();
    expect(startsOf(world, 'rec1')).toBe(1);
    expect(world.cell('rec1', '报错')).toBeUndefined();
  });

  it('a word that comes back after the clear is the same command and is cleared again, not run again', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    let echoes = 3;
    world.feishu.beforeUpdate = () => undefined;
    const original = world.feishu.updateRecords.bind(world.feishu);
    world.feishu.updateRecords = async (...args) => {
      const result = await original(...args);
      if (echoes > 0 && world.cell('rec1', '操作') === undefined) {
        echoes -= 1;
        world.put('rec1', { 操作: '提交' });
      }
      return result;
    };
    await world.turn();
    await world.turn();
    expect(startsOf(world, 'rec1')).toBe(1);
    expect(world.cell('rec1', '操作')).toBeUndefined();
    expect(await world.store.documents('bitable-command')).toEqual([]);
  });

  it.each<FailpointName>(['intake:before-store', 'intake:after-store', 'intake:after-clear', 'intake:after-submit'])(
    'dies at %s and goes on after the restart: one start, word cleared, nothing lost',
    async (name) => {
      let isArmed = true;
      const failpoints = {
        hit: (hit: FailpointName) => {
          if (hit !== name || !isArmed) return;
          isArmed = false;
          throw new Error(`killed at ${hit}`);
        },
      };
      const world = await createWorld({ failpoints });
      world.newRow('rec1');
      void world.side.tick().catch(() => undefined);
      await world.settle(2_000);
      await world.restart({ failpoints: noFailpoints });
      await world.turn();
      expect(startsOf(world, 'rec1')).toBe(1);
      expect(world.row('rec1')).toMatchObject({ 操作: null, 状态: '生成中' });
      await world.engine.finish(world.engine.last().executionId, { output: await world.output('portrait') });
      await world.settle();
      expect(world.cell('rec1', '状态')).toBe('待确认');
      await world.turn();
      expect(await world.store.documents('bitable-command')).toEqual([]);
    },
  );

  it('P046 a row whose take-up fails does not hold the others, and is taken up by the next turn', async () => {
    const world = await createWorld();
    for (const id of ['rec1', 'rec2', 'rec3', 'rec4', 'rec5']) world.newRow(id);
    const original = world.store.commit.bind(world.store);
    let isBusy = true;
    Object.assign(world.store, {
      commit: async (commands: Parameters<typeof original>[0]) => {
        const text = JSON.stringify(commands);
        if (isBusy && text.includes('bitable-command') && text.includes('rec3')) {
          isBusy = false;
          throw new Error('SQLITE_BUSY');
        }
        await original(commands);
      },
    });
    await world.turn();
    expect(world.engine.submits).toHaveLength(4);
    await world.turn();
    expect(startsOf(world, 'rec3')).toBe(1);
  });

  it('P052 a copied row is a new job with its own cost', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    await world.turn();
    const first = world.engine.last();
    await world.engine.charge(first.executionId, 500_000);
    await world.engine.finish(first.executionId, { output: await world.output('portrait') });
    await world.settle();
    world.put('copy', { ...world.row('rec1'), 状态: '完成', 操作: '提交' });
    await world.turn();
    expect(world.engine.last().sourceRef).toBe('bitable:app1/tbl1/copy#storyboard');
    await world.engine.charge(world.engine.last().executionId, 200_000);
    await world.engine.finish(world.engine.last().executionId, { output: await world.output('storyboard') });
    await world.settle();
    expect(world.cell('copy', '成本(元)')).toBe(0.2);
    expect(world.cell('rec1', '成本(元)')).toBe(0.5);
  });

  it('two hundred pasted rows are all stored, cleared and 生成中 within two turns, and one other person is not kept waiting', async () => {
    const world = await createWorld();
    for (let index = 0; index < 200; index += 1) world.newRow(`bulk${index}`, { 提交人: [{ id: 'ou_bulk' }] });
    world.newRow('single', { 提交人: [{ id: 'ou_single' }] });
    await world.turn();
    await world.turn();
    const rows = [...world.feishu.tables.get(tableId)!.rows.values()];
    expect(rows.every((row) => row['操作'] === null && row['状态'] === '生成中')).toBe(true);
    expect(world.engine.submits).toHaveLength(201);
    const order = world.engine.submits.findIndex((submit) => submit.sourceRef.includes('/single#'));
    expect(order).toBeLessThan(20);
  });

  it('P042 a row deleted between the word and the clear ends quietly', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    world.newRow('rec2');
    world.feishu.beforeUpdate = () => {
      world.feishu.tables.get(tableId)!.rows.delete('rec1');
    };
    await world.turn();
    expect(world.engine.submits.map((submit) => submit.sourceRef)).toEqual(['bitable:app1/tbl1/rec2#portrait']);
    expect(await world.store.documents('bitable-command')).toEqual([]);
  });

  it('P009 a 状态 that swallows writes is found by the first read back, and the operator is told once', async () => {
    const world = await createWorld();
    const original = world.feishu.updateRecords.bind(world.feishu);
    world.feishu.updateRecords = async (table, writes, signal) => {
      const swallowed = writes.map(({ recordId, fields }) => {
        const { 状态: _status, ...rest } = fields;
        return { recordId, fields: _status === undefined ? fields : rest };
      });
      return await original(table, swallowed, signal);
    };
    for (const id of ['rec1', 'rec2']) world.newRow(id);
    await world.turn();
    const notices = await world.store.events(0, 100, { types: ['notice'] });
    expect(notices.filter((event) => event.data['name'] === 'status-not-written')).toHaveLength(1);
  });

  it('取消 typed before the row was submitted keeps it from being submitted', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    let downloads = 0;
    world.feishu.fault = (call) => {
      if (call.name !== 'download') return undefined;
      downloads += 1;
      // The first try runs beside the clear; by the second the row is cleared and waits for its file.
      if (downloads === 2) world.put('rec1', { 操作: '取消' });
      return downloads <= 2 ? { failure: failure(1061001) } : undefined;
    };
    void world.side.tick();
    await world.settle(4_000);
    await world.turn();
    expect(world.engine.submits).toHaveLength(0);
    expect(world.cell('rec1', '状态')).toBe('已取消');
  });

  it('fetches the pictures of a row while its word is being cleared, and only once', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    await world.turn();
    const names = world.feishu.calls.map((call) => call.name);
    expect(names.filter((name) => name === 'download')).toHaveLength(1);
    expect(names.indexOf('download')).toBeLessThan(names.indexOf('update'));
    expect(world.engine.submits).toHaveLength(1);
  });
});

function raw(world: World, id: string): RawRecord {
  return { recordId: id, fields: { ...world.row(id) } };
}

function allRows(world: World): readonly RawRecord[] {
  return [...world.feishu.tables.get(tableId)!.rows.keys()].map((id) => raw(world, id));
}
