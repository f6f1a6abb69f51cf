import { type Clock, deadline, TransportError } from '../kernel/index.ts';
import { abortable } from './abortable.ts';

/** Longest JSON that is read ahead to tell an error body from a file. */
const maxPeekBytes = 64 * 1024;

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** A body of which the first chunks have been read already. */
export interface ByteStream {
  readonly first: readonly Uint8Array[];
  /** The rest; undefined when `first` is all. */
  readonly reader: Reader | undefined;
}

/**
 * The body of a download that answered 2xx. Feishu may send an error as JSON under 200: a JSON body is read ahead, and is an
 * error only if it has a non-zero `code` and a `msg` (a JSON file that staff attached has not).
 */
export async function peekStream(
  response: Response,
  signal: AbortSignal,
): Promise<{ readonly errorBody: unknown } | { readonly stream: ByteStream }> {
  if (response.body === null) return { stream: { first: [], reader: undefined } };
  const reader: Reader = response.body.getReader();
  const isJson = (response.headers.get('content-type') ?? '').toLowerCase().includes('json');
  if (!isJson) return { stream: { first: [], reader } };
  try {
    const { chunks, isWhole } = await readUpTo(reader, maxPeekBytes, signal);
    const body = isWhole ? errorBodyOf(joined(chunks)) : undefined;
    if (body === undefined) return { stream: { first: chunks, reader: isWhole ? undefined : reader } };
    return { errorBody: body };
  } catch (error) {
    drop(reader);
    throw error;
  }
}

function errorBodyOf(bytes: Uint8Array): unknown {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof value !== 'object' || value === null || !('code' in value) || !('msg' in value)) return undefined;
    return typeof value.code === 'number' && value.code !== 0 && typeof value.msg === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

async function readUpTo(
  reader: Reader,
  maxBytes: number,
  signal: AbortSignal | undefined,
): Promise<{ readonly chunks: readonly Uint8Array[]; readonly isWhole: boolean }> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  while (sizeBytes <= maxBytes) {
    const part = await abortable(reader.read(), signal);
    if (part.done) return { chunks, isWhole: true };
    chunks.push(part.value);
    sizeBytes += part.value.byteLength;
  }
  return { chunks, isWhole: false };
}

interface StreamGuard {
  readonly clock: Clock;
  readonly idleMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly expectedBytes?: number | undefined;
}

/**
 * The chunks of a body, guarded: no chunk for `idleMs` ends them with a TransportError, so does a body shorter or longer
 * than `expectedBytes`; the caller's abort ends them with its reason. The connection is let go in every case.
 */
export async function* guardedChunks(source: ByteStream, guard: StreamGuard): AsyncGenerator<Uint8Array, void> {
  let receivedBytes = 0;
  try {
    for (const chunk of source.first) {
      receivedBytes += chunk.byteLength;
      yield chunk;
    }
    while (source.reader !== undefined) {
      const part = await nextChunk(source.reader, guard);
      if (part.done) break;
      receivedBytes += part.value.byteLength;
      yield part.value;
    }
  } finally {
    if (source.reader !== undefined) drop(source.reader);
  }
  if (guard.expectedBytes !== undefined && receivedBytes !== guard.expectedBytes) {
    const words = `the file ended after ${receivedBytes} of ${guard.expectedBytes} bytes`;
    throw new TransportError('maybe-sent', 'ETRUNCATED', words);
  }
}

async function nextChunk(reader: Reader, guard: StreamGuard): Promise<ReadableStreamReadResult<Uint8Array>> {
  const limit = deadline(guard.clock, guard.idleMs, guard.signal);
  try {
    return await abortable(reader.read(), limit.signal);
  } catch (error) {
    if (limit.expired()) throw new TransportError('maybe-sent', 'EIDLE', `no byte within ${guard.idleMs} ms`);
    if (error instanceof TransportError || guard.signal?.aborted === true) throw error;
    const words = error instanceof Error ? error.message : 'the connection broke';
    throw new TransportError('maybe-sent', 'EBROKEN', words, { cause: error });
  } finally {
    limit.release();
  }
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0));
  let offset = 0;
  for (const chunk of chunks) {
    all.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return all;
}

/** Lets the connection go; nobody waits for it. */
function drop(reader: Reader): void {
  reader.cancel().catch(() => undefined);
}
