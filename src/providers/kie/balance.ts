import type { Balance, Failure, ProviderDeps } from '../../contract/index.ts';
import { fail, ok, parseMoney, type Result } from '../../kernel/index.ts';
import { checkFailure, failureOfAnswer, type VendorLine } from '../common/index.ts';
import { creditCurrency, envelopeError, readEnvelope } from './codes.ts';
import { creditSchema } from './wire.ts';

/** Credits left: `data` is a bare number, and the one thing that runs out. */
export async function readKieBalance(
  baseUrl: string,
  line: VendorLine,
  deps: ProviderDeps,
  signal: AbortSignal,
): Promise<Result<Balance, Failure>> {
  const url = `${baseUrl}/api/v1/chat/credit`;
  const answer = await line.send({ method: 'GET', url }, deps.timeouts.queryMs, signal);
  const envelope = answer.kind === 'json' ? readEnvelope(answer) : undefined;
  if (envelope === undefined) return fail(checkFailure(answer, line.context()));
  if (envelope.code !== 200) return fail(failureOfAnswer(answer, line.context(), envelopeError(envelope)));
  const credit = creditSchema.safeParse(envelope.data);
  const remaining = credit.success ? parseMoney(creditCurrency, credit.data) : undefined;
  if (remaining?.ok !== true) return fail(checkFailure(answer, line.context()));
  return ok({ provider: deps.account.id, remaining: remaining.value });
}
