import { TransportError } from '../kernel/index.ts';
import type { Sandbox } from './options.ts';

/** What `@hono/node-server` hands over beside the request: the answer's side of the socket. */
interface SocketBindings {
  readonly outgoing?: { destroy(): unknown };
}

/**
 * The sandbox for a real server: where a connection is to break, the socket is destroyed. Pass it as `fetch` of
 * `@hono/node-server`'s `serve`, with both its arguments.
 */
export function createSocketHandler(
  sandbox: Pick<Sandbox, 'fetch'>,
): (request: Request, bindings?: SocketBindings) => Promise<Response> {
  return async (request, bindings) => {
    try {
      return await sandbox.fetch(request);
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      bindings?.outgoing?.destroy();
      // The mark by which the server knows that there is nothing left to send.
      return new Response(null, { headers: { 'x-hono-already-sent': 'true' } });
    }
  };
}
