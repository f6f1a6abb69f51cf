import { waitUntil } from '../../src/app/index.ts';
import type { Outside } from '../support/outside.ts';
import { clock } from './crew.ts';

/** Rows that one picture is put into and 提交 typed, all at once. */
export async function submitRows(outside: Outside, count: number): Promise<readonly string[]> {
  const { sandbox, table } = outside;
  const token = await outside.picture();
  return Array.from({ length: count }, (_unused, index) =>
    sandbox.table.createRow(table, { 产品图: [{ file_token: token }], 产品说明: `第 ${index + 1} 件`, 操作: '提交' }),
  );
}

const atRest = ['待确认', '完成', '失败', '待核对', '已取消'];

/** Waits until all rows rest; those in `toTheEnd` are sent on with 通过 wherever they wait for it. */
export async function drive(
  outside: Outside,
  rows: readonly string[],
  toTheEnd: readonly string[],
  limitMs: number,
): Promise<void> {
  const { table: door } = outside.sandbox;
  await waitUntil(
    clock,
    () => {
      for (const row of toTheEnd) {
        if (door.text(outside.table, row, '状态') !== '待确认' || door.text(outside.table, row, '操作') !== '')
          continue;
        door.setCells(outside.table, row, { 操作: '通过' });
      }
      const isOver = words(outside, toTheEnd).every((word) => word !== '待确认');
      return Promise.resolve(isOver && words(outside, rows).every((word) => atRest.includes(word)));
    },
    50,
    limitMs,
  );
}

export function words({ sandbox, table }: Outside, rows: readonly string[]): readonly string[] {
  return rows.map((row) => sandbox.table.text(table, row, '状态'));
}

/** What the rows say, for a test that fails. */
export function tellRows({ sandbox, table }: Outside, rows: readonly string[]): string {
  return rows
    .map((row) => ['状态', '进度', '报错', '提示'].map((column) => sandbox.table.text(table, row, column)).join(' | '))
    .join('\n');
}
