/** Joins pieces into one array. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/** A body that is larger than its endpoint takes. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError';
}

/** Bodies that never cross a socket: a stream over what is in memory anyway costs more than most answers do. */
const inMemory = new WeakMap<Request, Uint8Array<ArrayBuffer>>();

/** Gives the request a body for `readBody` alone; its own `body` stays null. */
export function carryBody(request: Request, body: Uint8Array<ArrayBuffer>): void {
  inMemory.set(request, body);
}

/** Reads a request's body, at most `maxBytes`. Settles in microtasks when the body is in memory. */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const carried = inMemory.get(request);
  if (carried !== undefined) {
    if (carried.length > maxBytes) throw new BodyTooLargeError(`a body of more than ${maxBytes} bytes`);
    return carried;
  }
  if (request.body === null) return new Uint8Array(0);
  const reader = request.body.getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  for (let step = await reader.read(); !step.done; step = await reader.read()) {
    size += step.value.length;
    if (size > maxBytes) {
      await reader.cancel();
      throw new BodyTooLargeError(`a body of more than ${maxBytes} bytes`);
    }
    parts.push(step.value);
  }
  return concatBytes(parts);
}

/** Where `needle` begins in `hay` at or after `from`, or -1. */
export function indexOfBytes(hay: Uint8Array, needle: Uint8Array, from: number): number {
  return Buffer.from(hay.buffer, hay.byteOffset, hay.byteLength).indexOf(needle, from);
}

/** Adler-32 as Feishu wants it: a decimal number of the bytes. */
export function adler32(bytes: Uint8Array): number {
  let low = 1;
  let high = 0;
  for (let start = 0; start < bytes.length; start += 3_800) {
    const end = Math.min(start + 3_800, bytes.length);
    for (let index = start; index < end; index += 1) {
      low += bytes[index] ?? 0;
      high += low;
    }
    low %= 65_521;
    high %= 65_521;
  }
  return ((high << 16) | low) >>> 0;
}
