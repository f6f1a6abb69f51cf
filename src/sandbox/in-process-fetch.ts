import { type Fetch, type FetchBody, TransportError } from '../kernel/index.ts';
import { carryBody, concatBytes } from './bytes.ts';
import type { Sandbox } from './options.ts';

/**
 * The Fetch port without a socket. A request that was given up goes on inside the world, as one on the wire would; an
 * address outside of the world cannot be resolved.
 */
export function createInProcessFetch(sandbox: Pick<Sandbox, 'fetch' | 'baseUrl'>): Fetch {
  return async (url, init) => {
    if (!url.startsWith(`${sandbox.baseUrl()}/`)) {
      throw new TransportError('not-sent', 'ENOTFOUND', `no such host in the sandbox: ${url}`);
    }
    init.signal?.throwIfAborted();
    const body = init.body === undefined ? undefined : await collect(init.body);
    init.signal?.throwIfAborted();
    const request = new Request(url, {
      method: init.method,
      ...(init.headers === undefined ? {} : { headers: init.headers }),
      redirect: 'manual',
    });
    if (body !== undefined) carryBody(request, body);
    return raceSignal(sandbox.fetch(request), init.signal);
  };
}

async function collect(body: FetchBody): Promise<Uint8Array<ArrayBuffer>> {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (body instanceof Uint8Array) return new Uint8Array(body);
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return concatBytes(parts);
}

function raceSignal(answer: Promise<Response>, signal: AbortSignal | undefined): Promise<Response> {
  if (signal === undefined) return answer;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      reject(signal.reason instanceof Error ? signal.reason : new Error('aborted', { cause: signal.reason }));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    answer.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', onAbort);
    });
  });
}
