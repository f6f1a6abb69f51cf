import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { FileHash, FileHasher } from './file-hash.ts';

/** The SHA-256 of a file that is being written, made here while it is small, in a thread once it is large. */
export interface Digest {
  /** These bytes come next; they need not be written yet. */
  take(chunk: Uint8Array): void;
  /** The file holds so many bytes by now. */
  written(bytes: number): void;
  /** In hex; to be asked for when all has been taken and written. */
  finish(): Promise<string>;
  /** To be called when done, whatever the end. */
  drop(): void;
}

/** Up to here the event loop is held up for some 10 ms in all, less than a thread takes to begin. */
const largestOnLoopBytes = 16 * 1024 * 1024;

export function createDigest(hasher: FileHasher, path: string, expectedBytes = 0): Digest {
  const onLoop = createHash('sha256');
  let inThread: FileHash | undefined = expectedBytes > largestOnLoopBytes ? hasher(path) : undefined;
  let takenBytes = 0;
  return {
    take: (chunk) => {
      takenBytes += chunk.byteLength;
      // The thread reads from the beginning: what was hashed here is not lost to it.
      if (takenBytes > largestOnLoopBytes) inThread ??= hasher(path);
      if (inThread === undefined) onLoop.update(chunk);
    },
    written: (bytes) => {
      inThread?.written(bytes);
    },
    finish: async () => {
      if (inThread === undefined) return onLoop.digest('hex');
      // Without its thread a file is still hashed, only more slowly.
      return await inThread.finish(takenBytes).catch(async () => await hashWhole(path));
    },
    drop: () => {
      inThread?.drop();
    },
  };
}

async function hashWhole(path: string): Promise<string> {
  const hash = createHash('sha256');
  const pieces: AsyncIterable<Uint8Array> = createReadStream(path);
  for await (const piece of pieces) hash.update(piece);
  return hash.digest('hex');
}
