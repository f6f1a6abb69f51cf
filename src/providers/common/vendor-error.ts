import type { Failure, FailureKind } from '../../contract/index.ts';
import { isJsonObject, type JsonObject } from '../../kernel/index.ts';
import { type HttpAnswer, maskText, parseRetryAfter } from '../http/index.ts';

/** What a vendor said about a call that did not go well, in its own code and words, with our kind where it is known. */
export interface VendorError {
  readonly code: string;
  readonly message: string;
  readonly kind?: FailureKind;
  readonly requestId?: string;
}

/** What is needed to turn an answer into a Failure. */
export interface AnswerContext {
  readonly provider: string;
  /** Texts that must not appear in evidence. */
  readonly secrets: readonly string[];
  readonly nowMs: number;
}

const kindsByStatus: Readonly<Record<number, FailureKind>> = {
  400: 'invalid-input',
  401: 'auth',
  402: 'balance',
  403: 'auth',
  404: 'configuration',
  405: 'configuration',
  410: 'configuration',
  413: 'invalid-input',
  415: 'invalid-input',
  422: 'invalid-input',
  429: 'rate-limit',
  451: 'content-policy',
  503: 'overload',
  529: 'overload',
};

/** The failure kind of an HTTP status (or of a body code that follows the HTTP numbers). */
export function kindOfStatus(status: number): FailureKind {
  if (status >= 300 && status < 400) return 'configuration';
  return kindsByStatus[status] ?? (status >= 500 || status === 408 ? 'unavailable' : 'invalid-input');
}

/**
 * Statuses with which nothing was bought: the request was turned away. 408, 409 and 499 are not among them, nor any 5xx:
 * those may come after the request was taken.
 */
export function isRefusalStatus(status: number): boolean {
  return (status >= 300 && status < 500 && ![408, 409, 425, 499].includes(status)) || false;
}

/** Reads the common shapes: `error` an object, a string or missing; `message` or `msg` beside it. */
export function readErrorShape(json: unknown): VendorError | undefined {
  if (!isJsonObject(json)) return undefined;
  const inner = json['error'];
  const source: JsonObject = isJsonObject(inner) ? inner : json;
  const message =
    typeof inner === 'string' && inner !== '' ? inner : firstText(source, ['message', 'msg', 'detail', 'error_msg']);
  const code = firstText(source, ['code', 'type', 'error_code', 'status']);
  if (message === undefined && (inner === undefined || inner === null)) return undefined;
  const requestId = firstText(json, ['request_id', 'requestId', 'RequestId']) ?? firstText(source, ['request_id']);
  return {
    code: code ?? 'error',
    message: message ?? JSON.stringify(inner),
    ...(requestId === undefined ? {} : { requestId }),
  };
}

/** The first member that is a text or a number, as text. */
export function firstText(source: JsonObject, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = source[name];
    if (typeof value === 'string' && value !== '') return value;
    if (typeof value === 'number') return String(value);
  }
  return undefined;
}

/** Builds the Failure of an answer; the vendor's own error, when it was read, decides before the HTTP status. */
export function failureOfAnswer(answer: HttpAnswer, context: AnswerContext, error?: VendorError): Failure {
  const { provider, secrets, nowMs } = context;
  if (answer.kind === 'none') {
    const blocked = answer.code === 'BLOCKED_ADDRESS' || answer.code === 'BAD_URL';
    return {
      kind: blocked ? 'configuration' : 'network',
      code: answer.code,
      message: maskText(answer.message, secrets),
      provider,
    };
  }
  const text = answer.kind === 'broken' ? answer.message : answer.text;
  const retryAfterMs = parseRetryAfter(answer.headers.get('retry-after'), nowMs);
  const requestId = error?.requestId ?? answer.headers.get('x-request-id') ?? undefined;
  const readable = answer.kind === 'json' ? undefined : answer.kind === 'broken' ? answer.code : 'not JSON';
  return {
    kind: error?.kind ?? kindOfStatus(answer.status),
    code: error?.code ?? (readable === undefined ? `HTTP_${answer.status}` : `HTTP_${answer.status}, ${readable}`),
    message: maskText(error?.message ?? (text === '' ? `HTTP ${answer.status} without a body` : text), secrets),
    provider,
    httpStatus: answer.status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    evidence: {
      ...(error === undefined ? { body: maskText(text, secrets) } : { vendorCode: error.code }),
      ...(requestId === undefined ? {} : { requestId }),
    },
  };
}
