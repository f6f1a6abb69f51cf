import { createHash } from 'node:crypto';

/** Bytes by content: where pictures and videos of the outside world lie. The app may keep them in a directory. */
export interface BlobStore {
  read(hash: string): Promise<Uint8Array | undefined>;
  write(hash: string, bytes: Uint8Array): Promise<void>;
}

export function createMemoryBlobs(): BlobStore {
  const held = new Map<string, Uint8Array>();
  return {
    read: (hash) => Promise.resolve(held.get(hash)),
    write: (hash, bytes) => {
      held.set(hash, bytes);
      return Promise.resolve();
    },
  };
}

/** SHA-256 in hex. */
export function hashBytes(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Keeps bytes and tells their hash. */
export async function keepBlob(blobs: BlobStore, bytes: Uint8Array): Promise<string> {
  const hash = hashBytes(bytes);
  await blobs.write(hash, bytes);
  return hash;
}
