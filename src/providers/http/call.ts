import { type Clock, deadline, type Fetch, type Logger, TransportError } from '../../kernel/index.ts';
import { parseLosslessJson } from './lossless-json.ts';
import { BodyTooLargeError, orAborted, readText } from './read-body.ts';
import { redactUrl } from './redact.ts';

export interface HttpCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: { readonly json: unknown } | { readonly bytes: Uint8Array; readonly contentType: string };
  /** Longest time from the call to the last byte of the answer. */
  readonly limitMs: number;
  readonly connectTimeoutMs: number;
  readonly proxy?: string;
  /** Largest answer; default 16 MiB. */
  readonly maxAnswerBytes?: number;
}

export interface HttpCaller {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * What came of one call. `none`: no HTTP answer (phase as in TransportError; a passed deadline and an abort are
 * `maybe-sent`). `broken`: a status, but no whole body. `text`: a whole body that is not JSON.
 */
export type HttpAnswer =
  | {
      readonly kind: 'json';
      readonly status: number;
      readonly headers: Headers;
      readonly json: unknown;
      readonly text: string;
    }
  | { readonly kind: 'text'; readonly status: number; readonly headers: Headers; readonly text: string }
  | {
      readonly kind: 'broken';
      readonly status: number;
      readonly headers: Headers;
      readonly code: string;
      readonly message: string;
    }
  | {
      readonly kind: 'none';
      readonly phase: 'not-sent' | 'maybe-sent';
      readonly code: string;
      readonly message: string;
    };

const defaultMaxAnswerBytes = 16 * 1024 * 1024;

/** One request, one answer, never thrown: sends, waits at most `limitMs` by the given clock, reads and parses. */
export async function callHttp(caller: HttpCaller, call: HttpCall, signal: AbortSignal): Promise<HttpAnswer> {
  const startedMs = caller.clock.monotonicMs();
  const limit = deadline(caller.clock, call.limitMs, signal);
  const answer = await attempt(caller, call, limit.signal, () => limit.expired());
  limit.release();
  caller.logger.debug('vendor call', {
    method: call.method,
    url: redactUrl(call.url),
    answer: answer.kind,
    status: answer.kind === 'none' ? undefined : answer.status,
    code: 'code' in answer ? answer.code : undefined,
    elapsedMs: Math.round(caller.clock.monotonicMs() - startedMs),
  });
  return answer;
}

async function attempt(
  caller: HttpCaller,
  call: HttpCall,
  signal: AbortSignal,
  expired: () => boolean,
): Promise<HttpAnswer> {
  let response: Response;
  try {
    response = await orAborted(caller.fetch(call.url, toInit(call, signal)), signal);
  } catch (error) {
    return { kind: 'none', ...whyNot(error, expired()) };
  }
  const { status, headers } = response;
  try {
    const text = await readText(response, call.maxAnswerBytes ?? defaultMaxAnswerBytes, signal);
    const parsed = parseLosslessJson(text);
    return parsed === undefined
      ? { kind: 'text', status, headers, text }
      : { kind: 'json', status, headers, json: parsed.value, text };
  } catch (error) {
    const { code, message } = whyNot(error, expired());
    return { kind: 'broken', status, headers, code, message };
  }
}

function toInit(call: HttpCall, signal: AbortSignal): Parameters<Fetch>[1] {
  const { body } = call;
  const contentType = body === undefined ? undefined : 'json' in body ? 'application/json' : body.contentType;
  return {
    method: call.method,
    headers: {
      accept: 'application/json',
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
      ...call.headers,
    },
    ...(body === undefined ? {} : { body: 'json' in body ? JSON.stringify(body.json) : body.bytes }),
    signal,
    connectTimeoutMs: call.connectTimeoutMs,
    ...(call.proxy === undefined ? {} : { proxy: call.proxy }),
    purpose: 'api',
  };
}

function whyNot(
  error: unknown,
  isExpired: boolean,
): { readonly phase: 'not-sent' | 'maybe-sent'; readonly code: string; readonly message: string } {
  if (error instanceof TransportError) return { phase: error.phase, code: error.code, message: error.message };
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof BodyTooLargeError) return { phase: 'maybe-sent', code: 'BODY_TOO_LARGE', message };
  return { phase: 'maybe-sent', code: isExpired ? 'DEADLINE' : 'ABORTED', message };
}
