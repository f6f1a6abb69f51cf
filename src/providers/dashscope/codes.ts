import type { FailureKind } from '../../contract/index.ts';
import { kindOfWords, readErrorShape, type VendorError } from '../common/index.ts';

/** DashScope's codes by their beginning; details follow after a dot. */
const kindsByCode: readonly (readonly [string, FailureKind])[] = [
  ['DataInspectionFailed', 'content-policy'],
  ['data_inspection_failed', 'content-policy'],
  ['IPInfringementSuspect', 'content-policy'],
  ['Arrearage', 'balance'],
  ['AllocationQuota', 'key-cap'],
  ['Throttling', 'rate-limit'],
  ['InvalidApiKey', 'auth'],
  ['AccessDenied', 'auth'],
  ['ModelNotFound', 'configuration'],
  ['Model.AccessDenied', 'auth'],
  ['InvalidURL', 'input-fetch'],
  ['InvalidParameter.DataInspection', 'input-fetch'],
  ['InvalidParameter', 'invalid-input'],
  ['BadRequest', 'invalid-input'],
  ['InternalError', 'generation-failed'],
  ['ServiceUnavailable', 'unavailable'],
];

function kindOf(code: string, message: string): FailureKind | undefined {
  const byCode = kindsByCode.find(([start]) => code.startsWith(start))?.[1];
  return byCode === 'invalid-input' && kindOfWords(message) === 'input-fetch' ? 'input-fetch' : byCode;
}

/** `code` and `message` at the top of an answer. */
export function readDashScopeError(json: unknown): VendorError | undefined {
  const error = readErrorShape(json);
  if (error === undefined) return undefined;
  const kind = kindOf(error.code, error.message);
  return kind === undefined ? error : { ...error, kind };
}

/** The reason of a task that ended badly. A verdict on the output is told from one on the input by its words. */
export function taskError(code: string | null | undefined, message: string | null | undefined): VendorError {
  const given = { code: code ?? 'FAILED', message: message ?? 'the task failed without a reason' };
  const kind = kindOf(given.code, given.message) ?? kindOfWords(given.message) ?? 'generation-failed';
  const isOutput = kind === 'content-policy' && /output|generated/i.test(given.message);
  return { ...given, kind: isOutput ? 'output-moderated' : kind };
}
