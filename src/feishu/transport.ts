import { z } from 'zod';
import type { Fetch, FetchBody, FetchInit } from '../kernel/index.ts';
import { readText } from '../providers/http/index.ts';
import { abortable } from './abortable.ts';
import { type ByteStream, peekStream } from './body.ts';
import type { SdkHttpInstance } from './sdk.ts';

/** An answer as it came, before anyone judged it. */
export interface HttpAnswer {
  readonly httpStatus: number;
  readonly headers: Headers;
  /** The parsed JSON; undefined when the body is not JSON. */
  readonly body: unknown;
  /** Only where a stream was asked for and came. */
  readonly stream?: ByteStream;
}

/**
 * One request on its way through the SDK. The SDK's `request` has no place for a deadline, for bytes (it spreads a body into
 * a plain object) or for response headers, so these ride along: the exchange hangs on the request's headers under a symbol,
 * which the SDK copies, and the answer is left in it.
 */
export class Exchange {
  readonly signal: AbortSignal;
  readonly connectTimeoutMs: number;
  readonly bytes: { readonly contentType: string; readonly content: FetchBody } | undefined;
  readonly wantsStream: boolean;
  answer: HttpAnswer | undefined;

  constructor(options: {
    readonly signal: AbortSignal;
    readonly connectTimeoutMs: number;
    readonly bytes?: { readonly contentType: string; readonly content: FetchBody } | undefined;
    readonly wantsStream?: boolean | undefined;
  }) {
    this.signal = options.signal;
    this.connectTimeoutMs = options.connectTimeoutMs;
    this.bytes = options.bytes;
    this.wantsStream = options.wantsStream ?? false;
  }

  /** To be passed as the request's headers. */
  asHeaders(): object {
    return { [exchangeKey]: this };
  }
}

const exchangeKey = Symbol('gridloom exchange');
const maxJsonBytes = 64 * 1024 * 1024;

const optionsSchema = z.looseObject({
  url: z.string(),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).nullish(),
  data: z.unknown().optional(),
  headers: z.custom<object>((value) => typeof value === 'object' && value !== null).optional(),
});

/** The SDK's options for a request it makes of itself, with an exchange attached. */
export function withExchange(options: unknown, exchange: Exchange): unknown {
  const parsed = optionsSchema.parse(options);
  return { ...parsed, headers: { ...parsed.headers, ...exchange.asHeaders() } };
}

/**
 * The SDK's HTTP door, over our own fetch: one request each, no retry, no redirect, no proxy of the environment. Every
 * request must carry an Exchange; it resolves for every HTTP status and leaves the answer there.
 */
export function createHttpInstance(send: Fetch, proxy?: string): SdkHttpInstance {
  return {
    request: async (rawOptions) => {
      const options = optionsSchema.parse(rawOptions);
      const attached: unknown = options.headers === undefined ? undefined : Reflect.get(options.headers, exchangeKey);
      if (!(attached instanceof Exchange)) throw new Error('the SDK made a request of its own');
      attached.answer = await exchangeOnce(send, options, attached, proxy);
      return attached.answer.body;
    },
  };
}

async function exchangeOnce(
  send: Fetch,
  options: z.infer<typeof optionsSchema>,
  exchange: Exchange,
  proxy: string | undefined,
): Promise<HttpAnswer> {
  const method = methodOf(options.method);
  const content = exchange.bytes?.content ?? (options.data === undefined ? undefined : JSON.stringify(options.data));
  const contentType = exchange.bytes?.contentType ?? 'application/json; charset=utf-8';
  const init: FetchInit = {
    method,
    headers: { ...plainHeaders(options.headers), ...(content === undefined ? {} : { 'content-type': contentType }) },
    purpose: 'api',
    signal: exchange.signal,
    connectTimeoutMs: exchange.connectTimeoutMs,
    ...(content === undefined ? {} : { body: content }),
    ...(proxy === undefined ? {} : { proxy }),
  };
  const response = await abortable(send(withQuery(options.url, options.params ?? {}), init), exchange.signal);
  const head = { httpStatus: response.status, headers: response.headers };
  if (exchange.wantsStream && response.ok) {
    const peeked = await peekStream(response, exchange.signal);
    return 'errorBody' in peeked ? { ...head, body: peeked.errorBody } : { ...head, body: undefined, ...peeked };
  }
  return { ...head, body: parseJson(await readText(response, maxJsonBytes, exchange.signal)) };
}

function methodOf(text: string): FetchInit['method'] {
  const upper = text.toUpperCase();
  if (upper === 'GET' || upper === 'POST' || upper === 'PUT' || upper === 'DELETE' || upper === 'PATCH') return upper;
  throw new Error(`the SDK asked for the HTTP method "${text}"`);
}

function plainHeaders(headers: object | undefined): Record<string, string> {
  const pairs = Object.entries(headers ?? {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(pairs);
}

function withQuery(url: string, params: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (typeof item === 'string' || typeof item === 'number' || typeof item === 'boolean')
        query.append(name, String(item));
    }
  }
  const text = query.toString();
  return text === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${text}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
