import type { ProviderDeps } from '../../contract/index.ts';
import { callHttp, type HttpAnswer, type HttpCall } from '../http/index.ts';
import type { AnswerContext } from './vendor-error.ts';

/** What every call of an account shares: headers, limits, the context of its failures, and one way to send. */
export interface VendorLine {
  readonly context: () => AnswerContext;
  send(
    call: Pick<HttpCall, 'method' | 'url'> & Partial<HttpCall>,
    limitMs: number,
    signal: AbortSignal,
  ): Promise<HttpAnswer>;
}

export function createVendorLine(deps: ProviderDeps): VendorLine {
  const { account } = deps;
  return {
    context: () => ({ provider: account.id, secrets: [account.key.reveal()], nowMs: deps.clock.nowMs() }),
    send: async (call, limitMs, signal) =>
      await callHttp(
        deps,
        {
          ...call,
          headers: { authorization: `Bearer ${account.key.reveal()}`, ...call.headers },
          limitMs,
          connectTimeoutMs: deps.timeouts.connectMs,
          proxy: account.proxy,
        },
        signal,
      ),
  };
}
