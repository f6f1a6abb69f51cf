import { mkdirSync, rmSync } from 'node:fs';
import { open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Artifact, Failure } from '../contract/index.ts';
import { fail, type IdSource, ok, type Result } from '../kernel/index.ts';
import { createFileHasher } from './file-hash.ts';
import type { PictureFitter } from './fit-picture.ts';
import { storageFailure } from './intake.ts';
import { gone, single } from './memory-spool.ts';
import type { Spool } from './spool.ts';
import { storeFile } from './store-file.ts';

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
  const hasher = createFileHasher();
  const store: Spool['store'] = async (chunks, intake, signal) => {
    const partialPath = join(partial, options.ids.uuid());
    return await storeFile({ partialPath, pathOf, passed, hasher }, chunks, intake, signal);
  };
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
    open: (artifact, offset, length, memory) =>
      readPieces({ path: pathOf(artifact.hash), offset, length, passed }, memory),
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

async function readWhole(path: string, artifact: Artifact): Promise<Result<Uint8Array, Failure>> {
  try {
    const bytes = await readFile(path);
    return bytes.byteLength === artifact.sizeBytes ? ok(bytes) : fail(gone(artifact));
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return fail(isMissing ? gone(artifact) : storageFailure(error));
  }
}

interface Range {
  readonly path: string;
  readonly offset: number;
  readonly length: number;
  readonly passed: (bytes: number) => void;
}

async function* readPieces(
  { path, offset, length, passed }: Range,
  memory: Uint8Array | undefined,
): AsyncIterable<Uint8Array> {
  const file = await open(path, 'r');
  try {
    for (let doneBytes = 0; doneBytes < length; ) {
      const piece = memory?.subarray(doneBytes, length) ?? Buffer.allocUnsafe(Math.min(pieceBytes, length - doneBytes));
      const { bytesRead } = await file.read(piece, 0, piece.byteLength, offset + doneBytes);
      if (bytesRead === 0) return;
      doneBytes += bytesRead;
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
