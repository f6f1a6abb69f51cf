import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

/** A log on disk, written synchronously: what was logged before a crash is there after it. */
export interface LogFile {
  write(line: string): void;
  /** Forces what was written to the disk. */
  sync(): void;
  close(): void;
}

/**
 * `gridloom.log`, then `gridloom.log.1` (the newest old one) … `.N`. Rotated by size between two lines. Readable by the
 * owner alone. A full disk loses lines, never the process.
 */
export function createLogFile(options: {
  readonly directory: string;
  readonly maxBytes: number;
  readonly keep: number;
}): LogFile {
  mkdirSync(options.directory, { recursive: true });
  const path = join(options.directory, 'gridloom.log');
  let file: number | undefined = openSync(path, 'a', 0o600);
  let sizeBytes = fstatSync(file).size;
  const rotate = (): void => {
    if (file !== undefined) closeSync(file);
    file = undefined;
    rmSync(`${path}.${options.keep}`, { force: true });
    for (let index = options.keep - 1; index >= 1; index -= 1)
      if (existsSync(`${path}.${index}`)) renameSync(`${path}.${index}`, `${path}.${index + 1}`);
    if (existsSync(path)) renameSync(path, `${path}.1`);
    file = openSync(path, 'a', 0o600);
    sizeBytes = 0;
  };
  return {
    write: (line) => {
      try {
        const bytes = Buffer.from(line);
        if (sizeBytes > 0 && sizeBytes + bytes.length > options.maxBytes) rotate();
        file ??= openSync(path, 'a', 0o600);
        let offset = 0;
        while (offset < bytes.length) offset += writeSync(file, bytes, offset);
        sizeBytes += bytes.length;
      } catch {
        // A disk that is full or gone must not stop the work; the disk alert tells of it.
      }
    },
    sync: () => {
      try {
        if (file !== undefined) fsyncSync(file);
      } catch {
        // As above.
      }
    },
    close: () => {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}
