import { describe, expect, it } from 'vitest';
import { attemptId, fail } from '../../src/kernel/index.ts';
import { createWorld } from './support/world.ts';
import { end, type, waitingRow } from './support/waiting-row.ts';

describe('what comes in doubt, late or after a word', () => {
  it('a call in doubt makes the row 待核对 with vendor, call and sum; 提交 gives it up and buys again', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    await world.turn();
    const attempt = await world.engine.hold(world.engine.last().executionId);
    await world.settle();
    expect(world.cell('rec1', '状态')).toBe('待核对');
    expect(world.cell('rec1', '报错')).toMatch(new RegExp(`kie.*0\\.35 元.*${attempt}`, 's'));
    await type(world, '提交');
    expect(world.engine.resolves).toEqual([
      { attemptId: attempt, verdict: { kind: 'not-accepted', endExecution: true } },
    ]);
    expect(world.engine.submits).toHaveLength(2);
    expect(world.engine.last().generation).toBe(0);
    await end(world, { output: await world.output('portrait') });
    expect(world.cell('rec1', '状态')).toBe('待确认');
  });

  it('提交 on a call that has been found meanwhile buys nothing; its result fills the row', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    await world.turn();
    const id = await world.engine.hold(world.engine.last().executionId);
    await world.settle();
    const attempt = await world.store.attempt(attemptId(id));
    await world.store.commit([
      { type: 'put-attempt', record: { ...attempt!, state: 'accepted', handle: {} }, expected: ['intended'] },
    ]);
    const refused = { kind: 'invalid-input', code: 'not-in-doubt', message: 'accepted' } as const;
    world.engine.resolve = () => Promise.resolve(fail(refused));
    await type(world, '提交');
    expect(world.engine.submits).toHaveLength(1);
    expect(world.cell('rec1', '提示')).toMatch(/已确认被厂商受理，没有重新购买/);
    await end(world, { output: await world.output('portrait') });
    expect(world.cell('rec1', '状态')).toBe('待确认');
  });

  it('提交 on a call that its execution has just bought again buys nothing beside it', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    await world.turn();
    const execution = world.engine.last().executionId;
    const id = await world.engine.hold(execution);
    await world.settle();
    const held = await world.store.attempt(attemptId(id));
    world.engine.resolve = async () => {
      // Found not to be there in the moment between the word and this.
      const next = { ...held!, id: attemptId('01900000-0000-7000-8000-0000000000aa'), ordinal: held!.ordinal + 1 };
      await world.store.commit([
        { type: 'put-attempt', record: { ...held!, state: 'not-accepted' }, expected: [held!.state] },
        {
          type: 'create-attempt',
          record: { ...next, state: 'intended' },
          epoch: (await world.store.execution(execution))!.epoch,
        },
      ]);
      return fail({ kind: 'invalid-input', code: 'not-in-doubt', message: 'not-accepted' });
    };
    await type(world, '提交');
    expect(world.engine.submits).toHaveLength(1);
    expect(world.engine.cancels).toEqual([]);
    expect(world.cell('rec1', '提示')).toMatch(/没有受理，流程已自动重新购买/);
    await end(world, { output: await world.output('portrait') });
    expect(world.cell('rec1', '状态')).toBe('待确认');
  });

  it('a call in doubt that is found fills the row by itself', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    await world.turn();
    await world.engine.hold(world.engine.last().executionId);
    await world.settle();
    await end(world, { output: await world.output('portrait') });
    expect(world.row('rec1')).toMatchObject({ 状态: '待确认', 报错: null });
  });

  it('the finished file put into the cell of a doubtful last stage makes the row 完成 without buying', async () => {
    const world = await createWorld();
    await waitingRow(world);
    await type(world, '通过');
    await end(world, { output: await world.output('storyboard') });
    await type(world, '通过');
    await world.engine.hold(world.engine.last().executionId);
    await world.settle();
    await type(world, '提交', { 视频: [world.photo('mine.png')] });
    expect(world.cell('rec1', '状态')).toBe('完成');
    expect(world.engine.submits).toHaveLength(3);
    expect(world.engine.resolves).toEqual([]);
  });

  it('取消 while running stops, keeps a result that still comes, and starts nothing after it', async () => {
    const world = await createWorld({ confirmSetting: () => false });
    await waitingRow(world);
    await type(world, '通过');
    const running = world.engine.last().executionId;
    world.engine.cancel = (id) => {
      world.engine.cancels.push(id);
      return Promise.resolve();
    };
    await type(world, '取消');
    expect(world.engine.cancels).toEqual([running]);
    await end(world, { output: await world.output('storyboard') });
    expect(world.cell('rec1', '状态')).toBe('已取消');
    expect(world.tokens('rec1', '分镜图')).toHaveLength(1);
    expect(world.engine.submits).toHaveLength(2);
  });

  it('the end of an earlier execution dies, but its money is in 成本 and it is named in 提示', async () => {
    const world = await createWorld();
    world.newRow('rec1');
    await world.turn();
    const old = world.engine.last().executionId;
    await world.engine.hold(old);
    await world.settle();
    await type(world, '提交');
    await world.engine.charge(old, 350_000);
    await world.engine.finish(old, { output: await world.output('portrait', 'old') });
    await world.settle();
    expect(world.row('rec1')).toMatchObject({ 状态: '生成中', '成本(元)': 0.35 });
    expect(world.cell('rec1', '提示')).toMatch(/结果未采用，费用已计入成本/);
    expect(world.tokens('rec1', '上身图')).toEqual([]);
  });

  it('a late result is kept behind the newest version and named', async () => {
    const world = await createWorld();
    await waitingRow(world);
    const [newest] = world.tokens('rec1', '上身图');
    await world.engine.late(world.engine.last().executionId, { images: [{ ...(await world.made('late')) }] });
    await world.settle();
    const tokens = world.tokens('rec1', '上身图');
    expect(tokens).toHaveLength(2);
    expect(tokens[0]).toBe(newest);
    expect(world.cell('rec1', '提示')).toMatch(/迟到的结果/);
    expect(world.cell('rec1', '状态')).toBe('待确认');
  });
});
