import { createHash, type Hash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';

/** The thread's end of `file-hash.ts`: hashes files as they grow, each by a number. Messages are taken in order. */
export type HashRequest =
  /** The file at `path` now holds `writtenBytes`; `isWhole`: there is no more to come, the hash is wanted. */
  | { readonly id: number; readonly path: string; readonly writtenBytes: number; readonly isWhole: boolean }
  /** Nobody wants it any more. */
  | { readonly id: number; readonly isDropped: true };

export type HashAnswer =
  | { readonly id: number; readonly hex: string }
  | { readonly id: number; readonly fault: string };

interface OpenFile {
  readonly descriptor: number;
  readonly hash: Hash;
  hashedBytes: number;
}

const files = new Map<number, OpenFile>();
const piece = Buffer.allocUnsafe(256 * 1024);

function take(request: HashRequest): HashAnswer | undefined {
  if ('isDropped' in request) {
    drop(request.id);
    return undefined;
  }
  const { id, path, writtenBytes, isWhole } = request;
  try {
    const file = files.get(id) ?? { descriptor: openSync(path, 'r'), hash: createHash('sha256'), hashedBytes: 0 };
    files.set(id, file);
    hashUpTo(file, writtenBytes);
    if (!isWhole) return undefined;
    drop(id);
    return { id, hex: file.hash.digest('hex') };
  } catch (error) {
    drop(id);
    return { id, fault: error instanceof Error ? error.message : String(error) };
  }
}

function hashUpTo(file: OpenFile, endBytes: number): void {
  while (file.hashedBytes < endBytes) {
    const wanted = Math.min(piece.byteLength, endBytes - file.hashedBytes);
    const bytesRead = readSync(file.descriptor, piece, 0, wanted, file.hashedBytes);
    if (bytesRead === 0) throw new Error(`the file ended after ${file.hashedBytes} of ${endBytes} bytes`);
    file.hash.update(piece.subarray(0, bytesRead));
    file.hashedBytes += bytesRead;
  }
}

function drop(id: number): void {
  const file = files.get(id);
  files.delete(id);
  if (file !== undefined) closeSync(file.descriptor);
}

parentPort?.on('message', (request: HashRequest) => {
  const answer = take(request);
  if (answer !== undefined) parentPort?.postMessage(answer);
});
