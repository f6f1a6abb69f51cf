import type { createProbePorts } from '../../app/working.ts';
import type { LoadedConfig } from '../../config/index.ts';
import type { Failure, Provider } from '../../contract/index.ts';
import { deadline, TransportError } from '../../kernel/index.ts';
import { formatSum } from '../../monitor/index.ts';
import { normaliseChatBaseUrl } from '../../providers/http/index.ts';
import { fault, type Finding, fine } from './finding.ts';

type ProbePorts = ReturnType<typeof createProbePorts>;
type ActiveProvider = LoadedConfig['activeProviders'][number];

const limitMs = 20_000;

/** A question that costs nothing, for vendors without a balance to ask: it needs the key all the same. */
const freeQuestions: Readonly<Record<string, (baseUrl: string) => string>> = {
  'openai-chat': (baseUrl) => `${normaliseChatBaseUrl(baseUrl)}/models`,
  ark: (baseUrl) => `${baseUrl}/contents/generations/tasks?page_num=1&page_size=1`,
  dashscope: (baseUrl) => `${baseUrl.replace(/\/api\/v1$/, '')}/api/v1/tasks/?page_no=1&page_size=1`,
};

/** Every account that has a key, asked for its balance or by a free question; and which are left out. */
export async function checkVendors(
  config: LoadedConfig,
  providers: ReadonlyMap<string, Provider>,
  ports: ProbePorts,
): Promise<readonly Finding[]> {
  const asked = await Promise.all(
    config.activeProviders.map(async (active) => await checkVendor(active, providers.get(active.id), ports)),
  );
  const left = [...config.inactiveProviders].map(([id, keys]) => `${id} (${keys.join(', ')})`);
  return left.length === 0 ? asked : [...asked, fine('vendor', `switched off for want of a key: ${left.join(', ')}`)];
}

async function checkVendor(
  active: ActiveProvider,
  provider: Provider | undefined,
  ports: ProbePorts,
): Promise<Finding> {
  const limit = deadline(ports.clock, limitMs);
  try {
    if (provider?.balance === undefined) return await askFreely(active, ports, limit.signal);
    const answer = await provider.balance(limit.signal);
    if (!answer.ok) return ofFailure(active, answer.failure);
    const { remaining, usable } = answer.value;
    return usable === false
      ? fault('vendor', `the account cannot pay: ${formatSum(remaining)} left`, 'top it up', active.id)
      : fine('vendor', `the key works, ${formatSum(remaining)} left`, active.id);
  } catch (error) {
    const detail =
      error instanceof TransportError ? error.code : error instanceof Error ? error.message : String(error);
    return fault('vendor', `cannot be reached (${detail})`, reachAdvice(active), active.id);
  } finally {
    limit.release();
  }
}

function ofFailure(active: ActiveProvider, failure: Failure): Finding {
  const advice =
    failure.kind === 'auth'
      ? `the key is refused: copy it again from the vendor's page into ${keyName(active)}`
      : failure.kind === 'balance'
        ? 'top the account up'
        : reachAdvice(active);
  return fault('vendor', failure.message, advice, active.id);
}

/** Any answer but a refusal of the key shows that the address and the key are right. */
async function askFreely(active: ActiveProvider, ports: ProbePorts, signal: AbortSignal): Promise<Finding> {
  const { account, definition } = active;
  const url = freeQuestions[definition.vendor]?.(account.baseUrl);
  if (url === undefined) return fine('vendor', 'there is nothing that can be asked for free; not checked', active.id);
  const response = await ports.fetch(url, {
    method: 'GET',
    headers: { authorization: `Bearer ${account.key.reveal()}`, accept: 'application/json' },
    signal,
    proxy: account.proxy,
  });
  await response.body?.cancel();
  const { status } = response;
  if (status === 401 || status === 403) {
    const advice = `the key is refused: copy it again from the vendor's page into ${keyName(active)}`;
    return fault('vendor', `HTTP ${status}`, advice, active.id);
  }
  if (status >= 500) return fault('vendor', `HTTP ${status}`, reachAdvice(active), active.id);
  // Whether 400 and 404 come before or after the key is looked at is the vendor's affair.
  const what = response.ok ? 'the key works' : `reached (HTTP ${status}); the first call tries the key itself`;
  return fine('vendor', what, active.id);
}

function reachAdvice({ account }: ActiveProvider): string {
  const host = URL.canParse(account.baseUrl) ? new URL(account.baseUrl).host : account.baseUrl;
  return `check that this server reaches ${host} (network, proxy, base URL), and try again`;
}

function keyName({ definition }: ActiveProvider): string {
  return /\$\{([A-Z0-9_]+)/.exec(definition.key)?.[1] ?? 'its key variable';
}
