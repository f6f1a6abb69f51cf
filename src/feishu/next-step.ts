import type { Random } from '../kernel/index.ts';
import type { FeishuFailure } from './client.ts';
import { ruleOf } from './codes.ts';
import type { Endpoint } from './endpoints.ts';

/** Longest that one call waits for throttles in all; beyond it the failure is handed to the caller with its wait. */
export const maxThrottleWaitMs = 60_000;
const firstThrottleWaitMs = 1_000;
const conflictTries = 3;

/** How a call has fared so far. */
export interface Progress {
  readonly attempts: number;
  readonly throttles: number;
  readonly throttledMs: number;
  readonly conflicts: number;
  readonly hasFreshToken: boolean;
}

export const freshProgress: Progress = {
  attempts: 0,
  throttles: 0,
  throttledMs: 0,
  conflicts: 0,
  hasFreshToken: false,
};

export type Step =
  | { readonly kind: 'give-up' }
  | { readonly kind: 'with-fresh-token' }
  | { readonly kind: 'after'; readonly waitMs: number };

/**
 * What to do after a failure, decided from its class alone. Only what is surely not done (throttle, conflict, refused token)
 * or harmless to repeat (the endpoint's `maxAttempts`) is repeated, each within its own bound.
 */
export function nextStep(endpoint: Endpoint, failure: FeishuFailure, progress: Progress, random: Random): Step {
  if (ruleOf(failure.code, failure.httpStatus).refreshesToken === true && failure.httpStatus !== 0) {
    return progress.hasFreshToken || endpoint.isOpen === true ? { kind: 'give-up' } : { kind: 'with-fresh-token' };
  }
  if (failure.class === 'throttled') {
    const backoffMs = firstThrottleWaitMs * 2 ** Math.min(progress.throttles, 4);
    const waitMs = failure.retryAfterMs ?? Math.round(backoffMs * (0.5 + random.next() / 2));
    return progress.throttledMs + waitMs > maxThrottleWaitMs ? { kind: 'give-up' } : { kind: 'after', waitMs };
  }
  if (failure.class === 'conflict') {
    const waitMs = Math.round(500 * (progress.conflicts + 1) * (1 + random.next()));
    return progress.conflicts + 1 >= conflictTries ? { kind: 'give-up' } : { kind: 'after', waitMs };
  }
  const isSafe = failure.outcome === 'refused' || endpoint.maxAttempts > 1;
  if (failure.class === 'retry' && isSafe && progress.attempts + 1 < Math.max(2, endpoint.maxAttempts)) {
    return { kind: 'after', waitMs: Math.round(500 * 2 ** progress.attempts * (1 + random.next())) };
  }
  return { kind: 'give-up' };
}

/** The progress after a failure that is followed by `step`. */
export function progressAfter(before: Progress, failure: FeishuFailure, step: Step): Progress {
  if (step.kind === 'with-fresh-token') return { ...before, hasFreshToken: true };
  if (failure.class === 'throttled') {
    const waitMs = step.kind === 'after' ? step.waitMs : 0;
    return { ...before, throttles: before.throttles + 1, throttledMs: before.throttledMs + waitMs };
  }
  if (failure.class === 'conflict') return { ...before, conflicts: before.conflicts + 1 };
  return { ...before, attempts: before.attempts + 1 };
}
