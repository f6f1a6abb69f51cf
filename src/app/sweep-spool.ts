import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Store } from '../engine/ports/index.ts';

const hashPattern = /[0-9a-f]{64}/g;
const pageSize = 200;

/** Files that something still under way names: unfinished executions with their nodes, and results not yet in their rows. */
export async function hashesInUse(store: Store): Promise<ReadonlySet<string>> {
  const hashes = new Set<string>();
  const note = (value: unknown): void => {
    for (const [hash] of JSON.stringify(value).matchAll(hashPattern)) hashes.add(hash);
  };
  let page = await store.unfinished(pageSize);
  while (page.length > 0) {
    for (const execution of page) note([execution.input, await store.nodes(execution.id)]);
    page = await store.unfinished(pageSize, page.at(-1)?.id);
  }
  let entries = await store.outbox(pageSize);
  while (entries.length > 0) {
    note(entries);
    entries = await store.outbox(pageSize, entries.at(-1)?.seq);
  }
  return hashes;
}

/**
 * Deletes spool files that came before `beforeMs` (epoch) and that nothing under way names. What is needed again later is
 * fetched again from the row. Returns how many went.
 */
export async function sweepSpool(
  directory: string,
  beforeMs: number,
  inUse: ReadonlySet<string>,
  signal?: AbortSignal,
): Promise<number> {
  let removed = 0;
  for (const folder of await readdir(directory)) {
    if (signal?.aborted === true) break;
    if (!/^[0-9a-f]{2}$/.test(folder)) continue;
    for (const name of await readdir(join(directory, folder))) {
      const path = join(directory, folder, name);
      if (inUse.has(name) || (await stat(path)).mtimeMs >= beforeMs) continue;
      await rm(path, { force: true });
      removed += 1;
    }
  }
  return removed;
}
