import { capability, type Failure, type MediaClass, type SkillDefinition } from '../../contract/index.ts';
import type { Availability, CallPolicy, Try } from '../policy/next-step.ts';
import type { AttemptRecord } from '../ports/index.ts';
import type { Services } from './services.ts';
import type { CallTry, LiveAttempt, SkillCall } from './types.ts';

/** A lost answer is asked after for so long beyond the time in which a miss counts; then it is in doubt. */
const findWindowMs = 600_000;
/** A task becomes visible at the vendor within so long after the submit's own timeout. */
export const notFoundGraceMs = 90_000;

/** The history of a call as the decision table reads it. */
export function triesOf(services: Services, call: SkillCall): readonly Try<LiveAttempt>[] {
  return call.tries.map((each) => asTry(services, each));
}

function asTry(services: Services, each: CallTry): Try<LiveAttempt> {
  const { candidate, attempt } = each;
  if (attempt === undefined) {
    const isFiltered = each.refusal?.kind === 'invalid-input';
    return {
      candidate,
      outcome: 'ended',
      endedAt: each.at,
      ...(each.refusal === undefined ? {} : { failure: each.refusal }),
      isFiltered,
    };
  }
  const { record } = attempt;
  const failure = failureOf(record);
  return {
    candidate,
    attempt,
    endedAt: record.settledAt ?? record.intendedAt,
    outcome: outcomeOf(services, record),
    ...(failure === undefined ? {} : { failure }),
  };
}

function outcomeOf(services: Services, record: AttemptRecord): Try['outcome'] {
  switch (record.state) {
    case 'intended':
    case 'accepted':
      return 'open';
    case 'unknown':
      return canStillBeFound(services, record) ? 'open' : 'doubt';
    case 'overdue':
      return 'overdue';
    case 'succeeded':
      return record.refusedOutput === undefined ? 'usable' : 'output-refused';
    default:
      return 'ended';
  }
}

/** Whether the vendor can be asked after a lost answer, and the time for asking is not over. */
export function canStillBeFound(services: Services, record: AttemptRecord): boolean {
  const adapter = services.adapter(record.provider, record.implementation);
  if (adapter?.find === undefined) return false;
  const { submit } = services.deps.settings.timeouts;
  return services.deps.clock.nowMs() - record.intendedAt < submit + notFoundGraceMs + findWindowMs;
}

function failureOf(record: AttemptRecord): Failure | undefined {
  if (record.state === 'succeeded') {
    if (record.refusedOutput === undefined) return undefined;
    return {
      kind: 'output-invalid',
      code: 'output-refused',
      message: record.refusedOutput.join('; '),
      provider: record.provider,
    };
  }
  if (record.state === 'canceled')
    return { kind: 'canceled', code: 'canceled', message: 'canceled at the vendor', provider: record.provider };
  if (record.state === 'not-accepted') {
    return {
      kind: 'unknown-outcome',
      code: 'not-accepted',
      message: 'the vendor had not accepted the call',
      provider: record.provider,
    };
  }
  return (
    record.failure ?? {
      kind: 'internal',
      code: record.state,
      message: `attempt ended as ${record.state} without a reason`,
      provider: record.provider,
    }
  );
}

/** What the operator wrote for a lost answer that nobody can be asked about; what costs nothing is made again. */
export function unknownPolicyOf({ deps }: Services, mediaClass: MediaClass): 'hold' | 'retry' {
  return mediaClass === 'free' ? 'retry' : deps.settings.unknown_outcome[mediaClass];
}

/** The policies that hold for a call: node over skill over settings. */
export function policyOf(services: Services, call: SkillCall): CallPolicy {
  const { settings } = services.deps;
  const { definition, candidates } = call.skill.plan;
  const retry = { ...definition.retry, ...call.retry };
  const { mediaClass } = capability(definition.capability);
  return {
    candidates: candidates.length,
    attempts: retry.attempts ?? settings.retry.attempts,
    delayMs: retry.delay ?? settings.retry.delay,
    factor: retry.factor ?? 2,
    maxDelayMs: retry.max_delay ?? 60_000,
    retryOn: retry.on,
    fallbackOn: definition.fallback_on,
    // What is bought again must be judged again, too.
    paidCallsLeft: call.paid.max - call.paid.used - call.skill.rules.filter((rule) => rule.kind === 'judge').length,
    unknownOutcome: unknownPolicyOf(services, mediaClass),
    overdue: mediaClass === 'image' || mediaClass === 'video' ? settings.overdue[mediaClass] : 'retry',
    canDegrade: definition.degrade !== undefined,
  };
}

export function maxPaidCalls(services: Services, skill: SkillDefinition): number {
  return skill.max_paid_calls ?? services.deps.settings.limits.max_paid_calls;
}

export function availabilityOf(services: Services, call: SkillCall): (candidate: number) => Availability {
  return (index) => {
    const candidate = call.skill.plan.candidates[index];
    if (candidate === undefined) return 'missing';
    const adapter = services.adapter(candidate.provider, candidate.model.implementation);
    if (adapter?.capabilities.includes(call.skill.plan.definition.capability) !== true) return 'missing';
    if (call.slotsFor === index) return 'ready';
    return services.breakers.isOpen(candidate.provider, services.deps.clock.monotonicMs()) ? 'ready' : 'paused';
  };
}

/** Purchases that count: refused ones, and those that a person or the vendor knows nothing of, do not. */
export function countsAsPaid(record: AttemptRecord): boolean {
  return capability(record.capability).paid && record.state !== 'refused' && record.state !== 'not-accepted';
}
