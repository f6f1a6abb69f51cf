import { describe, expect, it } from 'vitest';
import { noLatencies } from '../../src/sandbox/index.ts';
import { openWorld, tableId, tablePath, type TestWorld } from './world.ts';

const rowsPath = (world: TestWorld): string => `${tablePath(world.sandbox)}/records`;
const where = (field: string, operator: string, value: readonly string[] = []): unknown => ({
  filter: { conjunction: 'and', conditions: [{ field_name: field, operator, value }] },
});

describe('records of the sandbox', () => {
  it('shows cells in their read shapes and leaves empty ones out', async () => {
    const world = await openWorld();
    const { table } = world.sandbox;
    const token = await table.uploadFile('a.png', Uint8Array.from([1, 2, 3]));
    const id = table.createRow(tableId, {
      产品说明: '红裙',
      产品图: [{ file_token: token }],
      '成本(元)': 1.5,
      勾选: true,
    });
    const answer = await world.feishu('POST', `${rowsPath(world)}/search`, { automatic_fields: true });
    const item = (path: string): unknown => answer.at(`data.items.0.${path}`);
    expect(item('record_id')).toBe(id);
    expect(item('fields.产品说明')).toEqual([{ type: 'text', text: '红裙' }]);
    expect(item('fields.产品图.0')).toMatchObject({ file_token: token, name: 'a.png', size: 3, type: 'image/png' });
    expect(item('fields.产品图.0.tmp_url')).toContain('batch_get_tmp_download_url');
    expect(item('fields')).not.toHaveProperty('操作');
    expect(item('fields.提交人.0.id')).toBe('ou_sandbox_staff');
    expect(item('created_by.id')).toBe('ou_sandbox_staff');
  });

  it('filters by emptiness only when value is given, and refuses what the type does not allow', async () => {
    const world = await openWorld();
    world.sandbox.table.createRow(tableId, { 操作: '提交' });
    world.sandbox.table.createRow(tableId, { 产品说明: '无操作' });
    const found = await world.feishu('POST', `${rowsPath(world)}/search`, where('操作', 'isNotEmpty'));
    expect(found.at('data.total')).toBe(1);
    const missing = { filter: { conjunction: 'and', conditions: [{ field_name: '操作', operator: 'isNotEmpty' }] } };
    expect((await world.feishu('POST', `${rowsPath(world)}/search`, missing)).at('code')).toBe(1254018);
    expect((await world.feishu('POST', `${rowsPath(world)}/search`, where('产品图', 'is', ['x']))).at('code')).toBe(
      1254018,
    );
    expect((await world.feishu('POST', `${rowsPath(world)}/search`, where('公式', 'isEmpty'))).at('code')).toBe(
      1254018,
    );
    expect((await world.feishu('POST', `${rowsPath(world)}/search`)).at('code')).toBe(9499);
  });

  it.each([
    ['操作', 'is', ['提交'], 1],
    ['操作', 'isNot', ['提交'], 2],
    ['产品说明', 'contains', ['裙'], 1],
    ['产品说明', 'doesNotContain', ['裙'], 2],
    ['成本(元)', 'isGreater', ['1'], 1],
    ['成本(元)', 'isLessEqual', ['1'], 1],
    ['勾选', 'is', ['false'], 2],
    ['产品图', 'isEmpty', [], 3],
  ] as const)('filters %s %s %j to %i rows', async (field, operator, value, count) => {
    const world = await openWorld();
    world.sandbox.table.createRow(tableId, { 操作: '提交', 产品说明: '红裙', '成本(元)': 2, 勾选: true });
    world.sandbox.table.createRow(tableId, { 产品说明: '包', '成本(元)': 1 });
    world.sandbox.table.createRow(tableId, {});
    const answer = await world.feishu('POST', `${rowsPath(world)}/search`, where(field, operator, value));
    expect(answer.at('data.items')).toHaveLength(count);
  });

  it('ignores a filter that is wrapped one level too deep', async () => {
    const world = await openWorld();
    world.sandbox.table.createRow(tableId, {});
    const answer = await world.feishu('POST', `${rowsPath(world)}/search`, { filter: where('操作', 'isNotEmpty') });
    expect(answer.at('data.total')).toBe(1);
  });

  it('pages by token until has_more is false', async () => {
    const world = await openWorld();
    for (let index = 0; index < 45; index += 1) world.sandbox.table.createRow(tableId, { 产品说明: String(index) });
    const seen = new Set<string>();
    let token = '';
    do {
      const page = await world.feishu('POST', `${rowsPath(world)}/search?page_size=20&page_token=${token}`, {});
      for (const item of page.list('data.items')) seen.add(JSON.stringify(item['record_id']));
      token = page.at('data.has_more') === true ? String(page.at('data.page_token')) : '';
    } while (token !== '');
    expect(seen.size).toBe(45);
    expect((await world.feishu('POST', `${rowsPath(world)}/search?page_size=501`, {})).at('code')).toBe(1254011);
  });

  it('writes a batch all or nothing', async () => {
    const world = await openWorld();
    const id = world.sandbox.table.createRow(tableId, {});
    const records = [
      { record_id: id, fields: { 报错: '好' } },
      { record_id: id, fields: { 没有: 1 } },
    ];
    const answer = await world.feishu('POST', `${rowsPath(world)}/batch_update`, { records });
    expect(answer.at('code')).toBe(1254045);
    expect(world.sandbox.table.text(tableId, id, '报错')).toBe('');
  });

  it.each([
    ['报错', 5, 1254060],
    ['成本(元)', '5', 1254061],
    ['操作', 5, 1254062],
    ['标签', 'x', 1254063],
    ['日期', '2026-01-01', 1254064],
    ['勾选', 'yes', 1254065],
    ['负责人', 'ou_x', 1254066],
    ['链接', 'http://x', 1254068],
    ['产品图', 'box', 1254069],
    ['产品图', [{ file_token: 'boxForeign' }], 1254303],
    ['公式', 1, 1254015],
  ])('refuses %s = %j with %i', async (column, value, code) => {
    const world = await openWorld();
    const id = world.sandbox.table.createRow(tableId, {});
    const answer = await world.feishu('PUT', `${rowsPath(world)}/${id}`, { fields: { [column]: value } });
    expect(answer.at('code')).toBe(code);
  });

  it('makes an option out of a select value that is not there yet', async () => {
    const world = await openWorld();
    const id = world.sandbox.table.createRow(tableId, {});
    expect((await world.feishu('PUT', `${rowsPath(world)}/${id}`, { fields: { 状态: '待核对' } })).at('code')).toBe(0);
    const fields = await world.feishu('GET', `${tablePath(world.sandbox)}/fields?page_size=100`);
    const status = fields.list('data.items').find((field) => field['field_name'] === '状态');
    expect(JSON.stringify(status)).toContain('待核对');
  });

  it('answers 1254291 to a write while another write to the base is under way, and not to a read', async () => {
    const world = await openWorld({ latencies: { ...noLatencies, feishuWriteMs: 100 } });
    const id = world.sandbox.table.createRow(tableId, {});
    await world.feishu('GET', `${tablePath(world.sandbox)}/fields`);
    const write = (text: string): ReturnType<TestWorld['feishu']> =>
      world.feishu('PUT', `${rowsPath(world)}/${id}`, { fields: { 报错: text } });
    const first = write('一');
    const second = world.feishu('POST', `${rowsPath(world)}/batch_create`, { records: [{ fields: {} }] });
    expect((await second).at('code')).toBe(1254291);
    const read = await world.feishu('POST', `${rowsPath(world)}/search`, {});
    expect(read.at('code')).toBe(0);
    await world.clock.advance(100);
    expect((await first).at('code')).toBe(0);
    expect(world.sandbox.table.text(tableId, id, '报错')).toBe('一');
  });

  it('tells absent ids of a batch_get, and keeps the books of who wrote what', async () => {
    const world = await openWorld();
    const id = world.sandbox.table.createRow(tableId, { 操作: '提交' });
    await world.feishu('POST', `${rowsPath(world)}/batch_update`, {
      records: [{ record_id: id, fields: { 操作: null } }],
    });
    const answer = await world.feishu('POST', `${rowsPath(world)}/batch_get`, { record_ids: [id, 'recGone'] });
    expect(answer.at('data.absent_record_ids')).toEqual(['recGone']);
    expect(answer.at('data.records.0.fields')).not.toHaveProperty('操作');
    expect(world.sandbox.books.cellWrites().at(-1)).toMatchObject({ hand: 'app', column: '操作', before: '提交' });
  });

  it('throttles with the two headers, and stops for good when the quota is gone', async () => {
    const world = await openWorld();
    const calls = Array.from({ length: 22 }, () => world.feishu('POST', `${rowsPath(world)}/search`, {}));
    await Promise.all(calls);
    const refused = await world.feishu('POST', `${rowsPath(world)}/search`, {});
    expect(refused.status).toBe(429);
    expect(refused.at('code')).toBe(99991400);
    expect(refused.headers.get('x-ogw-ratelimit-reset')).toBe('1');
    await world.clock.advance(1_000);
    expect((await world.feishu('POST', `${rowsPath(world)}/search`, {})).at('code')).toBe(0);
    world.sandbox.controls.quotaLeft = 0;
    expect((await world.feishu('POST', `${rowsPath(world)}/search`, {})).at('code')).toBe(99991403);
  });

  it('calls an expired token 99991663, as HTTP 200 and as 4xx', async () => {
    const world = await openWorld();
    await world.feishu('POST', `${rowsPath(world)}/search`, {});
    world.sandbox.platform.expireTokens();
    expect(await world.feishu('POST', `${rowsPath(world)}/search`, {})).toMatchObject({
      status: 200,
      json: { code: 99991663 },
    });
    world.sandbox.controls.errorForm = '4xx';
    expect(await world.feishu('POST', `${rowsPath(world)}/search`, {})).toMatchObject({
      status: 400,
      json: { code: 99991663 },
    });
  });

  it('hides a column from the app, and shows nothing under advanced permission without the right to manage', async () => {
    const world = await openWorld();
    const id = world.sandbox.table.createRow(tableId, { 报错: '看不见' });
    world.sandbox.platform.hideColumn(tableId, '报错', true);
    const read = await world.feishu('POST', `${rowsPath(world)}/search`, {});
    expect(read.at('data.items.0.fields')).not.toHaveProperty('报错');
    expect((await world.feishu('PUT', `${rowsPath(world)}/${id}`, { fields: { 报错: 'x' } })).at('code')).toBe(1254045);
    world.sandbox.platform.setAdvancedPermission(true);
    world.sandbox.platform.setAppRole('editor');
    expect((await world.feishu('POST', `${rowsPath(world)}/search`, {})).at('data.items')).toEqual([]);
    world.sandbox.platform.setAppRole('none');
    expect((await world.feishu('POST', `${rowsPath(world)}/search`, {})).at('code')).toBe(91403);
  });

  it('misleads searches when told to: stale, unfiltered, doubled, short', async () => {
    const world = await openWorld();
    const { faults, table } = world.sandbox;
    const id = table.createRow(tableId, { 操作: '提交' });
    table.createRow(tableId, {});
    await world.clock.advance(120_000);
    table.setCells(tableId, id, { 操作: null });
    const search = (): ReturnType<TestWorld['feishu']> =>
      world.feishu('POST', `${rowsPath(world)}/search`, where('操作', 'isNotEmpty'));
    expect((await search()).at('data.total')).toBe(0);
    faults.add({ endpoint: 'feishu.records.search', action: { kind: 'search', twist: 'stale' } });
    expect((await search()).at('data.items.0.fields.操作')).toBe('提交');
    faults.add({ endpoint: 'feishu.records.search', action: { kind: 'search', twist: 'unfiltered' } });
    expect((await search()).at('data.total')).toBe(2);
    faults.add({ endpoint: 'feishu.records.search', action: { kind: 'search', twist: 'repeat-row' } });
    expect((await world.feishu('POST', `${rowsPath(world)}/search`, {})).at('data.items')).toHaveLength(3);
  });
});
