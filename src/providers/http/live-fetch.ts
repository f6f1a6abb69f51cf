import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { type Fetch, type FetchInit, TransportError } from '../../kernel/index.ts';
import { createDispatcher, type ProxyEnvironment, type Route } from './dispatchers.ts';
import { checkDownloadUrl, type GuardOptions, type Lookup } from './download-guard.ts';
import { toResponse } from './live-response.ts';
import { toTransportError } from './transport.ts';

export interface LiveFetchOptions {
  /** Longest time to connect (DNS, TCP and TLS together) where a call names none; default 15 s. */
  readonly connectTimeoutMs?: number;
  /** Hosts (`name` or `name:port`) from which a download may come over http or from a private address. */
  readonly allowHosts?: readonly string[];
  /** See GuardOptions; default `refuse`. */
  readonly fakeIp?: 'refuse' | 'probe';
  /** What `proxy: env` means. Without it, nothing. */
  readonly environment?: ProxyEnvironment;
  /** Extra certificate authority (PEM), for tests and private gateways. */
  readonly ca?: string;
  /** DNS, for tests. */
  readonly lookup?: Lookup;
}

/** The port, and a way to end what is open when the process stops. */
export type LiveFetch = Fetch & { readonly close: () => Promise<void> };

const defaultConnectTimeoutMs = 15_000;

/**
 * The real network: exactly one request a call, on undici. No retry, no redirect followed, no cookie, no proxy unless the
 * call says so. Deadlines are the caller's (`signal`); only the time to connect is kept here.
 */
export function createLiveFetch(options: LiveFetchOptions = {}): LiveFetch {
  const guard: GuardOptions = {
    allowHosts: options.allowHosts ?? [],
    fakeIp: options.fakeIp ?? 'refuse',
    ...(options.lookup === undefined ? {} : { lookup: options.lookup }),
  };
  const pools = new Map<string, Dispatcher>();
  const pool = (route: Route): Dispatcher => {
    const key = JSON.stringify([route.proxy, route.connectTimeoutMs, route.guarded]);
    const known = pools.get(key);
    if (known !== undefined) return known;
    const made = createDispatcher(route, guard, options.environment ?? {}, options.ca);
    pools.set(key, made);
    return made;
  };
  const fetch: Fetch = async (address, init) => {
    init.signal?.throwIfAborted();
    const url = parseUrl(address);
    const isDownload = init.purpose === 'download';
    const blocked = isDownload ? checkDownloadUrl(url, guard) : undefined;
    if (blocked !== undefined) throw blocked;
    const dispatcher = pool({
      proxy: init.proxy ?? 'direct',
      connectTimeoutMs: init.connectTimeoutMs ?? options.connectTimeoutMs ?? defaultConnectTimeoutMs,
      guarded: isDownload,
    });
    return await send(url.origin, requestPath(address, url), init, dispatcher);
  };
  const close = async (): Promise<void> => {
    await Promise.all([...pools.values()].map(async (each) => await each.destroy()));
    pools.clear();
  };
  return Object.assign(fetch, { close });
}

function parseUrl(address: string): URL {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new TransportError('not-sent', 'BAD_URL', `not an http(s) address: "${address.slice(0, 80)}"`);
  }
  return url;
}

/**
 * Path and query as they were given: a signed query must reach the other side byte for byte. Only what may not stand in a
 * request line (spaces, control and non-ASCII characters) is percent-encoded.
 */
function requestPath(address: string, url: URL): string {
  const given = /^\s*https?:\/\/[^/?#]*([^#]*)/i.exec(address)?.[1]?.trimEnd();
  if (given === undefined || /[\\\t\r\n]|\/\.{1,2}(?:\/|$|\?)/.test(given)) return `${url.pathname}${url.search}`;
  const rooted = given.startsWith('/') ? given : `/${given}`;
  return rooted.replace(/[^\u0021-\u007e]+/gu, (part) => encodeURIComponent(part.toWellFormed()));
}

async function send(origin: string, path: string, init: FetchInit, dispatcher: Dispatcher): Promise<Response> {
  const { signal, body } = init;
  try {
    const answer = await dispatcher.request({
      origin,
      path,
      method: init.method,
      headers: { 'user-agent': 'gridloom', accept: '*/*', ...init.headers },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' || body instanceof Uint8Array ? body : Readable.from(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    return toResponse(answer, signal);
  } catch (error) {
    if (signal?.aborted === true) throw abortReason(signal);
    throw toTransportError(error);
  }
}

function abortReason(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}
