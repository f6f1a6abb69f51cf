import type { AttemptRecord } from '../../src/engine/ports/index.ts';
import { canonicalJson } from '../../src/kernel/index.ts';
import type { Accuse, OwnBooks } from './checks.ts';
import type { SimWorld } from './world.ts';

/** An attempt in one of these states has its verdict: what follows it is a new purchase by right. */
const settled = new Set(['refused', 'failed', 'expired', 'canceled', 'not-accepted']);

/**
 * Never pay twice. Two tests: no purchase began while an earlier one of the same node and generation had no verdict; and
 * the vendors took on no more tasks than we know attempts for, body by body.
 */
export function checkAttempts(world: SimWorld, own: OwnBooks, accuse: Accuse): void {
  const media = own.attempts.filter((attempt) => attempt.mediaClass === 'image' || attempt.mediaClass === 'video');
  checkOrder(media, accuse);
  checkCounts(world, media, accuse);
}

function checkOrder(attempts: readonly AttemptRecord[], accuse: Accuse): void {
  const groups = new Map<string, AttemptRecord[]>();
  for (const attempt of attempts) {
    const key = `${attempt.executionId} ${attempt.nodePath} ${attempt.generation}`;
    groups.set(key, [...(groups.get(key) ?? []), attempt]);
  }
  for (const [key, group] of groups) {
    group.sort((left, right) => left.ordinal - right.ordinal);
    for (const [index, later] of group.entries()) {
      for (const earlier of group.slice(0, index)) {
        if (hasVerdictBefore(earlier, later)) continue;
        accuse(
          'duplicate_submit',
          `${key}: #${later.ordinal} began while #${earlier.ordinal} was ${earlier.state} without a verdict`,
        );
      }
    }
  }
}

function hasVerdictBefore(earlier: AttemptRecord, later: AttemptRecord): boolean {
  const isOver =
    settled.has(earlier.state) || (earlier.state === 'succeeded' && (earlier.refusedOutput?.length ?? 0) > 0);
  return isOver && (earlier.settledAt ?? Number.POSITIVE_INFINITY) <= later.intendedAt;
}

function checkCounts(world: SimWorld, attempts: readonly AttemptRecord[], accuse: Accuse): void {
  const known = new Map<string, number>();
  for (const attempt of attempts) {
    const body = canonicalJson(attempt.request['body']);
    known.set(body, (known.get(body) ?? 0) + 1);
  }
  const taken = new Map<string, number>();
  for (const task of world.sandbox.books.acceptedTasks()) {
    const body = canonicalJson(task.request);
    taken.set(body, (taken.get(body) ?? 0) + 1);
  }
  for (const [body, count] of taken) {
    const attemptsOfBody = known.get(body) ?? 0;
    if (count > attemptsOfBody)
      accuse('duplicate_submit', `${count} tasks at the vendor for ${attemptsOfBody} attempts: ${body.slice(0, 160)}`);
  }
}
