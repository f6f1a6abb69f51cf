import type { Failure } from '../contract/index.ts';

/** The disk failed, as against the source of the bytes, whose errors pass through. */
export class WriteError extends Error {
  override readonly name = 'WriteError';
}

export async function onDisk<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new WriteError('the disk refused', { cause: error });
  }
}

/** Bytes are gathered into writes of this size (small files in one), one of which is under way while the next is being gathered. */
const writeBytes = 1024 * 1024;
/** So much is written before the disk is set to work on it, so that the last sync of a large file has little left to do. */
const syncEveryBytes = 64 * 1024 * 1024;

interface Filling {
  readonly file: {
    write(bytes: Uint8Array, offset: number): Promise<{ readonly bytesWritten: number }>;
    datasync(): Promise<void>;
  };
  /** What is expected at most. */
  readonly sizeBytes: number;
  /** Looks at a piece before it is written; a failure ends the writing. */
  readonly take: (chunk: Uint8Array) => Failure | undefined;
  /** The file holds so many bytes by now. */
  readonly onWritten: (bytes: number) => void;
}

/**
 * Writes pieces to the end; resolves with what `take` found wrong. Copies them into two buffers in turn instead of keeping
 * hold of them: a piece that lives for a while is promoted to the old generation, where its memory stays until the next
 * full collection.
 */
export async function writePieces(filling: Filling, chunks: AsyncIterable<Uint8Array>): Promise<Failure | undefined> {
  const bufferBytes = Math.max(1, Math.min(writeBytes, filling.sizeBytes));
  const writer = createWriter(filling);
  let buffer: Buffer = Buffer.allocUnsafe(bufferBytes);
  let spare: Buffer | undefined;
  let filledBytes = 0;
  try {
    for await (const chunk of chunks) {
      const failure = filling.take(chunk);
      if (failure !== undefined) return failure;
      for (let offset = 0; offset < chunk.byteLength; ) {
        const part = chunk.subarray(offset, offset + bufferBytes - filledBytes);
        buffer.set(part, filledBytes);
        filledBytes += part.byteLength;
        offset += part.byteLength;
        if (filledBytes < bufferBytes) continue;
        await writer.write(buffer);
        [buffer, spare] = [spare ?? Buffer.allocUnsafe(bufferBytes), buffer];
        filledBytes = 0;
      }
    }
    await writer.write(buffer.subarray(0, filledBytes));
    return undefined;
  } finally {
    await writer.end();
  }
}

interface Writer {
  /** Begins to write these when the write before is done; resolves then. */
  write(bytes: Uint8Array): Promise<void>;
  /** Waits for all that was begun. */
  end(): Promise<void>;
}

function createWriter({ file, onWritten }: Filling): Writer {
  let writing: Promise<void> = Promise.resolve();
  let syncing: Promise<void> = Promise.resolve();
  let writtenBytes = 0;
  let unsyncedBytes = 0;
  const begin = async (bytes: Uint8Array): Promise<void> => {
    await writeWhole(file, bytes);
    writtenBytes += bytes.byteLength;
    unsyncedBytes += bytes.byteLength;
    onWritten(writtenBytes);
  };
  return {
    write: async (bytes) => {
      await onDisk(writing);
      if (unsyncedBytes >= syncEveryBytes) {
        unsyncedBytes = 0;
        await onDisk(syncing);
        syncing = unhurried(file.datasync());
      }
      writing = unhurried(begin(bytes));
    },
    end: async () => {
      await onDisk(writing);
      // An error of a sync is told once only: a later sync would say that all is well.
      await onDisk(syncing);
    },
  };
}

/** Awaited later; until then its failure must not count as unhandled. */
function unhurried(work: Promise<void>): Promise<void> {
  work.catch(() => undefined);
  return work;
}

/** A write may be short (a disk that is nearly full): the rest is written until it is all there, or the disk says no. */
async function writeWhole(file: Filling['file'], bytes: Uint8Array): Promise<void> {
  for (let offset = 0; offset < bytes.byteLength; ) offset += (await file.write(bytes, offset)).bytesWritten;
}
