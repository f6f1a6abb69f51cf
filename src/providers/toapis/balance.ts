import type { Balance, Failure, ProviderDeps } from '../../contract/index.ts';
import { fail, type Money, ok, parseMoney, type Result } from '../../kernel/index.ts';
import { checkFailure, failureOfAnswer, type VendorLine } from '../common/index.ts';
import { creditCurrency, readToapisError } from './codes.ts';
import { balanceSchema } from './wire.ts';

/** What is left to this key: nothing is known of a key without a limit but its account's credits. */
export async function readToapisBalance(
  baseUrl: string,
  line: VendorLine,
  deps: ProviderDeps,
  signal: AbortSignal,
): Promise<Result<Balance, Failure>> {
  const account = await readOne(`${baseUrl}/v1/user/balance`, line, deps, signal);
  if (!account.ok) return account;
  const key = await readOne(`${baseUrl}/v1/balance`, line, deps, signal);
  if (!key.ok) return key;
  const isKeyLimited = !key.value.isUnlimited && key.value.remaining.micros < account.value.remaining.micros;
  return ok({ provider: deps.account.id, remaining: isKeyLimited ? key.value.remaining : account.value.remaining });
}

/** Errors arrive as HTTP 200 with `success: false`. */
async function readOne(
  url: string,
  line: VendorLine,
  deps: ProviderDeps,
  signal: AbortSignal,
): Promise<Result<{ readonly remaining: Money; readonly isUnlimited: boolean }, Failure>> {
  const answer = await line.send({ method: 'GET', url }, deps.timeouts.queryMs, signal);
  const balance = answer.kind === 'json' ? balanceSchema.safeParse(answer.json).data : undefined;
  const isRefused = answer.kind === 'none' || answer.status >= 300 || balance?.success === false;
  const credits = balance?.remain_credits;
  if (isRefused || credits === undefined || credits === null) {
    const error = answer.kind === 'json' ? readToapisError(answer.json) : undefined;
    const context = line.context();
    return fail(error === undefined ? checkFailure(answer, context) : failureOfAnswer(answer, context, error));
  }
  const remaining = parseMoney(creditCurrency, credits);
  if (!remaining.ok) return fail(checkFailure(answer, line.context()));
  return ok({ remaining: remaining.value, isUnlimited: balance?.unlimited_quota === true });
}
