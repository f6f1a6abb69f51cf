import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** The page's data, by name below the monitor directory (`metrics.json`, `data/executions/<id>.json`). */
export interface MonitorFiles {
  /** Replaces a file whole: a reader sees the old one or the new one, never half of one. */
  replace(name: string, text: string, options?: { readonly isSynced?: boolean }): Promise<void>;
  remove(name: string): Promise<void>;
  /** Names of the files in a folder; empty when it is not there. */
  list(folder: string): Promise<readonly string[]>;
}

/** Readable by the web server. */
const fileMode = 0o644;

/** On disk: temporary file, fsync, rename. */
export function createMonitorFiles(directory: string): MonitorFiles {
  const made = new Set<string>();
  let serial = 0;
  let isMasked: boolean | undefined;
  return {
    replace: async (name, text, options) => {
      const path = join(directory, name);
      const folder = dirname(path);
      if (!made.has(folder)) {
        await mkdir(folder, { recursive: true });
        made.add(folder);
      }
      serial += 1;
      const temporary = `${path}.${process.pid}-${serial}.tmp`;
      const file = await open(temporary, 'w', fileMode);
      try {
        await file.writeFile(text);
        // The umask may take the web server's right to read.
        isMasked ??= ((await file.stat()).mode & 0o777) !== fileMode;
        if (isMasked) await file.chmod(fileMode);
        if (options?.isSynced !== false) await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, path);
    },
    remove: async (name) => {
      await rm(join(directory, name), { force: true });
    },
    list: async (folder) => {
      try {
        return (await readdir(join(directory, folder))).filter((name) => !name.endsWith('.tmp'));
      } catch {
        return [];
      }
    },
  };
}

/** In memory, for simulation and tests. */
export function createMemoryFiles(): MonitorFiles & { read(name: string): string | undefined; names(): string[] } {
  const files = new Map<string, string>();
  return {
    replace: async (name, text) => {
      await Promise.resolve();
      files.set(name, text);
    },
    remove: async (name) => {
      await Promise.resolve();
      files.delete(name);
    },
    list: async (folder) => {
      await Promise.resolve();
      return [...files.keys()]
        .filter((name) => name.startsWith(`${folder}/`))
        .map((name) => name.slice(folder.length + 1));
    },
    read: (name) => files.get(name),
    names: () => [...files.keys()],
  };
}
