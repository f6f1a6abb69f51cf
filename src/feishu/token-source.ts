import { type Clock, ok } from '../kernel/index.ts';
import { abortable } from './abortable.ts';
import type { FeishuResult } from './client.ts';

export interface FetchedToken {
  readonly token: string;
  /** Life that the server promises, in seconds. */
  readonly expireS: number;
}

/** The tenant token: kept, fetched once for all who wait, given up when the platform no longer takes it. */
export interface TokenSource {
  get(signal?: AbortSignal): Promise<FeishuResult<string>>;
  /** The platform refused this very token; a newer one, fetched meanwhile, stays. */
  drop(token: string): void;
}

/** A token is renewed this long before its end: a call under way must not see it die. */
const marginMs = 180_000;

/**
 * The SDK's own cache is not used: it makes one request for each caller that waits, keeps a refused token, and with a short
 * life keeps none at all. A life shorter than twice the margin is used to its half; one of nothing still serves the calls
 * that waited for it. Age is measured by both clocks, so that neither a step of the wall clock nor a sleep of the machine
 * makes an old token look young.
 */
export function createTokenSource(clock: Clock, fetchToken: () => Promise<FeishuResult<FetchedToken>>): TokenSource {
  let kept: { readonly token: string; readonly wallUntilMs: number; readonly monotonicUntilMs: number } | undefined;
  let inFlight: Promise<FeishuResult<string>> | undefined;

  const fetchAndKeep = async (): Promise<FeishuResult<string>> => {
    try {
      const fetched = await fetchToken();
      if (!fetched.ok) return fetched;
      const lifeMs = Math.max(0, fetched.value.expireS) * 1_000;
      const usableMs = lifeMs - Math.min(marginMs, lifeMs / 2);
      kept = {
        token: fetched.value.token,
        wallUntilMs: clock.nowMs() + usableMs,
        monotonicUntilMs: clock.monotonicMs() + usableMs,
      };
      return ok(fetched.value.token);
    } finally {
      inFlight = undefined;
    }
  };

  return {
    get: async (signal) => {
      const isFresh =
        kept !== undefined && clock.nowMs() < kept.wallUntilMs && clock.monotonicMs() < kept.monotonicUntilMs;
      if (isFresh && kept !== undefined) return ok(kept.token);
      inFlight ??= fetchAndKeep();
      return abortable(inFlight, signal);
    },
    drop: (token) => {
      if (kept?.token === token) kept = undefined;
    },
  };
}
