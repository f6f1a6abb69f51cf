import { expect } from 'vitest';
import { waitUntil } from '../../src/app/index.ts';
import type { AttemptRecord, Store } from '../../src/engine/ports/index.ts';
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

/** Every task at a vendor belongs to one attempt of ours, and each step was bought once. */
export async function expectEachBoughtOnce(outside: Outside, store: Store): Promise<void> {
  const executions = await store.executions({ limit: 1_000 });
  const attempts = (await Promise.all(executions.map(async (each) => await store.attempts(each.id)))).flat();
  const media = attempts.filter((attempt) => attempt.mediaClass !== 'text' && attempt.state !== 'refused');
  const bySteps = Map.groupBy(media, (attempt) => `${attempt.sourceRef} ${attempt.nodePath}`);
  const twice = [...bySteps.values()].filter((group) => group.length > 1).flat();
  expect(twice.map(tellAttempt)).toEqual([]);
  const handles = media.map((attempt) => JSON.stringify(attempt.handle ?? {}));
  const foreign = outside.sandbox.books
    .acceptedTasks()
    .filter((task) => !handles.some((handle) => handle.includes(task.taskId)));
  const inDoubt = media.filter((attempt) => attempt.state === 'unknown');
  expect(foreign.length).toBeLessThanOrEqual(inDoubt.length);
}

function tellAttempt({
  executionId,
  nodePath,
  ordinal,
  generation,
  provider,
  state,
  intendedAt,
}: AttemptRecord): string {
  const at = new Date(intendedAt).toISOString();
  return `${executionId} ${nodePath} try ${ordinal} of generation ${generation} at ${provider}: ${state}, intended ${at}`;
}

/** To the last digit; a call in doubt stands with its estimate, which the bill may or may not confirm. */
export async function expectLedgerEqualsBill(outside: Outside, store: Store): Promise<void> {
  const charges = (await store.charges({})).filter((charge) => charge.provider === 'kie');
  const sumOf = (state: string): number =>
    charges.filter((charge) => charge.state === state).reduce((sum, charge) => sum + charge.amount.micros, 0);
  const billed = outside.sandbox.books.billTotals()['kie']?.['credit:kie'] ?? 0;
  expect(sumOf('settled')).toBeLessThanOrEqual(billed);
  expect(sumOf('settled') + sumOf('reserved')).toBeGreaterThanOrEqual(billed);
  if (sumOf('reserved') === 0) expect(sumOf('settled')).toBe(billed);
}
