import { describe, expect, it } from 'vitest';
import { adler32 } from '../../src/sandbox/bytes.ts';
import { noLatencies } from '../../src/sandbox/index.ts';
import { type Answer, form, openWorld, tableId, tablePath, type TestWorld } from './world.ts';

const medias = '/feishu/open-apis/drive/v1/medias';

async function token(world: TestWorld): Promise<string> {
  const answer = await world.call('POST', '/feishu/open-apis/auth/v3/tenant_access_token/internal', {
    app_id: 'cli_5a9db0c05a9db0c0',
    app_secret: 'sandbox-secret',
  });
  return `Bearer ${String(answer.at('tenant_access_token'))}`;
}

async function upload(
  world: TestWorld,
  change: { size?: number; parent?: string; name?: string; checksum?: string; bytes?: Uint8Array } = {},
): Promise<Answer> {
  const bytes = change.bytes ?? Uint8Array.from([1, 2, 3, 4]);
  const { body, headers } = form(
    {
      file_name: change.name ?? '图.png',
      parent_type: 'bitable_file',
      parent_node: change.parent ?? world.sandbox.appToken,
      size: change.size ?? bytes.length,
      ...(change.checksum === undefined ? {} : { checksum: change.checksum }),
    },
    { name: 'file', fileName: 'x.bin', bytes },
  );
  return world.call('POST', `${medias}/upload_all`, body, { ...headers, authorization: await token(world) });
}

