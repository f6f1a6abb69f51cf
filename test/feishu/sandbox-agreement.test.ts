import { describe, expect, it } from 'vitest';
import { sandboxAppToken } from '../../src/sandbox/index.ts';
import { runVirtually, sha, sourceOf } from './support/fake-platform.ts';
import { sandboxWorld } from './support/sandbox-world.ts';

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

describe('the client and the sandbox agree', () => {
  it('on tables, columns and the base itself', async () => {
    const { client, run, table } = await sandboxWorld();
    expect(await run(client.listTables(table.appToken))).toEqual([{ tableId: 'tblTryOn', name: '试穿' }]);
    const names = (await run(client.listFields(table))).map((field) => field.name);
    expect(names).toEqual(expect.arrayContaining(['产品说明', '操作', '状态', '成本(元)', '上身图']));
    expect(await run(client.baseInfo(table.appToken))).toMatchObject({ hasAdvancedPermissions: false });
    const fieldId = await run(client.createField(table, { name: '备注', type: 1, description: 'staff' }));
    expect((await run(client.listFields(table))).map((field) => field.fieldId)).toContain(fieldId);
    const tableId = await run(client.createTable(table.appToken, '素材', [{ name: '标题', type: 1 }]));
    expect((await run(client.listTables(table.appToken))).map((entry) => entry.tableId)).toContain(tableId);
  });

  it('on rows: made, found by filter, read by id, written, cleared, deleted', async () => {
    const { client, run, refused, table } = await sandboxWorld();
    const made = await run(
      client.createRecords(table, [{ 产品说明: '白衬衫', 操作: '提交' }, { 产品说明: '黑裤' }, { 产品说明: '帽子' }]),
    );
    const filter = { conjunction: 'and', conditions: [{ field_name: '操作', operator: 'isNotEmpty', value: [] }] };
    const found = await run(client.searchRecords(table, { filter, automaticFields: true }));
    expect(found.map((record) => record.recordId)).toEqual([made[0]]);
    expect(found[0]?.fields['操作']).toBe('提交');
    await run(
      client.updateRecords(table, [
        { recordId: made[0] ?? '', fields: { 操作: null, 状态: '生成中', '成本(元)': 1.5 } },
      ]),
    );
    const read = await run(client.getRecords(table, [...made, 'recMissing']));
    expect(read.absent).toEqual(['recMissing']);
    const first = read.records.find((record) => record.recordId === made[0]);
    expect(first?.fields).toMatchObject({ 状态: '生成中', '成本(元)': 1.5 });
    expect(first?.fields).not.toHaveProperty('操作');
    await run(client.deleteRecord(table, made[2] ?? ''));
    expect(await refused(client.deleteRecord(table, made[2] ?? ''))).toMatchObject({
      class: 'gone',
      outcome: 'refused',
    });
    const lost = client.updateRecords(table, [{ recordId: made[0] ?? '', fields: { 没有的列: 'x' } }]);
    expect(await refused(lost)).toMatchObject({ code: 1254045, class: 'schema' });
  });

  it('P007 on 650 rows over two pages', async () => {
    const { client, run, table } = await sandboxWorld();
    await run(
      client.createRecords(
        table,
        Array.from({ length: 500 }, (_, index) => ({ 产品说明: `${index}` })),
      ),
    );
    await run(
      client.createRecords(
        table,
        Array.from({ length: 150 }, (_, index) => ({ 产品说明: `${index}` })),
      ),
    );
    expect(await run(client.searchRecords(table, {}))).toHaveLength(650);
  });

  it('P031 on files: small and in parts, attached, downloaded again, foreign tokens refused', async () => {
    const { client, run, refused, table } = await sandboxWorld();
    const small = sourceOf('上身图 1.png', 40_000);
    const large = sourceOf('视频.mp4', 21 * 1024 * 1024);
    const [row = ''] = await run(client.createRecords(table, [{ 产品说明: 'x' }]));
    for (const source of [small, large]) {
      const fileToken = await run(client.uploadMedia(table.appToken, source));
      await run(client.updateRecords(table, [{ recordId: row, fields: { 上身图: [{ file_token: fileToken }] } }]));
      const { records } = await run(client.getRecords(table, [row]));
      expect(records[0]?.fields['上身图']).toMatchObject([
        { file_token: fileToken, name: source.name, size: source.sizeBytes },
      ]);
      const chunks = await run(client.downloadMedia({ fileToken }));
      expect(sha(await bytesOf(chunks))).toBe(sha(source.all));
    }
    const foreign = client.updateRecords(table, [
      { recordId: row, fields: { 上身图: [{ file_token: 'boxForeign' }] } },
    ]);
    expect(await refused(foreign)).toMatchObject({ class: 'foreign-attachment' });
  });

  it('P021 on advanced permissions', async () => {
    const { client, run, refused, sandbox, table } = await sandboxWorld();
    const fileToken = await run(client.uploadMedia(table.appToken, sourceOf('a.png', 100)));
    const [recordId = ''] = await run(client.createRecords(table, [{ 上身图: [{ file_token: fileToken }] }]));
    const fields = await run(client.listFields(table));
    const fieldId = fields.find((field) => field.name === '上身图')?.fieldId ?? '';
    sandbox.platform.setAdvancedPermission(true);
    expect(await run(client.baseInfo(table.appToken))).toMatchObject({ hasAdvancedPermissions: true });
    expect((await refused(client.downloadMedia({ fileToken }))).outcome).toBe('refused');
    const permission = { tableId: table.tableId, fieldId, recordId };
    expect(await bytesOf(await run(client.downloadMedia({ fileToken, permission })))).toHaveLength(100);
  });

  it('on spent tokens, missing rights, the wiki, quota, subscription and messages', async () => {
    const { client, run, refused, sandbox, table } = await sandboxWorld();
    await run(client.listTables(table.appToken));
    sandbox.platform.expireTokens();
    await run(client.listTables(table.appToken));
    sandbox.platform.setWikiToken('WnodeSandbox1');
    expect(await run(client.resolveBase('https://x.feishu.cn/wiki/WnodeSandbox1?table=tblTryOn'))).toBe(
      sandboxAppToken,
    );
    await run(client.subscribeBase(table.appToken));
    await run(client.sendText({ chatId: 'oc_group' }, '完成', 'uuid-1'));
    await run(client.sendText({ chatId: 'oc_group' }, '完成', 'uuid-1'));
    expect(sandbox.books.messages()).toHaveLength(1);
    sandbox.platform.setAppRole('reader');
    expect(await refused(client.createRecords(table, [{ 产品说明: 'x' }]))).toMatchObject({
      code: 91403,
      class: 'permission',
    });
    expect(await refused(client.subscribeBase(table.appToken))).toMatchObject({ class: 'permission' });
    sandbox.controls.quotaLeft = 0;
    expect(await refused(client.listTables(table.appToken))).toMatchObject({ class: 'quota' });
  });

  for (const form of ['200', '4xx'] as const) {
    it(`on codes in the ${form} form`, async () => {
      const { client, refused, sandbox, table } = await sandboxWorld();
      Object.assign(sandbox.controls, { errorForm: form });
      expect(
        await refused(client.updateRecords(table, [{ recordId: 'recNone', fields: { 状态: 'x' } }])),
      ).toMatchObject({
        code: 1254043,
        class: 'gone',
      });
    });
  }

  it('P029 on its rate limit: 60 calls at once all get through', async () => {
    const { client, clock, table } = await sandboxWorld();
    const work = Array.from({ length: 60 }, () => client.listTables(table.appToken));
    const answers = await runVirtually(clock, Promise.all(work));
    expect(answers.filter((answer) => answer.ok)).toHaveLength(60);
  });

  it('P027 on conflicts: five writes to one base at once all land', async () => {
    const { client, clock, run, table } = await sandboxWorld();
    const rows = await run(
      client.createRecords(
        table,
        Array.from({ length: 5 }, () => ({ 产品说明: 'x' })),
      ),
    );
    const writes = rows.map((recordId) => client.updateRecords(table, [{ recordId, fields: { 状态: '完成' } }]));
    const answers = await runVirtually(clock, Promise.all(writes));
    expect(answers.every((answer) => answer.ok)).toBe(true);
  });
});
