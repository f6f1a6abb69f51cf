import { readdir, readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';

/** Files of an installation, read below one directory. Paths are relative, with forward slashes. */
export interface ConfigFiles {
  /** The text, or undefined when there is no such file. */
  read(file: string): Promise<string | undefined>;
  /** Files in a folder, sorted; none when the folder is absent. Sub-folders are walked. */
  list(folder: string, ending: string): Promise<readonly string[]>;
}

export function createDirectoryFiles(directory: string): ConfigFiles {
  return {
    read: async (file) => {
      try {
        return await readFile(join(directory, file), 'utf8');
      } catch (cause) {
        if (isAbsent(cause)) return undefined;
        throw cause;
      }
    },
    list: async (folder, ending) => {
      try {
        const entries = await readdir(join(directory, folder), { recursive: true, withFileTypes: true });
        return entries
          .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
          .map((entry) => toRelative(directory, join(entry.parentPath, entry.name)))
          .sort();
      } catch (cause) {
        if (isAbsent(cause)) return [];
        throw cause;
      }
    },
  };
}

/** Files held in memory, for tests. */
export function createMemoryFiles(files: Readonly<Record<string, string>>): ConfigFiles {
  return {
    read: (file) => Promise.resolve(files[file]),
    list: (folder, ending) =>
      Promise.resolve(
        Object.keys(files)
          .filter((file) => file.startsWith(`${folder}/`) && file.endsWith(ending))
          .sort(),
      ),
  };
}

function toRelative(directory: string, path: string): string {
  return path.slice(join(directory, posix.sep).length).replaceAll('\\', '/');
}

function isAbsent(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
}
