import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Reads a file by name below a folder; undefined when it is not there or the name leads out of it. */
export type ReadFile = (name: string) => Promise<Uint8Array<ArrayBuffer> | undefined>;

/** Plain names only: no dot files, no way up, no absolute path. */
const safeName = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/;

export function createFolderReader(directory: string): ReadFile {
  return async (name) => {
    if (!safeName.test(name)) return undefined;
    try {
      return new Uint8Array(await readFile(join(directory, name)));
    } catch {
      return undefined;
    }
  };
}
