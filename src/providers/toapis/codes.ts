import type { FailureKind, ReportedCost } from '../../contract/index.ts';
import { parseMoney } from '../../kernel/index.ts';
import { kindOfWords, readErrorShape, type VendorError } from '../common/index.ts';
import type { ToapisTask } from './wire.ts';

export const creditCurrency = 'credit:toapis';

const kindsByCode: Readonly<Record<string, FailureKind>> = {
  insufficient_quota: 'balance',
  insufficient_user_quota: 'balance',
  pre_consume_token_quota_failed: 'key-cap',
  content_policy_violation: 'content-policy',
  rate_limit_exceeded: 'rate-limit',
  model_not_found: 'configuration',
  invalid_api_key: 'auth',
};

/** Names for "there is no such task". */
const missingCodes: ReadonlySet<string> = new Set([
  'task_not_exist',
  'task_not_found',
  'not_found_error',
  '404',
  'not_found',
]);

/** The error of an answer, in whichever of its three shapes; `undefined` when there is none. */
export function readToapisError(json: unknown): VendorError | undefined {
  const error = readErrorShape(json);
  if (error === undefined) return undefined;
  const kind = kindsByCode[error.code];
  return kind === undefined ? error : { ...error, kind };
}

export function isMissing(error: VendorError | undefined): boolean {
  return error !== undefined && (missingCodes.has(error.code) || missingCodes.has(error.message.trim()));
}

/** The failure of a task: `error` or `fail_reason`; `generation_failed` is the code of everything. */
export function taskError(json: unknown, failReason: unknown): VendorError {
  const error = readToapisError(json);
  const message = error?.message ?? (typeof failReason === 'string' ? failReason : 'the task failed without a reason');
  return {
    code: error?.code ?? 'generation_failed',
    message,
    kind: error?.kind ?? kindOfWords(message) ?? 'generation-failed',
  };
}

/** What the task cost, where the answer says so; a refund is a cost of nothing. */
export function billed(billing: ToapisTask['billing']): ReportedCost {
  const isRefunded = billing?.status?.trim().toLowerCase() === 'refunded';
  const amount = isRefunded ? 0 : billing?.credits;
  if (amount === undefined || amount === null) return {};
  const parsed = parseMoney(creditCurrency, amount);
  return parsed.ok ? { amount: parsed.value } : {};
}
