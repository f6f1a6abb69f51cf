import type { Balance, Failure, ProviderDeps, ProviderFactory } from '../../contract/index.ts';
import { fail, ok, parseMoney, type Result } from '../../kernel/index.ts';
import { checkFailure, createVendorLine, failureOfAnswer, readErrorShape, type VendorLine } from '../common/index.ts';
import { normaliseBaseUrl } from '../http/index.ts';
import { createChatAdapter } from '../openai-chat/index.ts';
import { balanceSchema } from './wire.ts';

/** DeepSeek: the common chat adapter, and a balance of its own. Text only. */
export const createDeepseekProvider: ProviderFactory = (deps) => {
  const line = createVendorLine(deps);
  const root = normaliseBaseUrl(deps.account.baseUrl, ['/v1', '/beta', '/chat/completions']);
  return {
    account: deps.account.id,
    adapters: [createChatAdapter(deps, line)],
    balance: async (signal) => await readBalance(`${root}/user/balance`, line, deps, signal),
  };
};

/** Yuan before dollars where an account has both. */
async function readBalance(
  url: string,
  line: VendorLine,
  deps: ProviderDeps,
  signal: AbortSignal,
): Promise<Result<Balance, Failure>> {
  const answer = await line.send({ method: 'GET', url }, deps.timeouts.queryMs, signal);
  const balance = answer.kind === 'json' && answer.status < 300 ? balanceSchema.safeParse(answer.json).data : undefined;
  const infos = balance?.balance_infos ?? [];
  const info = infos.find((each) => each.currency === 'CNY') ?? infos[0];
  const remaining = info === undefined ? undefined : parseMoney(info.currency, info.total_balance);
  if (balance === undefined || remaining?.ok !== true) {
    const error = answer.kind === 'json' ? readErrorShape(answer.json) : undefined;
    const context = line.context();
    return fail(error === undefined ? checkFailure(answer, context) : failureOfAnswer(answer, context, error));
  }
  return ok({ provider: deps.account.id, remaining: remaining.value, usable: balance.is_available });
}
