import { closeSync, existsSync, fdatasyncSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { StorageError } from '../engine/ports/index.ts';

/** 64 KiB: some two hundred handles. */
const defaultSizeBytes = 64 * 1024;
/** What fills the room that is not written yet. */
const emptyByte = 0;
const newline = 0x0a;

/**
 * Lines that must be on disk when the disk is full: a vendor's handle whose commit failed. The room is written out
 * beforehand, so that appending overwrites bytes that the file owns already and needs no free block. Each append is
 * synced before it returns.
 */
export interface SideFile {
  /** Throws a StorageError when even this file has no room left or its disk refuses. A line holds no line break. */
  readonly append: (line: string) => void;
  /** Every whole line; one torn by a crash is left out. */
  readonly readAll: () => readonly string[];
  /** Empties the file, keeping its room. */
  readonly clear: () => void;
  readonly close: () => void;
}

/** Opens the file, reserving its room if it is new. Do it at start, while the disk still has some. */
export function createSideFile(path: string, sizeBytes = defaultSizeBytes): SideFile {
  const descriptor = guard(path, () => openWithRoom(path, sizeBytes));
  let usedBytes = contentOf(path).length;
  // A line torn by a crash is wiped, lest its tail show behind a shorter line that is written over it.
  guard(path, () => {
    blank(descriptor, usedBytes, sizeBytes);
  });
  return {
    append: (line) => {
      if (line.includes('\n')) throw new Error('a line of a side file holds no line break');
      const bytes = Buffer.from(`${line}\n`);
      if (usedBytes + bytes.length > sizeBytes) throw new StorageError(`${path} is full: its lines were not collected`);
      guard(path, () => {
        writeSync(descriptor, bytes, 0, bytes.length, usedBytes);
        fdatasyncSync(descriptor);
      });
      usedBytes += bytes.length;
    },
    readAll: () => linesOf(contentOf(path)),
    clear: () => {
      guard(path, () => {
        blank(descriptor, 0, sizeBytes);
      });
      usedBytes = 0;
    },
    close: () => {
      closeSync(descriptor);
    },
  };
}

function openWithRoom(path: string, sizeBytes: number): number {
  const isNew = !existsSync(path);
  const descriptor = openSync(path, isNew ? 'w+' : 'r+', 0o600);
  try {
    const heldBytes = isNew ? 0 : readFileSync(path).length;
    if (heldBytes < sizeBytes)
      writeSync(descriptor, Buffer.alloc(sizeBytes - heldBytes), 0, sizeBytes - heldBytes, heldBytes);
    fsyncSync(descriptor);
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** Overwrites what lies between; the file keeps its blocks. */
function blank(descriptor: number, fromByte: number, toByte: number): void {
  const lengthBytes = Math.max(0, toByte - fromByte);
  writeSync(descriptor, Buffer.alloc(lengthBytes, emptyByte), 0, lengthBytes, fromByte);
  fdatasyncSync(descriptor);
}

/** The bytes up to the first empty one, torn tail included: new lines go behind the last whole one. */
function contentOf(path: string): Buffer {
  const bytes = readFileSync(path);
  const end = bytes.indexOf(emptyByte);
  const written = end === -1 ? bytes : bytes.subarray(0, end);
  return written.subarray(0, written.lastIndexOf(newline) + 1);
}

function linesOf(content: Buffer): readonly string[] {
  return content
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '');
}

function guard<Value>(path: string, work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StorageError(`cannot use the side file ${path}: ${reason}`, { cause: error });
  }
}
