import { expect } from 'vitest';
import type { AttemptRecord, Store } from '../../src/engine/ports/index.ts';
import type { Outside } from './outside.ts';

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
