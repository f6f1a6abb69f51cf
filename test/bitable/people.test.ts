import { describe, expect, it } from 'vitest';
import { agentSchema } from '../../src/contract/index.ts';
import { failure } from './support/fake-feishu.ts';
import { base, createWorld, tableId, tryOn } from './support/world.ts';

describe('words for people', () => {
  it('go to the submitter, else to the group, else into 提示', async () => {
    const toPerson = await createWorld({ alertChatId: 'oc_group' });
    toPerson.newRow('rec1', { 操作: '通过', 提交人: [{ id: 'ou_1' }] });
    await toPerson.turn();
    expect(toPerson.feishu.messages).toMatchObject([{ to: 'ou_1' }]);
    expect(toPerson.feishu.messages[0]?.text).toMatch(/不能选「通过」/);
    const toGroup = await createWorld({ alertChatId: 'oc_group' });
    toGroup.newRow('rec1', { 操作: '通过' });
    await toGroup.turn();
    expect(toGroup.feishu.messages).toMatchObject([{ to: 'oc_group' }]);
    const toRow = await createWorld();
    toRow.newRow('rec1', { 操作: '通过' });
    await toRow.turn();
    expect(toRow.feishu.messages).toEqual([]);
    expect(toRow.cell('rec1', '提示')).toMatch(/不能选「通过」/);
  });

  it('a person who cannot be reached is told in the group', async () => {
    const world = await createWorld({ alertChatId: 'oc_group' });
    world.feishu.fault = (call) =>
      call.name === 'message' && world.feishu.count('message') === 1
        ? { failure: failure(230013, { class: 'permission' }) }
        : undefined;
    world.newRow('rec1', { 操作: '通过', 提交人: [{ id: 'ou_away' }] });
    await world.turn();
    await world.settle(60_000);
    expect(world.feishu.messages).toMatchObject([{ to: 'oc_group' }]);
  });

  it('a message outlasts ten minutes of an absent platform, in order, and its person is not given up', async () => {
    const world = await createWorld();
    const submitter = { 提交人: [{ id: 'ou_1' }] };
    world.feishu.fault = (call) => (call.name === 'message' ? { failure: failure(5000) } : undefined);
    world.newRow('rec1', { 操作: '通过', ...submitter });
    world.newRow('rec2', submitter);
    await world.turn();
    await world.settle(300_000);
    world.newRow('rec3', { 操作: '打回', ...submitter });
    await world.turn();
    await world.settle(300_000);
    expect(world.feishu.messages).toEqual([]);
    world.feishu.fault = undefined;
    await world.settle(600_000);
    expect(world.feishu.messages.map((message) => message.to)).toEqual(['ou_1', 'ou_1']);
    expect(world.feishu.messages[0]?.text).toMatch(/不能选「通过」/);
    expect(world.feishu.messages[1]?.text).toMatch(/不能选「打回」/);
    await world.engine.finish(world.engine.last().executionId, { output: await world.output('portrait') });
    await world.settle();
    expect(world.feishu.messages.at(-1)).toMatchObject({ to: 'ou_1' });
    expect(world.feishu.messages.at(-1)?.text).toMatch(/待确认/);
  });

  it('a person who could not be written to is tried again after a day', async () => {
    const world = await createWorld({ alertChatId: 'oc_group' });
    world.feishu.fault = (call) =>
      call.name === 'message' && world.feishu.count('message') === 1
        ? { failure: failure(230013, { class: 'permission' }) }
        : undefined;
    const ask = async (id: string): Promise<void> => {
      world.newRow(id, { 操作: '通过', 提交人: [{ id: 'ou_1' }] });
      await world.turn();
    };
    await ask('rec1');
    await ask('rec2');
    expect(world.feishu.messages.map((message) => message.to)).toEqual(['oc_group', 'oc_group']);
    await world.clock.advance(24 * 3_600_000);
    await ask('rec3');
    expect(world.feishu.messages.at(-1)).toMatchObject({ to: 'ou_1' });
  });

  it('many at once are merged into one text', async () => {
    const world = await createWorld({ alertChatId: 'oc_group' });
    for (let index = 0; index < 40; index += 1) world.newRow(`rec${index}`, { 产品图: null });
    await world.turn();
    expect(world.feishu.messages.length).toBeLessThanOrEqual(3);
    expect(world.feishu.messages.map((message) => message.text).join('\n')).toMatch(/rec0/);
  });

  it('nothing is said twice when the process dies after sending', async () => {
    const world = await createWorld({ alertChatId: 'oc_group' });
    world.newRow('rec1', { 产品图: null });
    let isFirst = true;
    world.feishu.fault = (call) => {
      if (call.name !== 'message' || !isFirst) return undefined;
      isFirst = false;
      return { failure: failure(0, { outcome: 'unknown' }), isDone: true };
    };
    await world.turn();
    await world.restart();
    await world.settle(120_000);
    expect(world.feishu.messages).toHaveLength(1);
    expect(await world.store.documents('bitable-message')).toEqual([]);
  });

  it('the submitter hears of the end of each stage', async () => {
    const world = await createWorld();
    world.newRow('rec1', { 提交人: [{ id: 'ou_1' }] });
    await world.turn();
    await world.engine.finish(world.engine.last().executionId, { output: await world.output('portrait') });
    await world.settle();
    expect(world.feishu.messages).toMatchObject([{ to: 'ou_1' }]);
    expect(world.feishu.messages[0]?.text).toMatch(/待确认/);
  });

  it('only those in the list may type 通过', async () => {
    const definition = agentSchema.parse({ ...tryOn, approvers: ['ou_boss'] });
    const world = await createWorld({ agents: [{ definition, table: { appToken: base, tableId } }] });
    world.newRow('rec1');
    await world.turn();
    await world.engine.finish(world.engine.last().executionId, { output: await world.output('portrait') });
    await world.settle();
    const approve = async (operatorId: string): Promise<void> => {
      world.put('rec1', { 操作: '通过' });
      world.side.wake({
        eventId: operatorId,
        tableId,
        operatorId,
        records: [{ recordId: 'rec1', action: 'record_edited', fieldIds: ['fld0'] }],
      });
      await world.settle(5_000);
    };
    await approve('ou_other');
    expect(world.engine.submits).toHaveLength(1);
    expect(world.cell('rec1', '状态')).toBe('待确认');
    await approve('ou_boss');
    expect(world.engine.submits).toHaveLength(2);
  });

  it('a 状态 edited by hand is put right with a hint when the row is next read', async () => {
    const world = await createWorld();
    world.newRow('rec1', { 产品图: null });
    await world.turn();
    world.put('rec1', { 状态: '完成', 操作: '通过' });
    await world.turn();
    await world.turn();
    expect(world.cell('rec1', '状态')).toBe('失败');
    expect(world.cell('rec1', '提示')).toMatch(/由机器人维护/);
  });
});

