import { describe, expect, it } from 'vitest';
import type { WakeEvent } from '../../src/feishu/client.ts';
import { createWorld, settings, type World } from './support/world.ts';

let serial = 0;
function edit(recordId: string, word: string, changes: Partial<WakeEvent> = {}): WakeEvent {
  serial += 1;
  return {
    eventId: `e${serial}`,
    tableId: 'tbl1',
    operatorId: 'ou_staff',
    records: [{ recordId, action: 'record_edited', fieldIds: ['fld0'], after: { fld0: word } }],
    ...changes,
  };
}

const searches = (world: World): number => world.feishu.count('search');

describe('the long connection wakes the turn', () => {
  it('starts a row within a second of the event, without a search', async () => {
    const world = await createWorld({ wakeIsAlive: () => true });
    await world.turn();
    const before = searches(world);
    world.newRow('rec1');
    world.side.wake(edit('rec1', '提交'));
    await world.clock.advance(1_000);
    expect(world.engine.submits).toHaveLength(1);
    expect(world.engine.last().labels.submitter).toBe('ou_staff');
    expect(searches(world)).toBe(before);
  });

  it('P049 with a connection that is alive but silent, the search still comes every sweep interval', async () => {
    const world = await createWorld({ wakeIsAlive: () => true });
    for (let turn = 0; turn < 61; turn += 1) await world.turn();
    expect(searches(world)).toBeGreaterThanOrEqual(3);
    expect(searches(world)).toBeLessThanOrEqual(5);
    world.newRow('rec1');
    for (let turn = 0; turn < 21; turn += 1) await world.turn();
    expect(world.engine.submits).toHaveLength(1);
    expect(world.side.status()).toMatchObject({ lastEventAt: null });
  });

  it('searches at every turn again once the connection is dead', async () => {
    let isAlive = true;
    const world = await createWorld({ wakeIsAlive: () => isAlive });
    for (let turn = 0; turn < 4; turn += 1) await world.turn();
    expect(searches(world)).toBe(1);
    isAlive = false;
    for (let turn = 0; turn < 4; turn += 1) await world.turn();
    expect(searches(world)).toBe(5);
  });

  it('needs at most 170 calls on an idle day', async () => {
    const world = await createWorld({ wakeIsAlive: () => true });
    world.feishu.calls.length = 0;
    for (let turn = 0; turn < 2_880; turn += 1) {
      await world.side.tick();
      await world.clock.advance(30_000);
    }
    expect(world.feishu.calls.length).toBeLessThanOrEqual(170);
  });

  it('the same event twice, events of other tables, other columns and our own edits cost nothing', async () => {
    const world = await createWorld({ wakeIsAlive: () => true });
    await world.turn();
    world.newRow('rec1', { 操作: null });
    const before = world.feishu.calls.length;
    const other = edit('rec1', '提交', { tableId: 'tbl9' });
    world.side.wake(other);
    world.side.wake(other);
    world.side.wake(edit('rec1', '提交', { isOwn: true }));
    world.side.wake(edit('rec1', ''));
    world.side.wake({
      ...edit('rec1', ''),
      records: [{ recordId: 'rec1', action: 'record_edited', fieldIds: ['fld7'] }],
    });
    await world.settle(3_000);
    expect(world.feishu.calls.length).toBe(before);
  });

  it('a 状态 changed by hand is put right at once, and whoever answers our every write starts no loop', async () => {
    const world = await createWorld({ wakeIsAlive: () => true });
    await world.turn();
    world.newRow('rec1');
    world.side.wake(edit('rec1', '提交'));
    await world.settle(3_000);
    await world.engine.finish(world.engine.last().executionId, { output: await world.output('portrait') });
    await world.settle(5_000);
    expect(world.cell('rec1', '状态')).toBe('待确认');
    const byHand = (isOwn?: boolean): void => {
      world.put('rec1', { 状态: '完成' });
      const records = [{ recordId: 'rec1', action: 'record_edited', fieldIds: ['fld1'], after: { fld1: '完成' } }];
      world.side.wake(edit('rec1', '', { records, ...(isOwn === undefined ? {} : { isOwn }) }));
    };
    const before = world.feishu.calls.length;
    byHand();
    await world.settle(5_000);
    expect(world.feishu.calls.length).toBe(before);
    byHand(false);
    await world.settle(5_000);
    expect(world.cell('rec1', '状态')).toBe('待确认');
    expect(world.feishu.messages.at(-1)?.text).toMatch(/手工改成「完成」不起作用/);
    // The read, the write, and the word to whoever submitted it.
    expect(world.feishu.calls.length - before).toBe(3);
    for (let round = 0; round < 5; round += 1) {
      byHand(false);
      await world.settle(5_000);
    }
    expect(world.feishu.calls.length - before).toBe(3);
  });

  it('a repeated event of a command that is done starts nothing', async () => {
    const world = await createWorld({ wakeIsAlive: () => true });
    await world.turn();
    world.newRow('rec1');
    const event = edit('rec1', '提交');
    world.side.wake(event);
    await world.settle(3_000);
    world.side.wake(event);
    await world.settle(3_000);
    expect(world.engine.submits).toHaveLength(1);
  });

  it('recovers a word that staff typed over ours just before the clear', async () => {
    const world = await createWorld({ wakeIsAlive: () => true });
    await world.turn();
    world.newRow('rec1');
    let isFirst = true;
    world.feishu.beforeUpdate = () => {
      if (!isFirst) return;
      isFirst = false;
      world.put('rec1', { 操作: '取消' });
      world.side.wake(edit('rec1', '取消'));
    };
    world.side.wake(edit('rec1', '提交'));
    await world.settle(10_000);
    expect(world.cell('rec1', '操作')).toBeUndefined();
    expect(world.cell('rec1', '状态')).toBe('已取消');
  });

  /** A 提交 is found by the search; `during` happens while it is cleared. */
  async function clearing(during: (world: World) => void): Promise<World> {
    const world = await createWorld();
    world.newRow('rec1');
    let isFirst = true;
    world.feishu.beforeUpdate = () => {
      if (isFirst) during(world);
      isFirst = false;
    };
    await world.turn();
    await world.settle(60_000);
    return world;
  }

  it('a word that staff had corrected is not recovered by its event that comes late', async () => {
    const world = await clearing(({ side }) => {
      side.wake(edit('rec1', '提交', { revision: 9 }));
      side.wake(edit('rec1', '取消', { revision: 8 }));
    });
    expect(world.engine.submits).toHaveLength(1);
    expect(world.cell('rec1', '状态')).toBe('生成中');
  });

  it('twin: a word whose revision is the newer one is recovered, though the event of our clear came before its own', async () => {
    const world = await clearing((own) => {
      own.put('rec1', { 操作: '取消' });
      const { side } = own;
      side.wake(edit('rec1', '提交', { revision: 8 }));
      side.wake(edit('rec1', '', { revision: 10 }));
      side.wake(edit('rec1', '取消', { revision: 9 }));
    });
    expect(world.cell('rec1', '状态')).toBe('已取消');
  });

  it('twin: the event of the word that was cleared itself, arriving late, recovers nothing', async () => {
    const world = await createWorld({ wakeIsAlive: () => true });
    world.newRow('rec1');
    await world.side.tick();
    world.side.wake(edit('rec1', '提交'));
    await world.settle(10_000);
    expect(world.engine.submits).toHaveLength(1);
    expect(world.cell('rec1', '状态')).toBe('生成中');
  });
});

describe('the month’s calls', () => {
  it('P022 keeps the full pace while the quota is plenty, and slows the search down when it runs low', async () => {
    const small = { ...settings, feishu: { ...settings.feishu, monthly_call_budget: 400 } };
    const world = await createWorld({ settings: small });
    for (let turn = 0; turn < 60; turn += 1) await world.turn();
    const early = searches(world);
    for (let turn = 0; turn < 1_000; turn += 1) await world.turn();
    const later = searches(world) - early;
    expect(early).toBeGreaterThanOrEqual(60);
    expect(later).toBeLessThan(100);
    expect(world.side.callsThisMonth()).toMatchObject({ monthlyBudget: 400 });
    expect(world.side.status().calls.forecast).toBeGreaterThan(0);
  });
});
