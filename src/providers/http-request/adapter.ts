import type { Adapter, PreparedRequest, ProviderDeps, ProviderFactory, SubmitOutcome } from '../../contract/index.ts';
import { deadline, fail, type Fetch, isJsonObject, ok, TransportError } from '../../kernel/index.ts';
import { inputFailure } from '../common/index.ts';
import { maskText, orAborted, parseLosslessJson, parseRetryAfter, readText } from '../http/index.ts';
import { requestSchema } from './wire.ts';

const implementation = 'http-request';
const version = 1;
/** Largest answer that a workflow may carry on. */
const maxAnswerBytes = 1024 * 1024;
/** Set by us or by the connection; a workflow may not. */
const reservedHeaders: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'connection',
  'transfer-encoding',
  'cookie',
]);

/** One plain request to a public address (or an allowed host): no redirect followed, no credentials of ours. Free. */
export const createHttpRequestProvider: ProviderFactory = (deps) => ({
  account: deps.account.id,
  adapters: [createHttpRequestAdapter(deps)],
});

function createHttpRequestAdapter(deps: ProviderDeps): Adapter {
  return {
    implementation,
    version,
    capabilities: ['http.request'],
    prepare: (call) => {
      const parsed = requestSchema.safeParse({ method: 'GET', headers: {}, ...call.input });
      if (!parsed.success) {
        return Promise.resolve(fail(inputFailure({ name: 'url', what: 'not a request' }, deps.account.id)));
      }
      const reserved = Object.keys(parsed.data.headers).find((name) => reservedHeaders.has(name.toLowerCase()));
      if (reserved !== undefined) {
        const what = `the header ${reserved} cannot be set`;
        return Promise.resolve(fail(inputFailure({ name: 'headers', what }, deps.account.id)));
      }
      const { key, capability, model } = call;
      return Promise.resolve(ok({ implementation, version, key, model: model.id, capability, body: parsed.data }));
    },
    submit: async (request, signal) => await submit(deps, request, signal),
  };
}

/** Any HTTP answer is an answer: its status is data for the workflow. Only what never came is a failure. */
async function submit(deps: ProviderDeps, request: PreparedRequest, signal: AbortSignal): Promise<SubmitOutcome> {
  const { url, method, headers, body } = requestSchema.parse(request.body);
  const limit = deadline(deps.clock, deps.timeouts.queryMs, signal);
  const init: Parameters<Fetch>[1] = {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    purpose: 'download',
    signal: limit.signal,
    connectTimeoutMs: deps.timeouts.connectMs,
    proxy: deps.account.proxy,
  };
  try {
    const response = await orAborted(deps.fetch(url, init), limit.signal);
    const text = await readText(response, maxAnswerBytes, limit.signal);
    const retryAfterMs = parseRetryAfter(response.headers.get('retry-after'), deps.clock.nowMs());
    if (response.status === 429) {
      const failure = { kind: 'rate-limit', code: 'HTTP_429', message: 'the address asks to wait' } as const;
      const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
      return { kind: 'refused', failure: { ...failure, provider: deps.account.id, ...wait } };
    }
    const parsed = parseLosslessJson(text);
    const isJson = isJsonObject(parsed?.value) || Array.isArray(parsed?.value);
    return { kind: 'completed', output: { status: response.status, body: isJson ? toJson(text) : text }, cost: {} };
  } catch (error) {
    return unanswered(error, deps);
  } finally {
    limit.release();
  }
}

function toJson(text: string): ReturnType<typeof requestSchema.parse>['body'] {
  return requestSchema.shape.body.parse(parseLosslessJson(text)?.value);
}

function unanswered(error: unknown, deps: ProviderDeps): SubmitOutcome {
  const isTransport = error instanceof TransportError;
  const message = maskText(error instanceof Error ? error.message : String(error));
  const code = isTransport ? error.code : 'DEADLINE';
  const kind = code === 'BLOCKED_ADDRESS' || code === 'BAD_URL' ? 'invalid-input' : 'network';
  const failure = { kind, code, message, provider: deps.account.id } as const;
  return isTransport && error.phase === 'not-sent'
    ? { kind: 'refused', failure }
    : { kind: 'unknown', failure: { ...failure, kind: 'unknown-outcome' } };
}