describe('进度', () => {
  it('P051 tells stage, vendor and since when at transitions, 排队 and why, and is empty at the end', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    await world.turn();
    const id = world.engine.last().executionId;
    await world.engine.event(id, 'node-waiting', { node: 'draw', reason: 'room', words: 'kie 并发已满' });
    await world.settle();
    expect(world.cell('rec1', '进度')).toMatch(/^排队 · ①上身图 · kie 并发已满 · \d\d:\d\d 起$/);
    await world.engine.event(id, 'attempt-accepted', { node: 'draw', provider: 'kie' });
    await world.settle();
    expect(world.cell('rec1', '进度')).toMatch(/^①上身图 · kie · \d\d:\d\d 起$/);
    await world.engine.finish(id, { output: await world.output('portrait') });
    await world.settle(60_000);
    expect(world.cell('rec1', '进度')).toBeUndefined();
  });

  it('a late transition does not overwrite the end', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    await world.turn();
    const id = world.engine.last().executionId;
    await world.engine.event(id, 'attempt-accepted', { node: 'draw', provider: 'kie' });
    await world.engine.finish(id, { output: await world.output('portrait') });
    await world.settle(60_000);
    expect(world.cell('rec1', '进度')).toBeUndefined();
    expect(world.cell('rec1', '状态')).toBe('待确认');
  });
});
