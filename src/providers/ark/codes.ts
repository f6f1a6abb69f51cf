import type { FailureKind } from '../../contract/index.ts';
import { kindOfWords, readErrorShape, type VendorError } from '../common/index.ts';

/** Ark's codes by their beginning; details follow after a dot (`InputImageSensitiveContentDetected.PrivacyInformation`). */
const kindsByCode: readonly (readonly [string, FailureKind])[] = [
  ['InputImageSensitiveContentDetected', 'content-policy'],
  ['InputTextSensitiveContentDetected', 'content-policy'],
  ['InputVideoSensitiveContentDetected', 'content-policy'],
  ['InputAudioSensitiveContentDetected', 'content-policy'],
  ['SensitiveContentDetected', 'content-policy'],
  ['OutputVideoSensitiveContentDetected', 'output-moderated'],
  ['OutputAudioSensitiveContentDetected', 'output-moderated'],
  ['OutputImageSensitiveContentDetected', 'output-moderated'],
  ['OutputTextSensitiveContentDetected', 'output-moderated'],
  ['AccountOverdueError', 'balance'],
  ['AuthenticationError', 'auth'],
  ['InvalidAccountStatus', 'auth'],
  ['AccessDenied', 'auth'],
  ['ModelNotOpen', 'configuration'],
  ['InvalidEndpointOrModel', 'configuration'],
  ['ModelNotFound', 'configuration'],
  ['RateLimitExceeded', 'rate-limit'],
  ['ModelAccountRpmRateLimitExceeded', 'rate-limit'],
  ['ModelAccountTpmRateLimitExceeded', 'rate-limit'],
  ['QuotaExceeded', 'rate-limit'],
  ['SetLimitExceeded', 'key-cap'],
  ['ServerOverloaded', 'overload'],
  ['InternalServiceError', 'unavailable'],
  ['InvalidParameter', 'invalid-input'],
  ['MissingParameter', 'invalid-input'],
];

/** The error of an answer (or of one picture in it). */
export function readArkError(json: unknown): VendorError | undefined {
  const error = readErrorShape(json);
  if (error === undefined) return undefined;
  const kind = kindsByCode.find(([start]) => error.code.startsWith(start))?.[1];
  return kind === undefined ? error : { ...error, kind: refine(kind, error.message) };
}

/** A picture that Ark could not fetch or decode is an invalid parameter by its code. */
function refine(kind: FailureKind, message: string): FailureKind {
  return kind === 'invalid-input' && kindOfWords(message) === 'input-fetch' ? 'input-fetch' : kind;
}

/** The error of a task that ended badly. */
export function taskError(json: unknown): VendorError {
  const error = readArkError(json) ?? { code: 'failed', message: 'the task failed without a reason' };
  return { ...error, kind: error.kind ?? kindOfWords(error.message) ?? 'generation-failed' };
}

/** Names for "there is no such task". */
export const missingTaskCodes: ReadonlySet<string> = new Set(['ResourceNotFound', 'NotFound', 'TaskNotFound']);
