import { z } from 'zod';
import {
  type Adapter,
  type Balance,
  type Failure,
  type PreparedRequest,
  type ProviderDeps,
  type ProviderFactory,
  type SubmitOutcome,
} from '../../contract/index.ts';
import { fail, type JsonObject, ok, parseMoney, type Result } from '../../kernel/index.ts';
import {
  checkFailure,
  createVendorLine,
  failureOfAnswer,
  inputFailure,
  isRefusalStatus,
  parsePrepared,
  unhappySubmit,
  type VendorLine,
} from '../common/index.ts';
import { type HttpAnswer, normaliseBaseUrl } from '../http/index.ts';
import { readBochaError } from './codes.ts';
import { answerSchema, balanceSchema, type Page } from './wire.ts';

const implementation = 'bocha.web-search';
const version = 1;
/** As many as the vendor gives when it is not told. */
const usualCount = 10;

const inputSchema = z.object({ query: z.string(), limit: z.int().optional() });

/** Bocha 博查: a search of the web that is reachable from mainland China. One request, one answer, paid by the call. */
export const createBochaProvider: ProviderFactory = (deps) => {
  const line = createVendorLine(deps);
  const root = normaliseBaseUrl(deps.account.baseUrl, ['/v1', '/web-search']);
  return {
    account: deps.account.id,
    adapters: [createSearchAdapter(deps, line, `${root}/v1/web-search`)],
    balance: async (signal) => await readBalance(`${root}/v1/fund/remaining`, line, deps, signal),
  };
};

function createSearchAdapter(deps: ProviderDeps, line: VendorLine, url: string): Adapter {
  return {
    implementation,
    version,
    capabilities: ['web.search'],
    prepare: (call) => {
      const input = inputSchema.safeParse(call.input);
      const query = input.data?.query.trim() ?? '';
      if (query === '') {
        return Promise.resolve(fail(inputFailure({ name: 'query', what: 'nothing to search for' }, deps.account.id)));
      }
      // `fixed` of the model may say otherwise: freshness, include, exclude, no summary.
      const payload = { freshness: 'noLimit', summary: true, ...call.model.fixed, query, count: input.data?.limit };
      const { key, model } = call;
      const body: JsonObject = { payload: { ...payload, count: payload.count ?? usualCount } };
      return Promise.resolve(ok({ implementation, version, key, model: model.id, capability: call.capability, body }));
    },
    submit: async (request, signal) => await submit(deps, line, url, request, signal),
  };
}

async function submit(
  deps: ProviderDeps,
  line: VendorLine,
  url: string,
  request: PreparedRequest,
  signal: AbortSignal,
): Promise<SubmitOutcome> {
  const { payload } = parsePrepared(request);
  const answer = await line.send({ method: 'POST', url, body: { json: payload } }, deps.timeouts.submitMs, signal);
  return judge(answer, line, Number(payload['count'] ?? usualCount));
}

/** The code in the body counts before the HTTP status. Finding nothing is an answer, and paid like any other. */
function judge(answer: HttpAnswer, line: VendorLine, most: number): SubmitOutcome {
  if (answer.kind !== 'json') return unhappySubmit(answer, line.context(), undefined);
  const error = readBochaError(answer.json);
  if (error !== undefined) {
    const outcome = isRefusalStatus(error.status) ? 'refused' : 'unknown';
    return unhappySubmit(answer, line.context(), { kind: 'error', error, outcome });
  }
  const found = answer.status < 300 ? answerSchema.safeParse(answer.json).data : undefined;
  if (found === undefined) return unhappySubmit(answer, line.context(), undefined);
  const hits = (found.data.webPages?.value ?? []).slice(0, most).map(toHit);
  return { kind: 'completed', output: { hits }, cost: { usage: { calls: 1 } } };
}

function toHit(page: Page): JsonObject {
  const site = page.siteName ?? '';
  const published = page.datePublished ?? '';
  return {
    source: page.url,
    title: page.name ?? page.url,
    text: [page.summary, page.snippet].find((each) => each !== undefined && each !== null && each !== '') ?? '',
    ...(site === '' ? {} : { site }),
    ...(published === '' ? {} : { published }),
  };
}

/** Yuan; packs of calls that were bought beforehand are not in it. */
async function readBalance(
  url: string,
  line: VendorLine,
  deps: ProviderDeps,
  signal: AbortSignal,
): Promise<Result<Balance, Failure>> {
  const answer = await line.send({ method: 'GET', url }, deps.timeouts.queryMs, signal);
  const error = answer.kind === 'json' ? readBochaError(answer.json) : undefined;
  if (error !== undefined) return fail(failureOfAnswer(answer, line.context(), error));
  const read = answer.kind === 'json' && answer.status < 300 ? balanceSchema.safeParse(answer.json).data : undefined;
  const remaining = read === undefined ? undefined : parseMoney('CNY', read.data.remaining);
  if (remaining?.ok !== true) return fail(checkFailure(answer, line.context()));
  return ok({ provider: deps.account.id, remaining: remaining.value });
}
