import { describe, expect, it } from 'vitest';
import { provision, resolveColumns } from '../../src/bitable/index.ts';
import { createFakeFeishu } from './support/fake-feishu.ts';
import { base, tableId, tryOn, tryOnFields } from './support/world.ts';

const sceneInput = { column: '场景', type: 'select' as const, options: ['室内', '街拍'] };

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

  it('names the options that staff would miss, in 操作 and in inputs, and changes no column', async () => {
    const agent = { ...tryOn, inputs: { ...tryOn.inputs, scene: sceneInput } };
    const feishu = createFakeFeishu();
    const made = await provision(feishu, agent, base);
    expect(made.ok && made.value.lacking).toEqual([]);
    const table = [...feishu.tables.values()][0];
    const options = { 操作: [{ name: '提交', id: 'opt1' }], 场景: [{ name: ' 室内', id: 'opt2' }], 状态: [] };
    const fields = (table?.fields ?? []).map((field) =>
      field.name in options ? { ...field, property: { options: options[field.name as keyof typeof options] } } : field,
    );
    feishu.tables.set(tableId, { fields, rows: new Map() });
    const again = await provision(feishu, agent, base, tableId);
    expect(again.ok && again.value).toMatchObject({
      created: [],
      lacking: [
        { column: '操作', options: ['通过', '打回', '取消'] },
        { column: '场景', options: ['街拍'] },
      ],
    });
    expect(feishu.tables.get(tableId)?.fields).toEqual(fields);
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
