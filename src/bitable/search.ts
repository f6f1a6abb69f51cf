import type { JsonObject } from '../kernel/index.ts';
import type { TableColumns } from './columns.ts';

/**
 * The filter of the one search: 操作 is not empty, or (for the look at start and every hour) 状态 is 生成中. A select without
 * that option has no such row, and naming an unknown option may be an error. `value: []` must be there (facts: filter).
 */
export function statusFilter(columns: TableColumns, withRunning: boolean): JsonObject {
  const { 操作: operation, 状态: status } = columns.protocol;
  const conditions: JsonObject[] = [{ field_name: operation?.name ?? '', operator: 'isNotEmpty', value: [] }];
  const isSelect = status !== undefined && status.type === 3;
  if (withRunning && status !== undefined && (!isSelect || status.options.includes('生成中'))) {
    conditions.push({ field_name: status.name, operator: 'is', value: ['生成中'] });
  }
  return { conjunction: 'or', conditions };
}
