import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Artifact, Failure } from '../contract/index.ts';
import { fail, ok, type Result } from '../kernel/index.ts';
import { createDigest, type Digest } from './digest.ts';
import type { FileHasher } from './file-hash.ts';
import { createIntake, type IntakeOptions, storageFailure } from './intake.ts';
import { onDisk, WriteError, writePieces } from './write-pieces.ts';

interface Place {
  readonly partialPath: string;
  readonly pathOf: (hash: string) => string;
  /** Told of all bytes that pass. */
  readonly passed: (bytes: number) => void;
  readonly hasher: FileHasher;
}

/** Writes the bytes to `partialPath`, checked and hashed; they are synced, then renamed to where their hash says. */
export async function storeFile(
  place: Place,
  chunks: AsyncIterable<Uint8Array>,
  options: IntakeOptions,
  signal: AbortSignal,
): Promise<Result<Artifact, Failure>> {
  const { partialPath } = place;
  let file: FileHandle;
  try {
    file = await open(partialPath, 'wx', 0o600);
  } catch (error) {
    return fail(storageFailure(error));
  }
  const digest = createDigest(place.hasher, partialPath, options.expectedBytes);
  try {
    return await fill({ ...place, file, digest }, chunks, options, signal);
  } catch (error) {
    if (error instanceof WriteError) return fail(storageFailure(error.cause));
    throw error;
  } finally {
    digest.drop();
    await file.close().catch(() => undefined);
    await rm(partialPath, { force: true });
  }
}

async function fill(
  { file, digest, passed, partialPath, pathOf }: Place & { readonly file: FileHandle; readonly digest: Digest },
  chunks: AsyncIterable<Uint8Array>,
  options: IntakeOptions,
  signal: AbortSignal,
): Promise<Result<Artifact, Failure>> {
  const intake = createIntake(options);
  const failure = await writePieces(
    {
      file,
      sizeBytes: options.expectedBytes ?? options.maxBytes,
      take: (chunk) => {
        signal.throwIfAborted();
        passed(chunk.byteLength);
        digest.take(chunk);
        return intake.take(chunk);
      },
      onWritten: (bytes) => {
        digest.written(bytes);
      },
    },
    chunks,
  );
  const fault = failure ?? intake.fault();
  if (fault !== undefined) return fail(fault);
  const [hash] = await onDisk(Promise.all([digest.finish(), file.sync()]));
  await moveIntoPlace(partialPath, pathOf(hash));
  return ok(intake.artifact(hash));
}

async function moveIntoPlace(partialPath: string, path: string): Promise<void> {
  const folder = join(path, '..');
  await onDisk(mkdir(folder, { recursive: true, mode: 0o700 }));
  await onDisk(rename(partialPath, path));
  const handle = await onDisk(open(folder, 'r'));
  // Windows cannot sync a folder; the rename is then as durable as the file system makes it.
  await handle.sync().catch(() => undefined);
  await handle.close();
}
