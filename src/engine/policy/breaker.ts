import { type Failure, failureRule } from '../../contract/index.ts';

const countToPause = 5;
const firstPauseMs = 60_000;
/** A refused key or an empty account is not mended in a minute. */
const operatorPauseMs = 300_000;
const longestPauseMs = 900_000;

/**
 * Whether a provider is to be left alone for a while. `open`: calls go through; consecutive failures of the kinds that
 * count are counted. After five, or at once for kinds that pause the provider: `paused` until a time. Then one call is
 * let through as a probe (`probing`); its success opens again, its failure pauses for twice as long.
 */
interface BreakerState {
  failures: number;
  pausedUntilMs: number;
  pauseMs: number;
  isPaused: boolean;
  isProbing: boolean;
}

export type BreakerChange =
  | { readonly kind: 'paused'; readonly forMs: number }
  | { readonly kind: 'resumed' }
  | undefined;

export interface Breakers {
  isOpen(provider: string, nowMonotonicMs: number): boolean;
  /** A call is about to go: when the provider was paused, this one is the probe. */
  callStarts(provider: string): void;
  /** The vendor took a task: it is reachable, though its tasks may still fail one after the other. */
  accepted(provider: string): BreakerChange;
  succeeded(provider: string): BreakerChange;
  failed(provider: string, failure: Failure, nowMonotonicMs: number): BreakerChange;
  /** Milliseconds until a paused provider may be probed; undefined when it is open, or being probed. */
  probeInMs(provider: string, nowMonotonicMs: number): number | undefined;
}

export function createBreakers(): Breakers {
  const states = new Map<string, BreakerState>();
  const stateOf = (provider: string): BreakerState => {
    const known = states.get(provider);
    if (known !== undefined) return known;
    const fresh = { failures: 0, pausedUntilMs: 0, pauseMs: 0, isPaused: false, isProbing: false };
    states.set(provider, fresh);
    return fresh;
  };
  return {
    isOpen: (provider, nowMs) => {
      const state = states.get(provider);
      return state === undefined || !state.isPaused || (nowMs >= state.pausedUntilMs && !state.isProbing);
    },
    callStarts: (provider) => {
      const state = states.get(provider);
      if (state?.isPaused === true) state.isProbing = true;
    },
    accepted: (provider) => {
      if (states.get(provider)?.isPaused !== true) return undefined;
      states.delete(provider);
      return { kind: 'resumed' };
    },
    succeeded: (provider) => {
      const state = states.get(provider);
      if (state === undefined) return undefined;
      states.delete(provider);
      return state.isPaused ? { kind: 'resumed' } : undefined;
    },
    failed: (provider, failure, nowMs) => {
      const rule = failureRule(failure.kind);
      const state = stateOf(provider);
      state.isProbing = false;
      if (!rule.countsForBreaker && !rule.pausesProvider) return undefined;
      state.failures += 1;
      const mustPause = rule.pausesProvider || state.isPaused || state.failures >= countToPause;
      if (!mustPause || (state.isPaused && nowMs < state.pausedUntilMs)) return undefined;
      const leastMs = Math.max(rule.pausesProvider ? operatorPauseMs : firstPauseMs, failure.retryAfterMs ?? 0);
      state.pauseMs = Math.max(leastMs, Math.min(longestPauseMs, state.isPaused ? state.pauseMs * 2 : 0));
      state.pausedUntilMs = nowMs + state.pauseMs;
      state.isPaused = true;
      return { kind: 'paused', forMs: state.pauseMs };
    },
    probeInMs: (provider, nowMs) => {
      const state = states.get(provider);
      return state?.isPaused === true && !state.isProbing ? Math.max(0, state.pausedUntilMs - nowMs) : undefined;
    },
  };
}
