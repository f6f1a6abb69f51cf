import type { FailureKind, ReportedCost } from '../../contract/index.ts';
import { parseMoney } from '../../kernel/index.ts';
import { kindOfStatus, kindOfWords, type SubmitReading, type VendorError } from '../common/index.ts';
import { type HttpAnswer, parseLosslessJson } from '../http/index.ts';
import { type Envelope, envelopeSchema } from './wire.ts';

export const creditCurrency = 'credit:kie';

/** Codes of kie's own that do not follow HTTP: maintenance, generation failed, feature disabled. */
const ownKinds: Readonly<Record<number, FailureKind>> = {
  408: 'unavailable',
  455: 'unavailable',
  501: 'generation-failed',
  505: 'configuration',
};
/** Body codes with which nothing was bought. 408 and 5xx say that something went wrong behind the door: unknown. */
const refusalCodes: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 422, 429, 455, 505]);

/** The envelope of an answer, if it is one: its body code counts before the HTTP status. */
export function readEnvelope(answer: Extract<HttpAnswer, { readonly kind: 'json' }>): Envelope | undefined {
  return envelopeSchema.safeParse(answer.json).data;
}

export function envelopeError(envelope: Envelope): VendorError {
  const message = envelope.msg ?? envelope.message ?? '';
  return {
    code: String(envelope.code),
    message,
    kind: kindOfCode(envelope.code, message),
  };
}

/** 400, 422 and 501 cover many faults; only the words tell which. */
function kindOfCode(code: number, message: string): FailureKind {
  const byWords = [400, 422, 500, 501].includes(code) ? kindOfWords(message) : undefined;
  return byWords ?? ownKinds[code] ?? kindOfStatus(code);
}

/** A code other than 200 in a create answer. 501 is a verdict: accepted, failed, not billed (callbacks report 0). */
export function readCreateError(envelope: Envelope): SubmitReading {
  const error = envelopeError(envelope);
  if (envelope.code === 501) return { kind: 'error', error, outcome: 'failed', cost: credits(0) };
  return { kind: 'error', error, outcome: refusalCodes.has(envelope.code) ? 'refused' : 'unknown' };
}

/** The kind of a task that ended badly: the code is often 500 or 501 whatever happened. */
export function taskError(code: string | null | undefined, message: string | null | undefined): VendorError {
  const text = message ?? '';
  const byWords = kindOfWords(text);
  return {
    code: code === undefined || code === null || code === '' ? 'fail' : code,
    message: text === '' ? 'the task failed without a reason' : text,
    kind: byWords === 'rate-limit' || byWords === undefined ? 'generation-failed' : byWords,
  };
}

/** `creditsConsumed`, where it is given; exact decimals. */
export function credits(amount: number | string | null | undefined): ReportedCost {
  if (amount === undefined || amount === null) return {};
  const parsed = parseMoney(creditCurrency, amount);
  return parsed.ok ? { amount: parsed.value } : {};
}

/** `resultJson` is JSON inside JSON; some answers already hold the object. */
export function decodeResult(resultJson: unknown): unknown {
  if (typeof resultJson !== 'string') return resultJson;
  return parseLosslessJson(resultJson)?.value;
}