describe('media of the sandbox', () => {
  it('keeps an upload and gives its bytes back, whole and in ranges', async () => {
    const world = await openWorld();
    const fileToken = String((await upload(world)).at('data.file_token'));
    const get = (range?: string): Promise<Response> =>
      token(world).then((authorization) =>
        world.fetch(`http://sandbox.test${medias}/${fileToken}/download`, {
          method: 'GET',
          headers: { authorization, ...(range === undefined ? {} : { range }) },
        }),
      );
    expect([...(await (await get()).bytes())]).toEqual([1, 2, 3, 4]);
    const part = await get('bytes=1-2');
    expect(part.status).toBe(206);
    expect([...(await part.bytes())]).toEqual([2, 3]);
  });

  it.each([
    ['a wrong size', { size: 3 }, 1062009],
    ['an unknown base', { parent: 'basNobody' }, 1061044],
    ['no name', { name: '' }, 1061008],
    ['a wrong checksum', { checksum: '1' }, 1062008],
    ['no bytes', { length: 0 }, 1061002],
    ['a byte too many', { length: 20_971_521 }, 1061043],
  ])('refuses an upload with %s', async (_what, change, code) => {
    const bytes = 'length' in change ? { bytes: new Uint8Array(change.length) } : {};
    expect((await upload(await openWorld(), { ...change, ...bytes })).at('code')).toBe(code);
  });

  it('answers 1061045 inside HTTP 200 to a second upload at the same time', async () => {
    const world = await openWorld({ latencies: { ...noLatencies, feishuMediaMs: 50 } });
    const first = upload(world);
    const second = upload(world);
    await world.clock.advance(0);
    await world.clock.advance(60);
    const codes = [(await first).at('code'), (await second).at('code')];
    expect(codes.toSorted()).toEqual([0, 1061045]);
  });

  it('takes parts of 4 MiB in any order, checks them, and joins them', async () => {
    const world = await openWorld();
    const authorization = await token(world);
    const bytes = new Uint8Array(4_194_304 + 10).fill(7);
    const prepared = await world.call(
      'POST',
      `${medias}/upload_prepare`,
      { file_name: 'v.mp4', parent_type: 'bitable_file', parent_node: world.sandbox.appToken, size: bytes.length },
      { authorization },
    );
    expect(prepared.json).toMatchObject({ data: { block_size: 4_194_304, block_num: 2 } });
    const id = String(prepared.at('data.upload_id'));
    const send = (seq: number, part: Uint8Array, checksum = adler32(part)): Promise<Answer> => {
      const { body, headers } = form(
        { upload_id: id, seq, size: part.length, checksum },
        { name: 'file', bytes: part },
      );
      return world.call('POST', `${medias}/upload_part`, body, { ...headers, authorization });
    };
    const finish = (): Promise<Answer> =>
      world.call('POST', `${medias}/upload_finish`, { upload_id: id, block_num: 2 }, { authorization });
    expect((await send(1, bytes.subarray(4_194_304), 5)).at('code')).toBe(1062008);
    expect((await send(1, bytes.subarray(4_194_304))).at('code')).toBe(0);
    expect((await finish()).at('code')).toBe(1062010);
    expect((await send(0, bytes.subarray(0, 4_194_304))).at('code')).toBe(0);
    const fileToken = String((await finish()).at('data.file_token'));
    const kept = await world.sandbox.table.fileBytes(fileToken);
    expect(Buffer.from(kept ?? []).equals(bytes)).toBe(true);
  });

  it('asks for the place of an attachment under advanced permission', async () => {
    const world = await openWorld();
    const fileToken = await world.sandbox.table.uploadFile('a.png', Uint8Array.from([9]));
    const recordId = world.sandbox.table.createRow(tableId, { 产品图: [{ file_token: fileToken }] });
    world.sandbox.platform.setAdvancedPermission(true);
    const fieldId = world.sandbox.table.fields(tableId).find((field) => field.name === '产品图')?.fieldId ?? '';
    const extra = (perm: unknown): string => encodeURIComponent(JSON.stringify({ bitablePerm: perm }));
    const get = (query: string): Promise<Answer> =>
      world.feishu('GET', `/drive/v1/medias/${fileToken}/download${query}`);
    expect((await get('')).at('code')).toBe(1061002);
    expect((await get(`?extra=${extra({ tableId, rev: 1 })}`)).at('code')).toBe(1061004);
    const right = { tableId, attachments: { [fieldId]: { [recordId]: [fileToken] } } };
    expect((await get(`?extra=${extra(right)}`)).status).toBe(200);
  });

  it('gives temporary links that need no token, at most five a call', async () => {
    const world = await openWorld();
    const fileToken = await world.sandbox.table.uploadFile('a.png', Uint8Array.from([9]));
    const path = '/drive/v1/medias/batch_get_tmp_download_url';
    const answer = await world.feishu('GET', `${path}?file_tokens=${fileToken}`);
    const url = String(answer.at('data.tmp_download_urls.0.tmp_download_url'));
    expect([...(await (await world.fetch(url, { method: 'GET' })).bytes())]).toEqual([9]);
    const many = Array.from({ length: 6 }, () => `file_tokens=${fileToken}`).join('&');
    expect((await world.feishu('GET', `${path}?${many}`)).at('code')).toBe(1061002);
  });

  it('sends a message once for one uuid, and refuses a stranger', async () => {
    const world = await openWorld();
    const send = (id: string, uuid: string): Promise<Answer> =>
      world.feishu('POST', '/im/v1/messages?receive_id_type=chat_id', {
        receive_id: id,
        msg_type: 'text',
        content: '{"text":"好"}',
        uuid,
      });
    const first = await send('oc_1', 'u1');
    expect((await send('oc_1', 'u1')).at('data.message_id')).toBe(first.at('data.message_id'));
    expect(world.sandbox.books.messages()).toHaveLength(1);
    expect((await send('oc_outside', 'u2')).at('code')).toBe(230002);
  });

  it('creates tables and columns as the platform does', async () => {
    const world = await openWorld();
    const root = `/bitable/v1/apps/${world.sandbox.appToken}/tables`;
    const fields = [
      { field_name: '名', type: 1 },
      { field_name: '图', type: 17 },
    ];
    const made = await world.feishu('POST', root, { table: { name: '新表', fields } });
    expect(made.at('code')).toBe(0);
    expect((await world.feishu('POST', root, { table: { name: '新表', fields } })).at('code')).toBe(1254013);
    const first = [{ field_name: '图', type: 17 }];
    expect((await world.feishu('POST', root, { table: { name: '又一', fields: first } })).at('code')).toBe(1254012);
    const again = { field_name: '操作', type: 3 };
    expect((await world.feishu('POST', `${tablePath(world.sandbox)}/fields`, again)).at('code')).toBe(1254014);
    const listed = await world.feishu('GET', `${tablePath(world.sandbox)}/fields?page_size=5`);
    expect(listed.json).toMatchObject({ data: { has_more: true, page_token: 'pg5' } });
  });

  it('resolves a wiki node and subscribes a base', async () => {
    const world = await openWorld();
    world.sandbox.platform.setWikiToken('wikToken1');
    const node = await world.feishu('GET', '/wiki/v2/spaces/get_node?token=wikToken1');
    expect(node.at('data.node.obj_token')).toBe(world.sandbox.appToken);
    const subscribe = `/drive/v1/files/${world.sandbox.appToken}/subscribe`;
    expect((await world.feishu('POST', `${subscribe}?file_type=bitable`, {})).at('code')).toBe(0);
    expect((await world.feishu('POST', subscribe, {})).at('code')).toBe(1069602);
  });
});
