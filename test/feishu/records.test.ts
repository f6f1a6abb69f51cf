import { describe, expect, it } from 'vitest';
import { createBench, done, type Handler, refusal, type SeenRequest } from './support/fake-platform.ts';

const table = { appToken: 'appX', tableId: 'tblX' };
const api =
  (handler: Handler): Handler =>
  (request: SeenRequest) =>
    request.path.endsWith('/internal') ? undefined : handler(request);
const row = (index: number) => ({ record_id: `rec${index}`, fields: { 名称: [{ type: 'text', text: `${index}` }] } });

/** Serves `count` items in pages of the asked size. */
const paged = (count: number, item: (index: number) => unknown): Handler =>
  api(({ query }) => {
    const start = Number(query.get('page_token') ?? '0');
    const size = Number(query.get('page_size') ?? '20');
    const items = Array.from({ length: Math.min(size, count - start) }, (_, index) => item(start + index));
    const hasMore = start + size < count;
    return done({ items, has_more: hasMore, page_token: `${start + size}`, total: count });
  });

describe('a search', () => {
  it('P007 sees all 650 rows over two pages', async () => {
    const bench = createBench(paged(650, row));
    const answer = await bench.run(bench.client.searchRecords(table, { automaticFields: true }));
    expect(answer.ok && answer.value.length).toBe(650);
    expect(bench.to('search')).toHaveLength(2);
    expect(bench.to('search')[0]?.query.get('page_size')).toBe('500');
  });

  it('P007 ends with an error when there is more but no page token, and does not pass for a short table', async () => {
    const bench = createBench(api(() => done({ items: [row(1)], has_more: true, page_token: '' })));
    const answer = await bench.run(bench.client.searchRecords(table, {}));
    expect(answer).toMatchObject({ ok: false, failure: { class: 'retry' } });
    expect(bench.to('search')).toHaveLength(1);
  });

  it('P007 ends with an error when a page token comes twice', async () => {
    const bench = createBench(api(() => done({ items: [row(1)], has_more: true, page_token: 'again' })));
    const answer = await bench.run(bench.client.searchRecords(table, {}));
    expect(answer.ok ? '' : answer.failure.message).toContain('used already');
    expect(bench.to('search')).toHaveLength(2);
  });

  it('goes by has_more alone: a page token beside "no more" is not followed', async () => {
    const bench = createBench(api(() => done({ items: [row(1)], has_more: false, page_token: 'stray' })));
    const answer = await bench.run(bench.client.searchRecords(table, {}));
    expect(answer.ok && answer.value).toHaveLength(1);
    expect(bench.to('search')).toHaveLength(1);
  });

  it('asks for smaller pages when the answer would be too large, and loses no row', async () => {
    const all = paged(300, row);
    const bench = createBench((request) =>
      request.path.endsWith('/search') && Number(request.query.get('page_size')) > 100
        ? refusal(1254030)
        : all(request),
    );
    const answer = await bench.run(bench.client.searchRecords(table, {}));
    expect(answer.ok && answer.value.length).toBe(300);
    expect(bench.to('search').map(({ query }) => query.get('page_size'))).toEqual(['500', '100', '100', '100']);
  });

  it('gives a row that two pages hold once, as the later page has it', async () => {
    const pages = [
      { items: [row(1), row(2)], has_more: true, page_token: 'p2' },
      { items: [{ ...row(2), fields: { 名称: 'newer' } }], has_more: false },
    ];
    const bench = createBench(api(({ query }) => done(pages[query.has('page_token') ? 1 : 0])));
    const answer = await bench.run(bench.client.searchRecords(table, {}));
    expect(answer.ok && answer.value.map((record) => [record.recordId, record.fields['名称']])).toEqual([
      ['rec1', row(1).fields.名称],
      ['rec2', 'newer'],
    ]);
  });

  it('sends filter and columns in the body, at the outermost level', async () => {
    const bench = createBench(api(() => done({ items: [], has_more: false })));
    const filter = { conjunction: 'and', conditions: [{ field_name: '操作', operator: 'isNotEmpty', value: [] }] };
    await bench.run(bench.client.searchRecords(table, { filter, fieldNames: ['操作'], automaticFields: true }));
    expect(bench.to('search')[0]?.json).toEqual({ filter, field_names: ['操作'], automatic_fields: true });
  });

  it('reads an empty table whose items are missing, rows without fields, and who made them', async () => {
    const none = createBench(api(() => done({ has_more: false, total: 0 })));
    expect(await none.run(none.client.searchRecords(table, {}))).toEqual({ ok: true, value: [] });
    const item = {
      record_id: 'rec1',
      created_by: { id: 'ou_1' },
      last_modified_by: { id: 'ou_2' },
      last_modified_time: 5,
    };
    const bench = createBench(api(() => done({ items: [item], has_more: false })));
    expect(await bench.run(bench.client.searchRecords(table, {}))).toEqual({
      ok: true,
      value: [{ recordId: 'rec1', fields: {}, createdById: 'ou_1', lastModifiedById: 'ou_2', lastModifiedAt: 5 }],
    });
  });
});

