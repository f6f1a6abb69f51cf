import { type Failure, type FailureKind, failureRule } from '../../contract/index.ts';

/**
 * What a call does next, decided from what has happened, and nothing else. The history is read back from the attempts
 * that lie in the store, so that a crash at any instruction changes nothing.
 */
export interface CallPolicy {
  readonly candidates: number;
  /** Whole chains of one candidate, the first included. */
  readonly attempts: number;
  readonly delayMs: number;
  readonly factor: number;
  readonly maxDelayMs: number;
  readonly retryOn: readonly FailureKind[] | undefined;
  readonly fallbackOn: readonly FailureKind[] | undefined;
  /** Purchases still allowed to the node, judges and refused outputs included. */
  readonly paidCallsLeft: number;
  readonly unknownOutcome: 'hold' | 'retry';
  readonly overdue: 'hold' | 'retry';
  readonly canDegrade: boolean;
}

/** One try of one candidate: an attempt as stored, or a failure before anything was bought. */
export interface Try<Attempt = unknown> {
  readonly candidate: number;
  /**
   * `open`: not settled, being watched (also a lost answer that the vendor can still be asked about). `doubt`: a lost
   * answer that nobody can be asked about. `overdue`: past its deadline, still payable. `usable`: succeeded.
   */
  readonly outcome: 'open' | 'doubt' | 'overdue' | 'usable' | 'output-refused' | 'ended';
  readonly failure?: Failure;
  readonly endedAt: number;
  readonly attempt?: Attempt;
  /** The candidate cannot do what is asked (a model's limit), found out before buying: passed over, whatever the kind. */
  readonly isFiltered?: boolean;
}

export type Availability = 'ready' | 'paused' | 'missing';

export type CallStep<Attempt = unknown> =
  | { readonly kind: 'wait'; readonly attempt: Attempt }
  | { readonly kind: 'use'; readonly attempt: Attempt }
  | { readonly kind: 'hold'; readonly attempt: Attempt; readonly failure: Failure }
  /** Buy from `candidate`, not before `notBefore`, spread over `jitterMs` behind it. */
  | {
      readonly kind: 'try';
      readonly candidate: number;
      readonly notBefore: number;
      readonly jitterMs: number;
      readonly switchedFrom?: number;
      readonly because?: Failure;
    }
  /** Every candidate that may be used is paused. */
  | { readonly kind: 'wait-for-provider'; readonly candidate: number }
  | { readonly kind: 'degrade'; readonly failure: Failure }
  | { readonly kind: 'fail'; readonly failure: Failure };

/** Never tried again, nor handed on, unless the skill's `fallback_on` names them. */
const neverAgain: readonly FailureKind[] = ['invalid-input', 'content-policy', 'canceled'];

const noCandidate: Failure = {
  kind: 'configuration',
  code: 'no-candidate',
  message: 'no candidate of the skill can be used: its provider has no key, or does not offer the implementation',
};

export function nextStep<Attempt>(
  policy: CallPolicy,
  tries: readonly Try<Attempt>[],
  availability: (candidate: number) => Availability,
): CallStep<Attempt> {
  for (const each of tries) {
    if (each.outcome === 'usable' && each.attempt !== undefined) return { kind: 'use', attempt: each.attempt };
  }
  for (const each of tries) {
    if (each.attempt === undefined) continue;
    if (each.outcome === 'open') return { kind: 'wait', attempt: each.attempt };
    const isInDoubt = each.outcome === 'doubt' && policy.unknownOutcome === 'hold';
    const isOverdue = each.outcome === 'overdue' && policy.overdue === 'hold';
    if (isInDoubt || isOverdue) return { kind: 'hold', attempt: each.attempt, failure: each.failure ?? noCandidate };
  }
  const last = tries.at(-1);
  if (last?.failure !== undefined) return afterFailure(policy, tries, last, last.failure, availability);
  return firstAvailable(policy, 0, availability) ?? { kind: 'fail', failure: noCandidate };
}

function afterFailure<Attempt>(
  policy: CallPolicy,
  tries: readonly Try<Attempt>[],
  last: Try<Attempt>,
  failure: Failure,
  availability: (candidate: number) => Availability,
): CallStep<Attempt> {
  const mayHandOver = last.isFiltered === true || handsOver(policy, failure);
  const isNever = neverAgain.includes(failure.kind);
  const canDegrade = policy.canDegrade && (!isNever || mayHandOver);
  const giveUp: CallStep<Attempt> = canDegrade ? { kind: 'degrade', failure } : { kind: 'fail', failure };
  if (policy.paidCallsLeft <= 0) return giveUp;
  const spent = tries.filter((each) => each.candidate === last.candidate).length;
  if (!isNever && isTriedAgain(policy, last, failure) && spent < policy.attempts) {
    const again = firstAvailable<Attempt>(policy, last.candidate, availability);
    if (again?.kind !== 'try') return again ?? giveUp;
    if (again.candidate !== last.candidate) return { ...again, switchedFrom: last.candidate, because: failure };
    const grown = policy.delayMs * policy.factor ** (spent - 1);
    // A vendor's Retry-After is a lower bound; the spread comes on top, so that nobody wakes together.
    const jitterMs = Math.min(policy.maxDelayMs, Number.isFinite(grown) ? grown : policy.maxDelayMs);
    return { ...again, notBefore: last.endedAt + (failure.retryAfterMs ?? 0), jitterMs, because: failure };
  }
  const next = mayHandOver ? firstAvailable<Attempt>(policy, last.candidate + 1, availability) : undefined;
  if (next === undefined) return giveUp;
  return next.kind === 'try' ? { ...next, switchedFrom: last.candidate, because: failure } : next;
}

function handsOver(policy: CallPolicy, failure: Failure): boolean {
  if (policy.fallbackOn !== undefined) return policy.fallbackOn.includes(failure.kind);
  // A lost or late answer gets here only under the operator's `retry`: another vendor may then be asked as well.
  if (failure.kind === 'unknown-outcome' || failure.kind === 'overdue') return true;
  return !neverAgain.includes(failure.kind) && failureRule(failure.kind).nextCandidate;
}

function isTriedAgain(policy: CallPolicy, last: Try, failure: Failure): boolean {
  // By the operator's policy or a person's word these may be bought again, whatever the table says of their kind.
  if (last.outcome === 'doubt' || last.outcome === 'overdue' || last.outcome === 'output-refused') return true;
  if (failure.kind === 'unknown-outcome') return true;
  return policy.retryOn === undefined ? failureRule(failure.kind).sameAgain : policy.retryOn.includes(failure.kind);
}

/** The first candidate from `from` on that can be used now; a paused one is passed over when there is another. */
function firstAvailable<Attempt>(
  policy: CallPolicy,
  from: number,
  availability: (candidate: number) => Availability,
): CallStep<Attempt> | undefined {
  let paused: number | undefined;
  for (let candidate = from; candidate < policy.candidates; candidate += 1) {
    const state = availability(candidate);
    if (state === 'ready') return { kind: 'try', candidate, notBefore: 0, jitterMs: 0 };
    if (state === 'paused') paused ??= candidate;
  }
  return paused === undefined ? undefined : { kind: 'wait-for-provider', candidate: paused };
}
