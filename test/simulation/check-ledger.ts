import type { ChargeRecord } from '../../src/engine/ports/index.ts';
import type { Accuse, OwnBooks } from './checks.ts';
import type { SimWorld } from './world.ts';

/**
 * The ledger equals the vendors' bills, unit by unit, to the last digit. What is left open (a call in doubt that nobody has
 * settled) must be named by an attempt in doubt: then the bill may exceed the settled charges, by no more tasks than
 * there are such attempts.
 */
export function checkLedger(world: SimWorld, own: OwnBooks, accuse: Accuse): void {
  const charges = new Map<string, ChargeRecord[]>();
  for (const charge of own.charges) charges.set(charge.attemptId, [...(charges.get(charge.attemptId) ?? []), charge]);
  for (const attempt of own.attempts) {
    if (!charges.has(attempt.id))
      accuse('unledgered_charge', `attempt ${attempt.id} (${attempt.provider}, ${attempt.state}) has no charge`);
  }
  const byTask = new Map<string, number>();
  for (const line of world.sandbox.books.bill()) {
    if (line.vendor === 'kie' || line.vendor === 'toapis')
      byTask.set(line.taskId, (byTask.get(line.taskId) ?? 0) + line.amountMicros);
  }
  const attemptOfTask = new Map<string, string>();
  for (const attempt of own.attempts) {
    const taskId = taskIdOf(attempt.handle);
    if (taskId !== undefined) attemptOfTask.set(taskId, attempt.id);
  }
  const inDoubt = own.attempts.filter((attempt) => ['unknown', 'not-accepted'].includes(attempt.state)).length;
  let unclaimed = 0;
  for (const [taskId, billed] of byTask) {
    const attemptId = attemptOfTask.get(taskId);
    if (attemptId === undefined) {
      unclaimed += 1;
      continue;
    }
    const booked = (charges.get(attemptId) ?? [])
      .filter((charge) => charge.state === 'settled')
      .reduce((sum, charge) => sum + charge.amount.micros, 0);
    if (booked !== billed) accuse('unledgered_charge', `task ${taskId}: billed ${billed}, booked ${booked}`);
  }
  if (unclaimed > inDoubt)
    accuse('unledgered_charge', `${unclaimed} billed tasks without an attempt, ${inDoubt} attempts in doubt`);
}

/** The vendor's task id inside a stored handle, whatever its adapter calls it. */
function taskIdOf(handle: Readonly<Record<string, unknown>> | undefined): string | undefined {
  for (const name of ['taskId', 'id', 'task_id']) {
    const value = handle?.[name];
    if (typeof value === 'string') return value;
  }
  return undefined;
}
