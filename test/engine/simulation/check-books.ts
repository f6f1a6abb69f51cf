import type { AttemptRecord, ChargeRecord, Store } from '../../../src/engine/ports/index.ts';
import type { ScriptedVendor, VendorTask } from '../support/vendor.ts';

export interface Violation {
  readonly rule:
    | 'duplicate-submit'
    | 'unledgered-charge'
    | 'unknown-task'
    | 'stuck'
    | 'not-told'
    | 'bought-in-doubt'
    | 'unbalanced'
    | 'too-many-calls';
  readonly what: string;
}

/** The vendors' own books, held against ours. */
export async function checkBooks(store: Store, vendors: readonly ScriptedVendor[]): Promise<readonly Violation[]> {
  const violations: Violation[] = [];
  const executions = await store.executions({ limit: 10_000 });
  const attempts: AttemptRecord[] = [];
  for (const record of executions) attempts.push(...(await store.attempts(record.id)));
  const charges = await store.charges({});
  for (const vendor of vendors) violations.push(...checkSubmits(vendor), ...checkTasks(vendor, attempts, charges));
  violations.push(...checkOrder(attempts), ...checkCharges(attempts, charges));
  const outbox = await store.outbox(10_000);
  for (const record of executions) {
    if (record.endedAt === undefined) violations.push({ rule: 'stuck', what: `${record.id} is ${record.status}` });
    const told = outbox.filter((entry) => entry.executionId === record.id && entry.message.kind === 'ended');
    if (record.endedAt !== undefined && told.length !== 1)
      violations.push({ rule: 'not-told', what: `${record.id} ended and was told ${told.length} times` });
  }
  return violations;
}

function checkSubmits(vendor: ScriptedVendor): readonly Violation[] {
  const seen = new Set<string>();
  return vendor.arrivals.flatMap((key): Violation[] => {
    const isAgain = seen.has(key);
    seen.add(key);
    return isAgain ? [{ rule: 'duplicate-submit', what: key }] : [];
  });
}

function checkTasks(
  vendor: ScriptedVendor,
  attempts: readonly AttemptRecord[],
  charges: readonly ChargeRecord[],
): readonly Violation[] {
  return vendor.tasks.flatMap((task): Violation[] => {
    const attempt = attempts.find((each) => each.key === task.key);
    if (attempt === undefined) return [{ rule: 'unknown-task', what: `${task.id} ${task.key}` }];
    const charge = charges.find((each) => each.attemptId === attempt.id);
    const billed = billOf(task);
    if (billed === 0) return [];
    // A bill may stand in the ledger as an estimate only while nobody could know better.
    const isExact = charge?.state === 'settled' && charge.cnyMicros === billed;
    const isInDoubt = attempt.state === 'unknown' || attempt.state === 'not-accepted';
    return isExact || isInDoubt
      ? []
      : [
          {
            rule: 'unledgered-charge',
            what: `${task.id} cost ${billed}, the ledger has ${charge?.state ?? 'nothing'} ${charge?.cnyMicros ?? ''} (attempt ${attempt.state})`,
          },
        ];
  });
}

function billOf(task: VendorTask): number {
  return task.state === 'succeeded' || task.state === 'failed' ? (task.behaviour.costMicros ?? 0) : 0;
}

/** Nothing is bought for a node while an earlier purchase for it is open or in doubt. */
function checkOrder(attempts: readonly AttemptRecord[]): readonly Violation[] {
  const violations: Violation[] = [];
  const byNode = Map.groupBy(attempts, (attempt) => `${attempt.executionId} ${attempt.nodePath}`);
  for (const [node, list] of byNode) {
    const ordered = [...list].sort((left, right) => left.ordinal - right.ordinal);
    if (new Set(ordered.map((each) => each.ordinal)).size !== ordered.length)
      violations.push({ rule: 'duplicate-submit', what: `${node}: an ordinal twice` });
    const paid = ordered.filter((each) => each.state !== 'refused' && each.state !== 'not-accepted');
    if (paid.length > 6) violations.push({ rule: 'too-many-calls', what: `${node}: ${paid.length}` });
    for (const [at, next] of ordered.entries()) {
      const before = ordered[at - 1];
      if (before === undefined || before.mediaClass === 'text') continue;
      if (before.settledAt === undefined || before.settledAt > next.intendedAt)
        violations.push({ rule: 'bought-in-doubt', what: `${node} #${next.ordinal} after ${before.state}` });
    }
  }
  return violations;
}

function checkCharges(attempts: readonly AttemptRecord[], charges: readonly ChargeRecord[]): readonly Violation[] {
  return attempts.flatMap((attempt): Violation[] => {
    const own = charges.filter((charge) => charge.attemptId === attempt.id);
    if (own.length !== 1) return [{ rule: 'unbalanced', what: `attempt ${attempt.id} has ${own.length} charges` }];
    const isOpen = attempt.state === 'unknown' || attempt.state === 'overdue' || attempt.state === 'accepted';
    return own[0]?.state === 'reserved' && !isOpen
      ? [{ rule: 'unbalanced', what: `attempt ${attempt.id} is ${attempt.state}, its charge still reserved` }]
      : [];
  });
}
