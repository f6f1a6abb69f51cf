import { describe, expect, it } from 'vitest';
import { provision, resolveColumns } from '../../src/bitable/index.ts';
import { createFakeFeishu } from './support/fake-feishu.ts';
import { base, tableId, tryOn, tryOnFields } from './support/world.ts';

describe('setting a table up', () => {
  it('makes a table whose columns fit the agent, with a text first, options, colours and descriptions', async () => {
    const feishu = createFakeFeishu();
    const made = await provision(feishu, tryOn, base);
    expect(made.ok && made.value).toMatchObject({ isNewTable: true, faults: [] });
    const fields = [...feishu.tables.values()][0]?.fields ?? [];
    expect(fields[0]).toMatchObject({ name: '产品说明', type: 1 });
    expect(resolveColumns(tryOn, fields).ok).toBe(true);
    const operation = fields.find((field) => field.name === '操作');
    expect(operation?.property?.['options']).toMatchObject([
      { name: '提交' },
      { name: '通过' },
      { name: '打回' },
      { name: '取消' },
    ]);
    expect(fields.every((field) => 'description' in field)).toBe(true);
  });

  it('adds only what is missing, under any name that counts, and does no harm when run again', async () => {
    const feishu = createFakeFeishu();
    const fields = tryOnFields
      .filter((field) => !['提示', '视频'].includes(field.name))
      .map((field) => (field.name === '成本(元)' ? { ...field, name: '成本' } : field));
    feishu.tables.set(tableId, { fields: [...fields], rows: new Map() });
    const first = await provision(feishu, tryOn, base, tableId);
    expect(first.ok && first.value.created.toSorted()).toEqual(['提示', '视频'].toSorted());
    const again = await provision(feishu, tryOn, base, tableId);
    expect(again.ok && again.value).toMatchObject({ created: [], faults: [], isNewTable: false });
  });

  it('leaves a column of the wrong type alone and says what to do', async () => {
    const feishu = createFakeFeishu();
    const fields = tryOnFields.map((field) => (field.name === '状态' ? { ...field, type: 24 } : field));
    feishu.tables.set(tableId, { fields, rows: new Map() });
    const made = await provision(feishu, tryOn, base, tableId);
    expect(made.ok && made.value.faults.map((fault) => fault.column)).toEqual(['状态']);
    expect(feishu.tables.get(tableId)?.fields.find((field) => field.name === '状态')?.type).toBe(24);
  });
});
