import { beforeEach, describe, expect, it } from 'vitest';
import { createBaseWriter, type BaseWriter, type WriterDeps } from '../../src/bitable/writer.ts';
import type { WriteOutcome } from '../../src/bitable/writer-entry.ts';
import { createSeededRandom, createVirtualClock, type JsonObject, silentLogger } from '../../src/kernel/index.ts';
import { createFakeFeishu, failure } from './support/fake-feishu.ts';
import { base, tableId, tryOnFields } from './support/world.ts';

const writable = new Set(['操作', '状态', '报错', '成本(元)', '提示', '视频']);
let clock = createVirtualClock();
let feishu = createFakeFeishu();
let writer: BaseWriter;
let told: string[] = [];

function build(changes: Partial<WriterDeps> = {}): void {
  clock = createVirtualClock();
  feishu = createFakeFeishu();
  told = [];
  feishu.tables.set(tableId, { fields: [...tryOnFields], rows: new Map() });
  writer = createBaseWriter({
    client: feishu,
    appToken: base,
    clock,
    random: createSeededRandom(1),
    logger: silentLogger,
    spacingMs: 500,
    signal: new AbortController().signal,
    columnsOf: () => ({ writable, lesser: new Set(['成本(元)', '提示']) }),
    onDown: (_failure, table) => told.push(`down ${table ?? 'base'}`),
    onRecovered: (table) => told.push(`recovered ${table ?? 'base'}`),
    onDropped: (_table, column) => told.push(`dropped ${column}`),
    onRowStuck: (_table, recordId) => told.push(`stuck ${recordId}`),
    ...changes,
  });
}

function rows(count: number): readonly string[] {
  const ids = Array.from({ length: count }, (_value, index) => `rec${index}`);
  for (const id of ids) feishu.tables.get(tableId)?.rows.set(id, {});
  return ids;
}

const write = async (recordId: string, cells: JsonObject, withinMs = 0): Promise<WriteOutcome> =>
  await writer.write({ tableId, recordId, cells, withinMs });

async function settle(forMs = 60_000): Promise<void> {
  for (let left = forMs; left > 0; left -= 250) await clock.advance(250);
}

beforeEach(() => build());