describe('rows by id', () => {
  it('are read 100 at a time, with those that are gone or forbidden named', async () => {
    const bench = createBench(
      api(({ json }) => {
        const ids = json.record_ids;
        const present = ids.filter((id) => id !== 'rec7' && id !== 'rec8');
        return done({
          records: present.map((id) => ({ record_id: id, fields: {} })),
          absent_record_ids: ids.filter((id) => id === 'rec7'),
          forbidden_record_ids: ids.filter((id) => id === 'rec8'),
        });
      }),
    );
    const ids = Array.from({ length: 250 }, (_, index) => `rec${index}`);
    const answer = await bench.run(bench.client.getRecords(table, ids));
    expect(answer.ok && [answer.value.records.length, answer.value.absent, answer.value.forbidden]).toEqual([
      248,
      ['rec7'],
      ['rec8'],
    ]);
    expect(bench.to('batch_get').map(({ json }) => json.record_ids.length)).toEqual([100, 100, 50]);
  });

  it('are read in smaller chunks when the answer would be too large', async () => {
    const bench = createBench(
      api(({ json }) =>
        json.record_ids.length > 20
          ? refusal(1254030, 400)
          : done({ records: json.record_ids.map((id) => ({ record_id: id, fields: {} })) }),
      ),
    );
    const ids = Array.from({ length: 50 }, (_, index) => `rec${index}`);
    const answer = await bench.run(bench.client.getRecords(table, ids));
    expect(answer.ok && answer.value.records.map((record) => record.recordId)).toEqual(ids);
  });

  it('are written in one batch, null clearing a cell', async () => {
    const bench = createBench(api(() => done({ records: [] })));
    await bench.run(bench.client.updateRecords(table, [{ recordId: 'rec1', fields: { 操作: null, 状态: '生成中' } }]));
    expect(bench.to('batch_update')[0]?.json).toEqual({
      records: [{ record_id: 'rec1', fields: { 操作: null, 状态: '生成中' } }],
    });
  });

  it('P011 are not written at all when a number is not finite: JSON would clear the cell', async () => {
    const bench = createBench(api(done));
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) {
      const answer = await bench.run(
        bench.client.updateRecords(table, [{ recordId: 'rec1', fields: { 成本: value } }]),
      );
      expect(answer).toMatchObject({ ok: false, failure: { class: 'invalid' } });
    }
    expect(bench.seen).toHaveLength(0);
  });

  it('are refused above 500 a batch, before anything is sent', async () => {
    const bench = createBench(api(done));
    const writes = Array.from({ length: 501 }, (_, index) => ({ recordId: `rec${index}`, fields: {} }));
    expect((await bench.run(bench.client.updateRecords(table, writes))).ok).toBe(false);
    expect(bench.seen).toHaveLength(0);
  });

  it('are made with a version-4 client token that stays the same when the call is repeated', async () => {
    let count = 0;
    const bench = createBench(
      api(() => {
        count += 1;
        return count === 1
          ? new Response('', { status: 502 })
          : done({ records: [{ record_id: 'recNew', fields: {} }] });
      }),
    );
    const answer = await bench.run(bench.client.createRecords(table, [{ 名称: 'x' }]));
    expect(answer).toEqual({ ok: true, value: ['recNew'] });
    const tokens = bench.to('batch_create').map(({ query }) => query.get('client_token'));
    expect(tokens[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(tokens[1]).toBe(tokens[0]);
  });
});

describe('columns, tables, bases', () => {
  it('P006 lists all 130 columns over two pages', async () => {
    const bench = createBench(
      paged(130, (index) => ({ field_id: `fld${index}`, field_name: `列${index}`, type: 1, property: null })),
    );
    const answer = await bench.run(bench.client.listFields(table));
    expect(answer.ok && answer.value.map((field) => field.name)).toContain('列129');
    expect(answer.ok && answer.value[0]).toEqual({ fieldId: 'fld0', name: '列0', type: 1 });
    expect(bench.to('/fields')).toHaveLength(2);
  });

  it('P032 resolves a wiki link to the base itself, once', async () => {
    const bench = createBench(
      api(({ query }) =>
        done({ node: { obj_token: 'bascnReal', obj_type: query.get('token') === 'WnodeX1' ? 'bitable' : 'docx' } }),
      ),
    );
    const link = 'https://studio.feishu.cn/wiki/WnodeX1?table=tblX';
    expect(await bench.run(bench.client.resolveBase(link))).toEqual({ ok: true, value: 'bascnReal' });
    expect(await bench.run(bench.client.resolveBase(link))).toEqual({ ok: true, value: 'bascnReal' });
    expect(bench.to('get_node')).toHaveLength(1);
    const page = await bench.run(bench.client.resolveBase('https://studio.feishu.cn/wiki/WnodeY2'));
    expect(page).toMatchObject({ ok: false, failure: { class: 'config' } });
  });

  it('takes a base token or a base link as it is, without a call', async () => {
    const bench = createBench(api(done));
    expect(await bench.run(bench.client.resolveBase('bascnAbc123'))).toEqual({ ok: true, value: 'bascnAbc123' });
    const link = 'https://studio.feishu.cn/base/bascnAbc123?table=tblX&view=vewY';
    expect(await bench.run(bench.client.resolveBase(link))).toEqual({ ok: true, value: 'bascnAbc123' });
    expect(bench.seen).toHaveLength(0);
  });

  it('makes a table with its columns, and a column with its options', async () => {
    const bench = createBench(
      api(({ path }) =>
        path.endsWith('/fields') ? done({ field: { field_id: 'fldNew' } }) : done({ table_id: 'tblNew' }),
      ),
    );
    const status = { name: '状态', type: 3, property: { options: [{ name: '完成', color: 3 }] }, description: 'bot' };
    expect(await bench.run(bench.client.createTable('appX', '试穿', [status]))).toEqual({ ok: true, value: 'tblNew' });
    expect(await bench.run(bench.client.createField(table, status))).toEqual({ ok: true, value: 'fldNew' });
    const field = {
      field_name: '状态',
      type: 3,
      property: { options: [{ name: '完成', color: 3 }] },
      description: { text: 'bot' },
    };
    expect(bench.seen.slice(-2).map(({ json }) => json)).toEqual([{ table: { name: '试穿', fields: [field] } }, field]);
  });
});

describe('messages and subscriptions', () => {
  it('sends text with its uuid, and repeats it under the same one when no answer came', async () => {
    let count = 0;
    const bench = createBench(
      api(() => {
        count += 1;
        return count === 1 ? new Response('', { status: 500 }) : done({ message_id: 'om_1' });
      }),
    );
    expect((await bench.run(bench.client.sendText({ chatId: 'oc_1' }, '你好 "x"', 'hint-1'))).ok).toBe(true);
    expect(bench.to('/messages').map(({ json }) => json.uuid)).toEqual(['hint-1', 'hint-1']);
    const sent = bench.to('/messages')[0];
    expect(sent?.query.get('receive_id_type')).toBe('chat_id');
    expect(JSON.parse(sent?.json.content ?? '')).toEqual({ text: '你好 "x"' });
  });

  it('refuses a message that the platform would refuse', async () => {
    const bench = createBench(api(done));
    const long = await bench.run(bench.client.sendText({ openId: 'ou_1' }, '字'.repeat(60_000), 'u'));
    expect(long).toMatchObject({ ok: false, failure: { class: 'too-large' } });
    const uuid = await bench.run(bench.client.sendText({ openId: 'ou_1' }, 'x', 'u'.repeat(51)));
    expect(uuid).toMatchObject({ ok: false, failure: { class: 'invalid' } });
    expect(bench.seen).toHaveLength(0);
  });

  it('subscribes a base with a body, an empty one (none at all is refused by the platform)', async () => {
    const bench = createBench(api(done));
    expect((await bench.run(bench.client.subscribeBase('appX'))).ok).toBe(true);
    const [sent] = bench.to('/subscribe');
    expect([sent?.query.get('file_type'), sent?.json]).toEqual(['bitable', {}]);
  });
});
