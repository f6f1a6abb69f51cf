import { z } from 'zod';
import { fail, TransportError } from '../kernel/index.ts';
import { parseRetryAfter } from '../providers/http/index.ts';
import type { FeishuFailure, FeishuResult } from './client.ts';
import { isDone, ruleOf } from './codes.ts';
import type { HttpAnswer } from './transport.ts';

/** What we read of every answer; `data` is the operation's own. Some error bodies carry the log id in `error`. */
const envelopeSchema = z.looseObject({
  code: z.number(),
  msg: z.string().optional().catch(undefined),
  error: z
    .looseObject({ log_id: z.string().optional().catch(undefined) })
    .nullish()
    .catch(undefined),
});

const maxMessageChars = 300;

/** The failure that an answer tells of, or undefined when it tells of success. */
export function failureOfAnswer(endpoint: string, answer: HttpAnswer): FeishuFailure | undefined {
  const envelope = envelopeSchema.safeParse(answer.body);
  const isOkStatus = answer.httpStatus >= 200 && answer.httpStatus < 300;
  if (isOkStatus && answer.stream !== undefined) return undefined;
  if (isOkStatus && envelope.success && isDone(envelope.data.code)) return undefined;
  const code = envelope.success ? envelope.data.code : 0;
  const { class: failureClass, outcome } = ruleOf(code, answer.httpStatus);
  const words = envelope.success ? (envelope.data.msg ?? 'no message') : 'the answer is not one of Feishu';
  const logId = envelope.data?.error?.log_id ?? answer.headers.get('x-tt-logid') ?? undefined;
  const retryAfterMs = waitOf(answer.headers);
  return {
    code,
    httpStatus: answer.httpStatus,
    message: `${endpoint}: ${words} (code ${code}, HTTP ${answer.httpStatus})`.slice(0, maxMessageChars),
    outcome,
    class: failureClass,
    ...(logId === undefined ? {} : { logId }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/**
 * How long the platform asks to wait: `x-ogw-ratelimit-reset` (seconds), else `retry-after`, whose date form is measured
 * from the answer's own date.
 */
function waitOf(headers: Headers): number | undefined {
  const sentAtMs = Date.parse(headers.get('date') ?? '');
  const waitMs =
    parseRetryAfter(headers.get('x-ogw-ratelimit-reset'), 0) ?? parseRetryAfter(headers.get('retry-after'), sentAtMs);
  return waitMs === undefined || Number.isNaN(waitMs) ? undefined : waitMs;
}

/** No answer came: `expiredMs` is the deadline that passed, if it was that. */
export function failureOfError(endpoint: string, error: unknown, expiredMs: number | undefined): FeishuFailure {
  const isUnsent = error instanceof TransportError && error.phase === 'not-sent';
  const words =
    expiredMs !== undefined
      ? `no answer within ${expiredMs} ms`
      : error instanceof TransportError
        ? `${error.code}: ${error.message}`
        : error instanceof Error
          ? error.message
          : 'failed';
  return localFailure('retry', `${endpoint}: ${words}`, isUnsent ? 'refused' : 'unknown');
}

/** A failure that Feishu did not state: its answer could not be used, or the call was never made. */
export function localFailure(
  failureClass: FeishuFailure['class'],
  message: string,
  outcome: FeishuFailure['outcome'] = 'refused',
): FeishuFailure {
  return { code: 0, httpStatus: 0, message: message.slice(0, maxMessageChars), outcome, class: failureClass };
}

/** Reads an operation's `data` leniently; what cannot be read is a failure of the server's. */
export function readData<T>(endpoint: string, schema: z.ZodType<T>, body: unknown): FeishuResult<T> {
  const answer = answerSchema.safeParse(body);
  const parsed = schema.safeParse(answer.data?.data);
  if (parsed.success) return { ok: true, value: parsed.data };
  return fail(unreadable(endpoint, ['data', ...(parsed.error.issues[0]?.path ?? [])]));
}

const answerSchema = z.looseObject({ data: z.unknown() });

export function unreadable(endpoint: string, path: readonly PropertyKey[]): FeishuFailure {
  const words = `${endpoint}: the answer lacks what it should hold (${path.map(String).join('.')})`;
  return localFailure('retry', words, 'unknown');
}
