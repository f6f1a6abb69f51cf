import type { Balance, Failure, ProviderDeps, ProviderFactory } from '../../contract/index.ts';
import { fail, type Money, money, ok, parseMoney, type Result } from '../../kernel/index.ts';
import { checkFailure, createVendorLine, failureOfAnswer, readErrorShape, type VendorLine } from '../common/index.ts';
import { type HttpAnswer, normaliseBaseUrl, normaliseChatBaseUrl } from '../http/index.ts';
import { createChatAdapter } from '../openai-chat/index.ts';
import { creditsSchema, keySchema } from './wire.ts';

/** OpenRouter: the common chat adapter (its answers name their cost), and what is left. */
export const createOpenrouterProvider: ProviderFactory = (deps) => {
  const line = createVendorLine(deps);
  const api = normaliseBaseUrl(normaliseChatBaseUrl(deps.account.baseUrl));
  return {
    account: deps.account.id,
    adapters: [createChatAdapter(deps, line)],
    balance: async (signal) => await readBalance(api, line, deps, signal),
  };
};

/** The key's own limit where it has one; else the account's credits, which only a management key may read. */
async function readBalance(
  api: string,
  line: VendorLine,
  deps: ProviderDeps,
  signal: AbortSignal,
): Promise<Result<Balance, Failure>> {
  const key = await line.send({ method: 'GET', url: `${api}/key` }, deps.timeouts.queryMs, signal);
  const parsed = key.kind === 'json' && key.status < 300 ? keySchema.safeParse(key.json).data : undefined;
  if (parsed === undefined) return fail(refusal(key, line));
  const left = parsed.data.limit_remaining;
  const limit = left === undefined || left === null ? undefined : parseMoney('USD', left);
  if (limit?.ok === true) return ok({ provider: deps.account.id, remaining: limit.value });
  const credits = await line.send({ method: 'GET', url: `${api}/credits` }, deps.timeouts.queryMs, signal);
  const remaining = readCredits(credits);
  return remaining === undefined ? fail(refusal(credits, line)) : ok({ provider: deps.account.id, remaining });
}

function readCredits(answer: HttpAnswer): Money | undefined {
  const credits = answer.kind === 'json' && answer.status < 300 ? creditsSchema.safeParse(answer.json).data : undefined;
  if (credits === undefined) return undefined;
  const total = parseMoney('USD', credits.data.total_credits);
  const used = parseMoney('USD', credits.data.total_usage);
  return total.ok && used.ok ? money('USD', total.value.micros - used.value.micros) : undefined;
}

function refusal(answer: HttpAnswer, line: VendorLine): Failure {
  const error = answer.kind === 'json' ? readErrorShape(answer.json) : undefined;
  return error === undefined ? checkFailure(answer, line.context()) : failureOfAnswer(answer, line.context(), error);
}
