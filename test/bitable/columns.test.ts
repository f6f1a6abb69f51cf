import { describe, expect, it } from 'vitest';
import { agentSchema } from '../../src/contract/index.ts';
import { resolveColumns } from '../../src/bitable/index.ts';
import type { FieldInfo } from '../../src/feishu/client.ts';
import { tryOn, tryOnFields } from './support/world.ts';

const withType = (name: string, type: number): readonly FieldInfo[] =>
  tryOnFields.map((field) => (field.name === name ? { ...field, type } : field));
const without = (...names: string[]): readonly FieldInfo[] =>
  tryOnFields.filter((field) => !names.includes(field.name));
const renamed = (name: string, to: string): readonly FieldInfo[] =>
  tryOnFields.map((field) => (field.name === name ? { ...field, name: to } : field));
const faultsOf = (fields: readonly FieldInfo[]): readonly string[] => {
  const result = resolveColumns(tryOn, fields);
  return result.ok ? [] : result.failure.map((fault) => `${fault.column}: ${fault.problem} / ${fault.remedy}`);
};

describe('finding the columns of an agent', () => {
  it('binds required and optional columns, and only the bot’s may be written', () => {
    const result = resolveColumns(tryOn, tryOnFields);
    expect(result.ok && [...result.value.writable].sort()).toEqual(
      [
        '操作',
        '状态',
        '报错',
        '成本(元)',
        '进度',
        '提示',
        '耗时(秒)',
        '执行编号',
        '上身图',
        '脚本方案',
        '分镜图',
        '视频',
      ].sort(),
    );
  });

  it('does without the optional columns, and without options of 操作 and 状态', () => {
    const fields = without('进度', '提示', '打回意见', '耗时(秒)', '执行编号', '提交人').map(
      ({ fieldId, name, type }) => ({ fieldId, name, type }),
    );
    expect(faultsOf(fields)).toEqual([]);
  });

  it('finds names after NFKC and trimming, and 成本 for 成本(元)', () => {
    expect(faultsOf(renamed('成本(元)', ' 成本（元） '))).toEqual([]);
    expect(faultsOf(renamed('成本(元)', '成本'))).toEqual([]);
  });

  it('takes the configured name instead of the usual one', () => {
    const agent = agentSchema.parse({ ...tryOn, columns: { 操作: '指令' } });
    const result = resolveColumns(agent, renamed('操作', '指令'));
    expect(result.ok && result.value.protocol.操作?.name).toBe('指令');
    expect(resolveColumns(agent, tryOnFields).ok).toBe(false);
  });

  it('P002 refuses a formula as 操作 and says that the bot cannot clear it', () => {
    expect(faultsOf(withType('操作', 20)).join()).toMatch(/操作.*公式列.*不能清空/s);
  });

  it('P009 refuses a Stage column as 状态', () => {
    expect(faultsOf(withType('状态', 24)).join()).toMatch(/状态.*流程列.*不能通过接口写入/s);
  });

  it('names a missing or hidden column with its remedy, all faults at once', () => {
    const faults = faultsOf(without('状态', '产品图', '视频'));
    expect(faults).toHaveLength(3);
    expect(faults.join()).toMatch(/高级权限/);
  });

  it('P006 finds a column wherever it stands in a long list', () => {
    const many = Array.from({ length: 130 }, (_value, index) => ({
      fieldId: `x${index}`,
      name: `列${index}`,
      type: 1,
    }));
    expect(faultsOf([...many, ...tryOnFields])).toEqual([]);
  });
});
