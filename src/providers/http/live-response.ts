import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { TransportError } from '../../kernel/index.ts';
import { toTransportError } from './transport.ts';

/** Statuses that the platform's Response refuses a body for. */
const bodiless = new Set([101, 103, 204, 205, 304]);

/** Wraps the answer of the client library in the platform's Response; errors of the body are TransportErrors too. */
export function toResponse(answer: Dispatcher.ResponseData, signal: AbortSignal | undefined): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) {
    for (const each of Array.isArray(value) ? value : [value]) if (each !== undefined) headers.append(name, each);
  }
  if (answer.statusCode < 200 || answer.statusCode > 599) {
    answer.body.destroy();
    throw new TransportError('maybe-sent', 'BAD_STATUS', `answer with HTTP status ${answer.statusCode}`);
  }
  if (bodiless.has(answer.statusCode)) {
    answer.body.resume();
    return new Response(null, { status: answer.statusCode, headers });
  }
  const encoding = headers.get('content-encoding')?.trim().toLowerCase() ?? '';
  const body = decoded(answer.body, encoding);
  if (body !== answer.body) {
    headers.delete('content-encoding');
    headers.delete('content-length');
  }
  return new Response(toWebStream(body, signal), { status: answer.statusCode, headers });
}

/** We ask for no compression; a server that compresses all the same is understood. */
function decoded(body: Readable, encoding: string): Readable {
  const decoder =
    encoding === 'gzip' || encoding === 'x-gzip'
      ? createGunzip()
      : encoding === 'br'
        ? createBrotliDecompress()
        : encoding === 'deflate'
          ? createInflate()
          : undefined;
  if (decoder === undefined) return body;
  body.on('error', (error) => decoder.destroy(error));
  decoder.on('close', () => body.destroy());
  return body.pipe(decoder);
}

/** Pulls chunk by chunk, so that a slow reader holds the sender back and memory stays flat. */
function toWebStream(body: Readable, signal: AbortSignal | undefined): ReadableStream<Uint8Array> {
  const chunks: AsyncIterator<unknown> = body[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const next = await chunks.next();
          if (next.done === true) controller.close();
          else if (next.value instanceof Uint8Array) controller.enqueue(next.value);
          else throw new TypeError('a body chunk that is not bytes');
        } catch (error) {
          controller.error(signal?.aborted === true ? signal.reason : toTransportError(error));
        }
      },
      cancel: () => {
        body.on('error', () => undefined);
        body.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}
