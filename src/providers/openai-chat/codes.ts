import type { FailureKind } from '../../contract/index.ts';
import { isJsonObject } from '../../kernel/index.ts';
import { firstText, kindOfStatus, kindOfWords, readErrorShape, type VendorError } from '../common/index.ts';

const kindsByCode: Readonly<Record<string, FailureKind>> = {
  insufficient_quota: 'balance',
  insufficient_balance: 'balance',
  arrearage: 'balance',
  payment_required: 'balance',
  billing_hard_limit_reached: 'balance',
  invalid_api_key: 'auth',
  invalidapikey: 'auth',
  authentication_error: 'auth',
  permission_error: 'auth',
  model_not_found: 'configuration',
  rate_limit_exceeded: 'rate-limit',
  rate_limit_error: 'rate-limit',
  throttling: 'rate-limit',
  content_policy_violation: 'content-policy',
  content_filter: 'content-policy',
  data_inspection_failed: 'content-policy',
  datainspectionfailed: 'content-policy',
  context_length_exceeded: 'invalid-input',
  invalid_request_error: 'invalid-input',
  server_error: 'unavailable',
  overloaded_error: 'overload',
  engine_overloaded_error: 'overload',
  /** OpenRouter's 402 has three meanings; this one passes. */
  in_flight_budget_exhausted: 'rate-limit',
};

/** The error object of a body, `undefined` when there is none (`error: null` and `error: ""` are none). */
export function readChatError(json: unknown): VendorError | undefined {
  if (!isJsonObject(json)) return undefined;
  const inner = json['error'];
  const hasError =
    (isJsonObject(inner) && Object.keys(inner).length > 0) || (typeof inner === 'string' && inner !== '');
  const isBare = inner === undefined && json['choices'] === undefined && typeof json['message'] === 'string';
  if (!hasError && !isBare) return undefined;
  const error = readErrorShape(json);
  if (error === undefined) return undefined;
  const metadata = isJsonObject(inner) && isJsonObject(inner['metadata']) ? inner['metadata'] : {};
  const kind = readKind(error, inner, metadata);
  const raw = metadata['raw'];
  return {
    ...error,
    // A router's own words are empty ("Provider returned error"); the real reason lies in metadata.raw.
    message: typeof raw === 'string' && raw !== '' ? `${error.message}: ${raw}` : error.message,
    ...(kind === undefined ? {} : { kind }),
  };
}

function readKind(
  error: VendorError,
  inner: unknown,
  metadata: Readonly<Record<string, unknown>>,
): FailureKind | undefined {
  const source = isJsonObject(inner) ? inner : {};
  const reason = firstText(
    {
      reason: text(metadata['reason']),
      error_type: text(metadata['error_type']),
      limit_source: text(metadata['limit_source']),
    },
    ['reason', 'error_type', 'limit_source'],
  );
  if (reason === 'in_flight_budget_exhausted') return 'rate-limit';
  if (reason === 'openrouter_key_limit') return 'key-cap';
  for (const code of [error.code, firstText(source, ['type']) ?? '', firstText(source, ['param']) ?? '']) {
    const kind = kindsByCode[code.toLowerCase()];
    if (kind !== undefined && kind !== 'invalid-input') return kind;
  }
  const words = kindOfWords(error.message);
  if (words === 'content-policy' || words === 'input-fetch' || words === 'balance') return words;
  const known = kindsByCode[error.code.toLowerCase()];
  return known ?? (/^[1-5]\d\d$/.test(error.code) ? kindOfStatus(Number(error.code)) : undefined);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
