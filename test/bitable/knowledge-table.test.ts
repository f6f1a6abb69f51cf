import { describe, expect, it } from 'vitest';
import { createKnowledgeTable } from '../../src/bitable/index.ts';
import { createVirtualClock, type Json, silentLogger } from '../../src/kernel/index.ts';
import { createFakeFeishu, failure } from './support/fake-feishu.ts';

const table = { appToken: 'appKnow', tableId: 'tblKnow' };

function world() {
  const clock = createVirtualClock();
  const client = createFakeFeishu();
  const rows = new Map<string, Record<string, Json>>([
    ['rec1', { 标题: '真丝', 内容: [{ type: 'text', text: '桑蚕丝，可机洗。' }], 来源: '面料手册' }],
    ['rec2', { 内容: '没有标题的一条' }],
    ['rec3', { 标题: '只有标题' }],
  ]);
  const fields = ['标题', '内容', '来源'].map((name) => ({ fieldId: `fld${name}`, name, type: 1, property: {} }));
  client.tables.set(table.tableId, { fields, rows });
  const read = createKnowledgeTable({ client, table, clock, logger: silentLogger });
  return { clock, client, rows, read };
}

describe('a table of snippets', () => {
  it('gives one document a row: title, text and source; a row without text is none', async () => {
    expect(await world().read()).toEqual([
      { source: '面料手册', text: '# 真丝\n桑蚕丝，可机洗。' },
      { source: '知识表 rec2', text: '没有标题的一条' },
    ]);
  });

  it('is read once in ten minutes, and once for all who ask at the same time', async () => {
    const { clock, client, read, rows } = world();
    await Promise.all([read(), read(), read()]);
    rows.set('rec4', { 内容: '新的一条' });
    await clock.advance(599_000);
    expect(await read()).toHaveLength(2);
    expect(client.count('search')).toBe(1);
    await clock.advance(2_000);
    expect(await read()).toHaveLength(3);
    expect(client.count('search')).toBe(2);
  });

  it('serves its last copy while the platform cannot be read, and asks again each time', async () => {
    const { clock, client, read } = world();
    await read();
    client.fault = () => ({ failure: failure(1254290) });
    await clock.advance(700_000);
    expect(await read()).toHaveLength(2);
    client.fault = undefined;
    expect(await read()).toHaveLength(2);
    expect(client.count('search')).toBe(3);
  });

  it('rejects when it was never read: writing without the facts would go unnoticed', async () => {
    const { client, read } = world();
    client.fault = () => ({ failure: failure(1254302, { class: 'permission' }) });
    await expect(read()).rejects.toThrow('1254302');
    client.fault = undefined;
    expect(await read()).toHaveLength(2);
  });
});
