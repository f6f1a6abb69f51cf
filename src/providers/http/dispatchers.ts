import { Agent, buildConnector, type Dispatcher, EnvHttpProxyAgent, ProxyAgent } from 'undici';
import { type GuardOptions, guardedLookup, isAllowedHost } from './download-guard.ts';
import { ConnectStageError } from './transport.ts';

/** How a connection is to be made; one dispatcher (and its pool) serves all requests that agree in this. */
export interface Route {
  readonly proxy: string;
  readonly connectTimeoutMs: number;
  /** A download whose address must be public. */
  readonly guarded: boolean;
}

/** The environment that `proxy: env` refers to, handed in by `app`: HTTP_PROXY, HTTPS_PROXY, NO_PROXY in either case. */
export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * A connection is used again within a second only. Servers close idle ones after five or more, so a request is never
 * written to a connection that is being closed: that would make the outcome of a paid call unknown for nothing.
 */
const keepAliveMs = 1_000;
/** A backstop far above every deadline of ours: those are kept by the caller's Clock. */
const backstopMs = 3_600_000;

const common = {
  keepAliveTimeout: keepAliveMs,
  keepAliveMaxTimeout: keepAliveMs,
  headersTimeout: backstopMs,
  bodyTimeout: backstopMs,
  pipelining: 1,
  allowH2: false,
  maxHeaderSize: 64 * 1024,
} as const;

export function createDispatcher(
  route: Route,
  guard: GuardOptions,
  environment: ProxyEnvironment,
  ca?: string,
): Dispatcher {
  const tls = { timeout: route.connectTimeoutMs, allowH2: false as const, ...(ca === undefined ? {} : { ca }) };
  if (route.proxy === 'env') {
    return new EnvHttpProxyAgent({
      ...common,
      connectTimeout: route.connectTimeoutMs,
      httpProxy: variable(environment, 'HTTP_PROXY'),
      httpsProxy: variable(environment, 'HTTPS_PROXY'),
      noProxy: variable(environment, 'NO_PROXY'),
      requestTls: tls,
      proxyTls: tls,
    });
  }
  if (route.proxy !== 'direct') {
    return new ProxyAgent({
      ...common,
      uri: route.proxy,
      connectTimeout: route.connectTimeoutMs,
      requestTls: tls,
      proxyTls: tls,
    });
  }
  return new Agent({ ...common, connect: markedConnector(tls, route.guarded ? guard : undefined) });
}

/** Lower case goes first, as other programs have it. */
function variable(environment: ProxyEnvironment, name: string): string {
  return environment[name.toLowerCase()] ?? environment[name] ?? '';
}

function markedConnector(
  tls: { readonly timeout: number; readonly allowH2: false; readonly ca?: string },
  guard: GuardOptions | undefined,
): buildConnector.connector {
  const open = buildConnector(tls);
  const guarded = guard === undefined ? open : buildConnector({ ...tls, lookup: guardedLookup(guard) });
  return (options, callback) => {
    const url = new URL(`${options.protocol}//${options.host ?? options.hostname}`);
    const connect = guard !== undefined && isAllowedHost(url, guard.allowHosts) ? open : guarded;
    connect(options, (...[error, socket]) => {
      if (error === null) callback(null, socket);
      else callback(new ConnectStageError(error), null);
    });
  };
}
