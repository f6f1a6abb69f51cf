import { type Clock, deadline, fail, type JsonObject, type Logger, ok, type Random, sleep } from '../kernel/index.ts';
import type { FeishuFailure, FeishuResult } from './client.ts';
import { type Endpoint, type EndpointName, endpoints, fillPath } from './endpoints.ts';
import { failureOfAnswer, failureOfError, localFailure } from './failure.ts';
import type { MediaGate } from './media-gate.ts';
import { freshProgress, maxThrottleWaitMs, nextStep, progressAfter, type Step } from './next-step.ts';
import type { QuotaGuard } from './quota-guard.ts';
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
  readonly tokens: () => TokenSource;
  readonly quota: QuotaGuard | undefined;
  /** Told once for each request that is sent. */
  readonly onCall: (name: EndpointName) => void;
  /** Told of each answer, whatever it says. */
  readonly onAnswer: (answer: HttpAnswer) => void;
}

const monthlyQuotaCode = 99991403;
const usedUp = "the company's calls of this month are used up; not called";

export function createCaller(deps: CallerDeps): Call {
  const closedUntilMs: ClosedUntil = new Map();
  return async (name, request) => {
    const url = fillPath(endpoints[name].path, request.path ?? {});
    if (!url.ok) return fail(localFailure('invalid', `${name}: ${url.failure}`));
    try {
      return await callUntilDone(deps, closedUntilMs, { name, url: url.value, request });
    } catch (error) {
      // Only the caller's abort gets here.
      return fail(failureOfError(name, error, undefined));
    }
  };
}

/** By endpoint: no call before this instant of the monotonic clock, because the platform said so. */
type ClosedUntil = Map<EndpointName, number>;

interface OneCall {
  readonly name: EndpointName;
  readonly url: string;
  readonly request: CallRequest;
}

async function callUntilDone(deps: CallerDeps, closed: ClosedUntil, one: OneCall): Promise<FeishuResult<HttpAnswer>> {
  const { name, request } = one;
  const endpoint: Endpoint = endpoints[name];
  // The token is fetched on behalf of another call, which has asked already.
  const quota = endpoint.isOpen === true ? undefined : deps.quota;
  let progress = freshProgress;
  for (;;) {
    if (quota?.mayCall() === false) return fail(localFailure('quota', `${name}: ${usedUp}`));
    const closedMs = (closed.get(name) ?? 0) - deps.clock.monotonicMs();
    if (closedMs > maxThrottleWaitMs) return fail(stillClosed(name, closedMs));
    if (closedMs > 0) await sleep(deps.clock, closedMs, request.signal);
    const token = endpoint.isOpen === true ? undefined : await deps.tokens().get(request.signal);
    if (token?.ok === false) return token;
    const outcome = await callOnce(deps, one, token?.value);
    if (outcome.ok) {
      quota?.answered();
      return outcome;
    }
    const { failure } = outcome;
    if (failure.code === monthlyQuotaCode) quota?.quotaGone();
    const isAborted = request.signal?.aborted === true;
    const step: Step = isAborted ? { kind: 'give-up' } : nextStep(endpoint, failure, progress, deps.random);
    report(deps.logger, name, failure, step);
    if (failure.class === 'throttled') closeFor(closed, name, deps.clock, failure.retryAfterMs ?? waitOf(step));
    if (step.kind === 'give-up') return outcome;
    if (step.kind === 'with-fresh-token' && token !== undefined) deps.tokens().drop(token.value);
    if (step.kind === 'after' && failure.class !== 'throttled') await sleep(deps.clock, step.waitMs, request.signal);
    progress = progressAfter(progress, failure, step);
  }
}

function closeFor(closed: ClosedUntil, name: EndpointName, clock: Clock, waitMs: number): void {
  closed.set(name, clock.monotonicMs() + waitMs);
}

function waitOf(step: Step): number {
  return step.kind === 'after' ? step.waitMs : 0;
}

async function callOnce(
  deps: CallerDeps,
  { name, url, request }: OneCall,
  token: string | undefined,
): Promise<FeishuResult<HttpAnswer>> {
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
