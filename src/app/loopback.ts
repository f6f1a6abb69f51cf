import type { AddressInfo } from 'node:net';
import { sleep, type Clock } from '../kernel/index.ts';

/** Anything that answers requests: the sandbox, the monitor. */
export type Handler = (request: Request, bindings?: SocketBindings) => Promise<Response> | Response;

/** The server's side of a request, for a handler that breaks connections on purpose. */
export interface SocketBindings {
  readonly outgoing?: { destroy(): void };
}

export interface LoopbackServer {
  readonly port: number;
  readonly origin: string;
  close(): Promise<void>;
}

/** Serves a handler on 127.0.0.1 only; `port` 0 takes a free one. */
export async function serveLoopback(handler: Handler, port: number): Promise<LoopbackServer> {
  const { serve } = await import('@hono/node-server');
  return await new Promise<LoopbackServer>((resolve, reject) => {
    const server = serve({ fetch: handler, hostname: '127.0.0.1', port }, (info: AddressInfo) => {
      resolve({
        port: info.port,
        origin: `http://127.0.0.1:${info.port}`,
        close: async () => {
          await new Promise<void>((done) => {
            server.close(() => done());
            if ('closeAllConnections' in server) server.closeAllConnections();
          });
        },
      });
    });
    server.once('error', reject);
  });
}

/** Waits until `condition` holds, looking every `everyMs`; false when `limitMs` passed first. */
export async function waitUntil(
  clock: Clock,
  condition: () => Promise<boolean>,
  everyMs: number,
  limitMs: number,
): Promise<boolean> {
  const untilMs = clock.monotonicMs() + limitMs;
  while (clock.monotonicMs() < untilMs) {
    if (await condition()) return true;
    await sleep(clock, everyMs);
  }
  return false;
}
