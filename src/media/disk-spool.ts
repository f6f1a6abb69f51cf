import { mkdirSync, rmSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Artifact, Failure } from '../contract/index.ts';
import { fail, type IdSource, ok, type Result } from '../kernel/index.ts';
import type { PictureFitter } from './fit-picture.ts';
import { createIntake, type IntakeOptions, storageFailure } from './intake.ts';
import { gone, single } from './memory-spool.ts';
import type { Spool } from './spool.ts';

export interface DiskSpoolOptions {
  readonly directory: string;
  readonly ids: IdSource;
  /** Makes pictures fit what a vendor takes; without it adapters get files as they are. */
  readonly fitter?: PictureFitter;
  /** A worker of another process may be writing here just now: what lies in `partial/` is left alone. */
  readonly isShared?: boolean;
  /**
   * Lets go of buffers that nobody holds any more, called after every few megabytes that pass. V8 collects by the size of its
   * own heap, where a 64 KiB piece from a socket weighs some hundred bytes: without this a film of 200 MB leaves 70 MB and
   * more of dead pieces behind, and costs twice the processor time in full collections (measured).
   */
  readonly letGo?: () => void;
}

/** Files are read back in pieces of this size. */
const pieceBytes = 256 * 1024;
const letGoEveryBytes = 8 * 1024 * 1024;

/**
 * Files by hash, two letters a folder. Bytes go to a file in `partial/` first and are synced, then renamed into place and
 * the folder is synced: a file under its hash is always whole. Left-overs in `partial/` are removed when the spool opens.
 * File names of rows and vendors are never used as paths.
 */
export function createDiskSpool(options: DiskSpoolOptions): Spool {
  const { fitter } = options;
  const partial = join(options.directory, 'partial');
  if (options.isShared !== true) rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true, mode: 0o700 });
  const pathOf = (hash: string): string => {
    if (!/^[0-9a-f]{64}$/.test(hash)) throw new Error('not a hash');
    return join(options.directory, hash.slice(0, 2), hash);
  };
  const passed = createPassage(options.letGo);
  const store: Spool['store'] = async (chunks, intake, signal) =>
    await storeFile({ partialPath: join(partial, options.ids.uuid()), pathOf, passed }, chunks, intake, signal);
  return {
    store,
    read: async (artifact) => await readWhole(pathOf(artifact.hash), artifact),
    ...(fitter === undefined
      ? {}
      : {
          fitPicture: async (artifact, limits) => {
            const bytes = await readWhole(pathOf(artifact.hash), artifact);
            return bytes.ok ? await fitter(bytes.value, artifact.mime, limits) : bytes;
          },
        }),
    keep: async (bytes, nameHint) =>
      await store(single(bytes), { nameHint, maxBytes: bytes.byteLength }, new AbortController().signal),
    open: (artifact, offset, length) => readPieces(pathOf(artifact.hash), offset, length, passed),
    has: async (hash) => (await sizeOf(pathOf(hash))) > 0,
    remove: async (hash) => {
      await rm(pathOf(hash), { force: true });
    },
    sizeBytes: async () => await totalBytes(options.directory),
  };
}

/** Told of all bytes that pass the spool, both ways. */
function createPassage(letGo: () => void = () => undefined): (bytes: number) => void {
  let passedBytes = 0;
  return (bytes) => {
    passedBytes += bytes;
    if (passedBytes < letGoEveryBytes) return;
    passedBytes = 0;
    letGo();
  };
}

interface Place {
  readonly partialPath: string;
  readonly pathOf: (hash: string) => string;
  readonly passed: (bytes: number) => void;
}