describe('the writer of a base', () => {
  it('P027 five rows that finish within 50 ms land in one write, and a conflict is tried again', async () => {
    let isFirst = true;
    feishu.fault = (call) => {
      if (call.name !== 'update' || !isFirst) return undefined;
      isFirst = false;
      return { failure: failure(1254291, { class: 'conflict' }) };
    };
    const outcomes = rows(5).map(async (id) => await write(id, { 状态: '完成' }, 50));
    await settle();
    expect((await Promise.all(outcomes)).map((outcome) => outcome.kind)).toEqual(Array(5).fill('written'));
    expect(feishu.count('update')).toBe(2);
  });

  it('lets the last value win while a write is under way, and keeps 500 ms between two', async () => {
    const [id = ''] = rows(1);
    const times: number[] = [];
    feishu.beforeUpdate = () => times.push(clock.monotonicMs());
    void write(id, { 状态: '生成中' });
    await clock.advance(10);
    void write(id, { 状态: '待确认' });
    void write(id, { 状态: '完成', 报错: '无' });
    await settle(5_000);
    expect(feishu.writes.map((each) => each.fields)).toEqual([{ 状态: '生成中' }, { 状态: '完成', 报错: '无' }]);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(500);
  });

  it('sends at most 500 rows in a batch', async () => {
    for (const id of rows(1_100)) void write(id, { 状态: '完成' }, 100);
    await settle(10_000);
    expect(feishu.calls.filter((call) => call.name === 'update').map((call) => call.rows)).toEqual([500, 500, 100]);
  });

  it('splits a refused batch until the bad row stands alone', async () => {
    const ids = rows(16);
    feishu.tables.get(tableId)?.rows.delete('rec11');
    const outcomes = ids.map(async (id) => await write(id, { 状态: '完成' }, 50));
    await settle();
    const kinds = (await Promise.all(outcomes)).map((outcome) => outcome.kind);
    expect(kinds.filter((kind) => kind === 'written')).toHaveLength(15);
    expect(kinds[11]).toBe('gone');
  });

  it('P011 a refused lesser cell is given up, the rest of the row is written', async () => {
    const [id = ''] = rows(1);
    const outcome = write(id, { 状态: '完成', '成本(元)': 'abc' });
    await settle();
    expect((await outcome).kind).toBe('written');
    expect(feishu.tables.get(tableId)?.rows.get(id)).toEqual({ 状态: '完成' });
    expect(told).toEqual(['dropped 成本(元)']);
  });

  it('P009 twin: a column that is not in the table refuses the row when it is not a lesser one', async () => {
    const [id = ''] = rows(1);
    feishu.tables.get(tableId)!.fields = tryOnFields.filter((field) => field.name !== '视频');
    const outcome = write(id, { 状态: '完成', 视频: null });
    await settle();
    expect(await outcome).toMatchObject({ kind: 'refused', failure: { code: 1254045 } });
  });

  it('reads before repeating when the outcome is unknown, and does not write again what was written', async () => {
    const [id = '', other = ''] = rows(2);
    let isFirst = true;
    feishu.fault = (call) => {
      if (call.name !== 'update' || !isFirst) return undefined;
      isFirst = false;
      return { failure: failure(1255040, { outcome: 'unknown' }), isDone: true };
    };
    const outcomes = [write(id, { 状态: '完成' }, 10), write(other, { 报错: '错' }, 10)];
    await settle();
    expect((await Promise.all(outcomes)).map((outcome) => outcome.kind)).toEqual(['written', 'written']);
    expect(feishu.count('update')).toBe(1);
    expect(feishu.count('get')).toBe(1);
  });

  it('does not clear a word that staff typed over ours before the repeat', async () => {
    const [id = ''] = rows(1);
    let isFirst = true;
    feishu.fault = (call) => {
      if (call.name !== 'update' || !isFirst) return undefined;
      isFirst = false;
      feishu.tables.get(tableId)?.rows.set(id, { 操作: '取消' });
      return { failure: failure(1254291, { class: 'conflict' }) };
    };
    const clears = { column: '操作', word: '提交' };
    const outcome = writer.write({ tableId, recordId: id, cells: { 操作: null, 状态: '生成中' }, clears, withinMs: 0 });
    await settle();
    expect((await outcome).kind).toBe('written');
    expect(feishu.tables.get(tableId)?.rows.get(id)).toEqual({ 操作: '取消', 状态: '生成中' });
  });

  it.each([undefined, 20_000])(
    'P029 a throttle of 20 s is waited out (reset header: %s), nothing fails',
    async (retryAfterMs) => {
      const [id = ''] = rows(1);
      const startMs = clock.monotonicMs();
      const times: number[] = [];
      feishu.fault = (call) => {
        if (call.name !== 'update') return undefined;
        times.push(clock.monotonicMs() - startMs);
        if (clock.monotonicMs() - startMs >= 20_000) return undefined;
        return {
          failure: failure(99991400, { class: 'throttled', ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }),
        };
      };
      const outcome = write(id, { 状态: '完成' });
      await settle(120_000);
      expect((await outcome).kind).toBe('written');
      if (retryAfterMs !== undefined) expect(times[1]).toBeGreaterThanOrEqual(20_000);
    },
  );

  it('P041 half an hour of 5000: the cells wait, one word at the start and one at the recovery', async () => {
    const [id = ''] = rows(1);
    feishu.fault = (call) =>
      call.name === 'update' && clock.monotonicMs() < 1_800_000 ? { failure: failure(5000) } : undefined;
    const outcome = write(id, { 状态: '完成' });
    await settle(300_000);
    expect(writer.isDown(tableId)).toBe(true);
    await settle(1_700_000);
    expect((await outcome).kind).toBe('written');
    expect(told).toEqual(['down base', 'recovered base']);
    expect(feishu.count('update')).toBeLessThan(60);
  });

  it('P019 a base that the bot may not write to is down at once', async () => {
    const [id = ''] = rows(1);
    feishu.fault = (call) =>
      call.name === 'update' ? { failure: failure(91403, { class: 'permission' }) } : undefined;
    void write(id, { 状态: '生成中' });
    await settle(2_000);
    expect(writer.isDown(tableId)).toBe(true);
    expect(told).toEqual(['down base']);
  });

  it('a table that is closed to the app does not hold back another one of its base, and is down alone', async () => {
    const [id = ''] = rows(1);
    feishu.tables.set('tbl2', { fields: [...tryOnFields], rows: new Map([['other', {}]]) });
    feishu.fault = (call) =>
      call.name === 'update' && call.table?.tableId === tableId
        ? { failure: failure(1254302, { class: 'permission' }) }
        : undefined;
    void write(id, { 状态: '完成' });
    await settle(5_000);
    for (const status of ['生成中', '完成']) {
      const outcome = writer.write({ tableId: 'tbl2', recordId: 'other', cells: { 状态: status }, withinMs: 0 });
      await settle(2_000);
      expect(feishu.tables.get('tbl2')?.rows.get('other')).toEqual({ 状态: status });
      expect((await outcome).kind).toBe('written');
    }
    await settle(120_000);
    expect([writer.isDown(tableId), writer.isDown('tbl2')]).toEqual([true, false]);
    expect(told).toEqual(['down tbl1']);
    feishu.fault = undefined;
    await settle(120_000);
    expect(told).toEqual(['down tbl1', 'recovered tbl1']);
    expect(feishu.tables.get(tableId)?.rows.get(id)).toEqual({ 状态: '完成' });
  });

  it('a row whose writes always fail without a reason is found, named and left by itself; the rest is written', async () => {
    const ids = rows(40);
    feishu.fault = (call) =>
      call.name === 'update' && call.writes?.some((each) => each.recordId === 'rec11') === true
        ? { failure: failure(1254200, { outcome: 'unknown' }) }
        : undefined;
    const kinds: string[] = [];
    for (const id of ids) void write(id, { 状态: '完成' }, 50).then((outcome) => kinds.push(outcome.kind));
    await settle();
    expect(kinds).toEqual(Array(39).fill('written'));
    expect(told).toEqual(['stuck rec11']);
    await settle(600_000);
    const before = feishu.count('update');
    void write('rec3', { 状态: '失败' });
    await settle(1_000);
    expect(feishu.tables.get(tableId)?.rows.get('rec3')).toEqual({ 状态: '失败' });
    expect([writer.isDown(tableId), told.length, feishu.count('update') - before]).toEqual([false, 1, 1]);
    feishu.fault = undefined;
    await settle(600_000);
    expect(feishu.tables.get(tableId)?.rows.get('rec11')).toEqual({ 状态: '完成' });
  });

  it('does not clear a word that staff typed while the bad row was looked for', async () => {
    rows(2);
    const rec0 = { 操作: '提交' };
    feishu.tables.get(tableId)?.rows.set('rec0', rec0);
    let failures = 0;
    feishu.fault = (call) => {
      if (call.name !== 'update' || call.writes?.some((each) => each.recordId === 'rec1') !== true) return undefined;
      failures += 1;
      if (failures === 3) rec0.操作 = '取消';
      return { failure: failure(1254200, { outcome: 'unknown' }) };
    };
    const clears = { column: '操作', word: '提交' };
    void write('rec1', { 状态: '完成' });
    while (failures < 2) await clock.advance(10);
    void writer.write({ tableId, recordId: 'rec0', cells: { 操作: null, 状态: '生成中' }, clears, withinMs: 0 });
    await settle();
    expect(feishu.tables.get(tableId)?.rows.get('rec0')).toEqual({ 操作: '取消', 状态: '生成中' });
  });

  it('an absent platform is not searched for a bad row again and again', async () => {
    for (const id of rows(40)) void write(id, { 状态: '完成' }, 50);
    feishu.fault = (call) =>
      call.name === 'update' && clock.monotonicMs() < 1_800_000
        ? { failure: failure(1254200, { outcome: 'unknown' }) }
        : undefined;
    await settle(1_700_000);
    expect(writer.isDown(tableId)).toBe(true);
    expect(feishu.count('update')).toBeLessThan(120);
    await settle(300_000);
    expect(told).toEqual(['down base', 'recovered base']);
    expect([...feishu.tables.get(tableId)!.rows.values()]).toEqual(Array(40).fill({ 状态: '完成' }));
  });

  it('tables take turns: one whose writes always fail without a reason does not stand before the others', async () => {
    const [id = ''] = rows(1);
    feishu.tables.set('tbl2', { fields: [...tryOnFields], rows: new Map([['other', {}]]) });
    feishu.fault = (call) =>
      call.name === 'update' && call.table?.tableId === tableId ? { failure: failure(1254607) } : undefined;
    void write(id, { 状态: '完成' });
    await settle(200_000);
    void writer.write({ tableId: 'tbl2', recordId: 'other', cells: { 状态: '完成' }, withinMs: 0 });
    await settle(120_000);
    expect(feishu.tables.get('tbl2')?.rows.get('other')).toEqual({ 状态: '完成' });
  });

  it('P026 a write that throws is tried again and does not end the writer', async () => {
    const [id = ''] = rows(1);
    let isFirst = true;
    feishu.beforeUpdate = () => {
      if (!isFirst) return;
      isFirst = false;
      throw new Error('bug');
    };
    const outcome = write(id, { 状态: '完成' });
    await settle();
    expect((await outcome).kind).toBe('written');
  });

  it('never lets a column leave that is not the bot’s', async () => {
    const [id = ''] = rows(1);
    await expect(write(id, { 产品说明: '改' })).rejects.toThrow(/产品说明/);
    await settle(1_000);
    expect(feishu.count('update')).toBe(0);
  });
});
