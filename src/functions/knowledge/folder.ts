import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Knowledge } from './search.ts';

/** Markdown and text files of a folder; no folder is no documents. */
export function createFolderKnowledge(folder: string): Knowledge {
  return async () => {
    const names = await readdir(folder).catch((): string[] => []);
    const wanted = names.filter((name) => /\.(md|txt)$/i.test(name)).sort();
    return await Promise.all(
      wanted.map(async (name) => ({ source: name, text: await readFile(join(folder, name), 'utf8') })),
    );
  };
}