async function storeFile(
  { partialPath, pathOf, passed }: Place,
  chunks: AsyncIterable<Uint8Array>,
  options: IntakeOptions,
  signal: AbortSignal,
): Promise<Result<Artifact, Failure>> {
  let file: FileHandle;
  try {
    file = await open(partialPath, 'wx', 0o600);
  } catch (error) {
    return fail(storageFailure(error));
  }
  const intake = createIntake(options);
  try {
    const take = (chunk: Uint8Array): Failure | undefined => {
      passed(chunk.byteLength);
      return intake.take(chunk);
    };
    const bufferBytes = Math.max(1, Math.min(writeBytes, options.expectedBytes ?? options.maxBytes));
    const failure = await writeAll({ file, bufferBytes }, chunks, take, signal);
    const artifact = failure === undefined ? intake.finish() : fail(failure);
    if (artifact.ok) await settle(file, partialPath, pathOf(artifact.value.hash));
    return artifact;
  } catch (error) {
    if (error instanceof WriteError) return fail(storageFailure(error.cause));
    throw error;
  } finally {
    await file.close().catch(() => undefined);
    await rm(partialPath, { force: true });
  }
}

/** The disk failed, as against the source of the bytes, whose errors pass through. */
class WriteError extends Error {
  override readonly name = 'WriteError';
}

async function onDisk<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new WriteError('the disk refused', { cause: error });
  }
}

/** Bytes are gathered into writes of this size (small files in one), one of which is under way while the next is being gathered. */
const writeBytes = 1024 * 1024;

/**
 * Copies pieces into two buffers in turn instead of keeping hold of them: a piece that lives for a while is promoted to the
 * old generation, where its memory stays until the next full collection.
 */
async function writeAll(
  { file, bufferBytes }: { readonly file: FileHandle; readonly bufferBytes: number },
  chunks: AsyncIterable<Uint8Array>,
  take: (chunk: Uint8Array) => Failure | undefined,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  let filling: Buffer = Buffer.allocUnsafe(bufferBytes);
  let spare: Buffer | undefined;
  let filledBytes = 0;
  let underWay: Promise<void> = Promise.resolve();
  const flush = async (): Promise<void> => {
    await underWay;
    if (filledBytes === 0) return;
    underWay = onDisk(writeWhole(file, filling.subarray(0, filledBytes)));
    // Awaited before the next write; until then its failure must not count as unhandled.
    underWay.catch(() => undefined);
    [filling, spare] = [spare ?? Buffer.allocUnsafe(bufferBytes), filling];
    filledBytes = 0;
  };
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    const failure = take(chunk);
    if (failure !== undefined) return failure;
    for (let offset = 0; offset < chunk.byteLength; ) {
      const part = chunk.subarray(offset, offset + bufferBytes - filledBytes);
      filling.set(part, filledBytes);
      filledBytes += part.byteLength;
      offset += part.byteLength;
      if (filledBytes === bufferBytes) await flush();
    }
  }
  await flush();
  await underWay;
  return undefined;
}

/** A write may be short (a disk that is nearly full): the rest is written until it is all there, or the disk says no. */
async function writeWhole(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let offset = 0; offset < bytes.byteLength; ) offset += (await file.write(bytes, offset)).bytesWritten;
}

async function settle(file: FileHandle, partialPath: string, path: string): Promise<void> {
  const folder = join(path, '..');
  await onDisk(file.sync());
  await onDisk(mkdir(folder, { recursive: true, mode: 0o700 }));
  await onDisk(rename(partialPath, path));
  const handle = await onDisk(open(folder, 'r'));
  // Windows cannot sync a folder; the rename is then as durable as the file system makes it.
  await handle.sync().catch(() => undefined);
  await handle.close();
}

async function readWhole(path: string, artifact: Artifact): Promise<Result<Uint8Array, Failure>> {
  try {
    const bytes = await readFile(path);
    return bytes.byteLength === artifact.sizeBytes ? ok(bytes) : fail(gone(artifact));
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return fail(isMissing ? gone(artifact) : storageFailure(error));
  }
}

async function* readPieces(
  path: string,
  offset: number,
  length: number,
  passed: (bytes: number) => void,
): AsyncIterable<Uint8Array> {
  const file = await open(path, 'r');
  try {
    for (let at = offset; at < offset + length; ) {
      const piece = Buffer.allocUnsafe(Math.min(pieceBytes, offset + length - at));
      const { bytesRead } = await file.read(piece, 0, piece.byteLength, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      passed(bytesRead);
      yield piece.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return 0;
  }
}

async function totalBytes(directory: string): Promise<number> {
  let sum = 0;
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) sum += await sizeOf(join(entry.parentPath, entry.name));
  }
  return sum;
}
