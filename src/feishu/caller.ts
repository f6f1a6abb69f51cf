import { type Clock, deadline, fail, type JsonObject, type Logger, ok, type Random, sleep } from '../kernel/index.ts';
import type { FeishuFailure, FeishuResult } from './client.ts';
import { ruleOf } from './codes.ts';
import { type Endpoint, type EndpointName, endpoints, fillPath } from './endpoints.ts';
import { failureOfAnswer, failureOfError, localFailure } from './failure.ts';
import type { MediaGate } from './media-gate.ts';
import type { Sdk, SdkClient } from './sdk.ts';
import type { TokenSource } from './token-source.ts';
import { Exchange, type HttpAnswer } from './transport.ts';

/** One call's particulars. */
export interface CallRequest {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly json?: JsonObject;
  /** Built anew for each try: a body is spent by the first. */
  readonly bytes?: () => { readonly contentType: string; readonly content: Uint8Array };
  readonly wantsStream?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Calls an endpoint until it is done, refused for good, or not to be repeated. Never rejects. */
export type Call = (name: EndpointName, request: CallRequest) => Promise<FeishuResult<HttpAnswer>>;

export interface CallerDeps {
  readonly sdk: Sdk;
  readonly client: SdkClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly gate: MediaGate;
  readonly timeouts: { readonly connect: number; readonly query: number; readonly submit: number };
  /** Undefined only while the token itself is fetched. */
  readonly tokens: () => TokenSource;
  /** Told once for each request that is sent. */
  readonly onCall: (name: EndpointName) => void;
  /** Told of each answer, whatever it says. */
  readonly onAnswer: (answer: HttpAnswer) => void;
}

/** Longest that one call waits for throttles in all; beyond it the failure is handed to the caller with its wait. */
const maxThrottleWaitMs = 60_000;
const firstThrottleWaitMs = 1_000;
const conflictTries = 3;

interface Progress {
  readonly attempts: number;
  readonly throttles: number;
  readonly throttledMs: number;
  readonly conflicts: number;
  readonly hasFreshToken: boolean;
}

type Step =
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
  if (failure.class === 'retry' && isSafe && progress.attempts < Math.max(2, endpoint.maxAttempts)) {
    return { kind: 'after', waitMs: Math.round(500 * 2 ** (progress.attempts - 1) * (1 + random.next())) };
  }
  return { kind: 'give-up' };
}

export function createCaller(deps: CallerDeps): Call {
  /** By endpoint: no call before this instant, because the platform said so. */
  const closedUntilMs = new Map<EndpointName, number>();

  return async (name, request) => {
    const endpoint: Endpoint = endpoints[name];
    const url = fillPath(endpoint.path, request.path ?? {});
    if (!url.ok) return fail(localFailure('invalid', `${name}: ${url.failure}`));
    let progress: Progress = { attempts: 0, throttles: 0, throttledMs: 0, conflicts: 0, hasFreshToken: false };
    try {
      for (;;) {
        const closedMs = (closedUntilMs.get(name) ?? 0) - deps.clock.monotonicMs();
        if (closedMs > maxThrottleWaitMs) return fail(stillClosed(name, closedMs));
        if (closedMs > 0) await sleep(deps.clock, closedMs, request.signal);
        const token = endpoint.isOpen === true ? undefined : await deps.tokens().get(request.signal);
        if (token?.ok === false) return token;
        const outcome = await callOnce(deps, { name, url: url.value, request, token: token?.value });
        if (outcome.ok) return outcome;
        const { failure } = outcome;
        progress = { ...progress, attempts: progress.attempts + 1 };
        const step: Step =
          request.signal?.aborted === true ? { kind: 'give-up' } : nextStep(endpoint, failure, progress, deps.random);
        report(deps.logger, name, failure, step);
        if (failure.class === 'throttled') {
          const waitMs = failure.retryAfterMs ?? (step.kind === 'after' ? step.waitMs : 0);
          closedUntilMs.set(name, deps.clock.monotonicMs() + waitMs);
        }
        if (step.kind === 'give-up') return outcome;
        if (step.kind === 'with-fresh-token') {
          if (token !== undefined) deps.tokens().drop(token.value);
          progress = { ...progress, hasFreshToken: true };
          continue;
        }
        progress = after(progress, failure, step.waitMs);
        if (failure.class !== 'throttled') await sleep(deps.clock, step.waitMs, request.signal);
      }
    } catch (error) {
      // Only the caller's abort gets here.
      return fail(failureOfError(name, error, undefined));
    }
  };
}

function after(progress: Progress, failure: FeishuFailure, waitMs: number): Progress {
  if (failure.class === 'throttled') {
    const throttledMs = progress.throttledMs + waitMs;
    return { ...progress, attempts: progress.attempts - 1, throttles: progress.throttles + 1, throttledMs };
  }
  if (failure.class === 'conflict') {
    return { ...progress, attempts: progress.attempts - 1, conflicts: progress.conflicts + 1 };
  }
  return progress;
}

async function callOnce(
  deps: CallerDeps,
  one: {
    readonly name: EndpointName;
    readonly url: string;
    readonly request: CallRequest;
    readonly token: string | undefined;
  },
): Promise<FeishuResult<HttpAnswer>> {
  const { name, url, request, token } = one;
  const endpoint: Endpoint = endpoints[name];
  const leave = endpoint.isMedia === true ? await deps.gate.enter(name, request.signal) : undefined;
  const limitMs = deps.timeouts[endpoint.limit];
  const limit = deadline(deps.clock, limitMs, request.signal);
  const exchange = new Exchange({
    signal: limit.signal,
    connectTimeoutMs: deps.timeouts.connect,
    bytes: request.bytes?.(),
    wantsStream: request.wantsStream,
  });
  try {
    deps.onCall(name);
    await deps.client.request(
      {
        method: endpoint.method,
        url,
        params: request.query ?? {},
        data: request.json ?? {},
        headers: exchange.asHeaders(),
      },
      token === undefined ? undefined : deps.sdk.withTenantToken(token),
    );
    const { answer } = exchange;
    if (answer === undefined) return fail(localFailure('retry', `${name}: no answer was kept`, 'unknown'));
    deps.onAnswer(answer);
    const failure = failureOfAnswer(name, answer);
    return failure === undefined ? ok(answer) : fail(failure);
  } catch (error) {
    return fail(failureOfError(name, error, limit.expired() ? limitMs : undefined));
  } finally {
    limit.release();
    leave?.();
  }
}

/** The platform asked for more patience than a call may have: nothing is sent. */
function stillClosed(name: EndpointName, closedMs: number): FeishuFailure {
  const retryAfterMs = Math.ceil(closedMs);
  const message = `${name}: throttled by the platform for another ${retryAfterMs} ms; not called`;
  return { ...localFailure('throttled', message), retryAfterMs };
}

function report(logger: Logger, endpoint: EndpointName, failure: FeishuFailure, step: Step): void {
  const { code, httpStatus, logId, outcome } = failure;
  logger.warn('feishu call failed', {
    endpoint,
    code,
    httpStatus,
    class: failure.class,
    outcome,
    logId,
    next: step.kind,
  });
}
