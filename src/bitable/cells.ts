import type { Json, JsonObject } from '../kernel/index.ts';
import { writeNumber, writeText, writeYuan } from './codec-write.ts';
import type { TableColumns } from './columns.ts';
import type { ProtocolColumn } from './protocol-columns.ts';
import { type RowDocument } from './row-documents.ts';

/** Values of the bot's protocol columns, by their fixed names. */
export type ProtocolValues = Readonly<Partial<Record<ProtocolColumn, Json>>>;

/** The cells as this table calls them; optional columns that it has not are left out. */
export function protocolCells(columns: TableColumns, values: ProtocolValues): JsonObject {
  const cells: Record<string, Json> = {};
  for (const [key, column] of Object.entries(columns.protocol)) {
    const value = Object.entries(values).find(([name]) => name === key)?.[1];
    if (value !== undefined) cells[column.name] = value;
  }
  return cells;
}

/** Columns that the row can do without when the table refuses them: the truth of the row stands in the others. */
export function lesserColumns(columns: TableColumns): ReadonlySet<string> {
  const keys = ['成本', '进度', '提示', '耗时', '执行编号'] as const;
  return new Set(keys.flatMap((key) => columns.protocol[key]?.name ?? []));
}

/** 提示: marks of each stage, then hints that belong to none; each line once. */
export function hintText(row: RowDocument): string | null {
  const lines = [...Object.values(row.stages).flatMap((stage) => stage.hints), ...row.notes];
  return writeText([...new Set(lines)].join('\n'));
}

/** 成本 and 耗时, as far as they are exact numbers. */
export function moneyAndTime(row: RowDocument, costMicros: number): ProtocolValues {
  const activeMs = Object.values(row.stages).reduce((sum, stage) => sum + stage.activeMs, 0);
  const cost = writeNumber(writeYuan(costMicros));
  const seconds = writeNumber(Math.round(activeMs / 1000));
  return { ...(cost === undefined ? {} : { 成本: cost }), ...(seconds === undefined ? {} : { 耗时: seconds }) };
}
