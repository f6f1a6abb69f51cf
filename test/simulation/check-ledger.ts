import type { AttemptRecord, ChargeRecord } from '../../src/engine/ports/index.ts';
import { isJsonObject } from '../../src/kernel/index.ts';
import { taskIdOf } from './check-attempts.ts';
import type { Accuse, OwnBooks } from './checks.ts';
import type { SimWorld } from './world.ts';

/**
 * The ledger equals the vendors' bills, unit by unit, to the last digit: task by task where a vendor names the task, and
 * call by call for text. A bill without an attempt must belong to a call in doubt, which the ledger names with its sum.
 */
export function checkLedger(world: SimWorld, own: OwnBooks, accuse: Accuse): void {
  const charges = Map.groupBy(own.charges, (charge) => charge.attemptId);
  for (const attempt of own.attempts) {
    const count = charges.get(attempt.id)?.length ?? 0;
    if (count !== 1)
      accuse('unledgered_charge', `attempt ${attempt.id} (${attempt.provider}, ${attempt.state}) has ${count} charges`);
  }
  checkTasks(world, own.attempts, charges, accuse);
  checkTexts(world, own.attempts, charges, accuse);
}

function checkTasks(
  world: SimWorld,
  attempts: readonly AttemptRecord[],
  charges: ReadonlyMap<string, readonly ChargeRecord[]>,
  accuse: Accuse,
): void {
  const billed = new Map<string, number>();
  for (const line of world.sandbox.books.bill()) {
    if (!isChat(line.vendor)) billed.set(line.taskId, (billed.get(line.taskId) ?? 0) + line.amountMicros);
  }
  let claimed = 0;
  for (const attempt of attempts) {
    const taskId = taskIdOf(attempt);
    if (attempt.mediaClass === 'text' || taskId === undefined) continue;
    const settled = (charges.get(attempt.id) ?? []).filter((charge) => charge.state === 'settled');
    const booked = settled.reduce((sum, charge) => sum + charge.amount.micros, 0);
    const due = billed.get(taskId) ?? 0;
    if (billed.has(taskId)) claimed += 1;
    if (booked !== due && !isUntold(attempt, settled) && !isUnpriced(world, taskId, settled))
      accuse(
        'unledgered_charge',
        `${attempt.id} ${attempt.state} task ${taskId}: billed ${due}, booked ${booked} (${settled.map((each) => each.source).join()})`,
      );
  }
  const doubts = attempts.filter(
    (each) => each.mediaClass !== 'text' && ['unknown', 'not-accepted'].includes(each.state),
  );
  if (billed.size - claimed > doubts.length)
    accuse(
      'unledgered_charge',
      `${billed.size - claimed} billed tasks without an attempt, ${doubts.length} attempts in doubt`,
    );
}

/** The vendor's word on a failure names no price: the ledger says `unknown`, and the balance will show what it was. */
function isUntold(attempt: AttemptRecord, settled: readonly ChargeRecord[]): boolean {
  return ['failed', 'expired', 'canceled'].includes(attempt.state) && settled[0]?.source === 'unknown';
}

/** Neither the price table nor any answer of the vendor names a sum: 0 until the monthly statement, and marked so. */
function isUnpriced({ sandbox }: SimWorld, taskId: string, settled: readonly ChargeRecord[]): boolean {
  const { tasks } = sandbox.snapshot();
  const task = isJsonObject(tasks) ? tasks[taskId] : undefined;
  const fate = isJsonObject(task) ? task['fate'] : undefined;
  return settled[0]?.source === 'unpriced' && isJsonObject(fate) && fate['hidesCost'] === true;
}

/** Tokens of calls whose answer arrived are booked to the last one; those that were lost stand as estimates, one each. */
function checkTexts(
  world: SimWorld,
  attempts: readonly AttemptRecord[],
  charges: ReadonlyMap<string, readonly ChargeRecord[]>,
  accuse: Accuse,
): void {
  const calls = new Set<string>();
  const billed = { input: 0, output: 0 };
  for (const line of world.sandbox.books.bill()) {
    if (!isChat(line.vendor)) continue;
    calls.add(`${line.vendor}/${line.taskId}`);
    if (line.unit === 'inputTokens') billed.input += line.amountMicros / 1_000_000;
    if (line.unit === 'outputTokens') billed.output += line.amountMicros / 1_000_000;
  }
  const booked = { input: 0, output: 0, calls: 0 };
  let lost = 0;
  for (const attempt of attempts) {
    if (attempt.mediaClass !== 'text') continue;
    const charge = charges.get(attempt.id)?.[0];
    const usage = charge?.usage;
    if (charge?.state === 'settled' && charge.source !== 'unknown' && usage?.['inputTokens'] !== undefined) {
      booked.calls += 1;
      booked.input += usage['inputTokens'] + (usage['cachedInputTokens'] ?? 0);
      booked.output += usage['outputTokens'] ?? 0;
    } else if (attempt.state !== 'refused') lost += 1;
  }
  const missing = calls.size - booked.calls;
  const isEqual = billed.input === booked.input && billed.output === booked.output;
  const isLess = billed.input > booked.input && billed.output >= booked.output;
  if (missing === 0 ? !isEqual : missing < 0 || missing > lost || !isLess)
    accuse(
      'unledgered_charge',
      `text: ${calls.size} calls billed with ${billed.input}/${billed.output} tokens, ${booked.calls} booked with ${booked.input}/${booked.output}, ${lost} lost`,
    );
}

function isChat(vendor: string): boolean {
  return vendor.startsWith('llm');
}
