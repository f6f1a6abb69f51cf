import type { StoreCommand } from '../engine/ports/index.ts';
import { type Hub, refOf, type RowPlace } from './hub.ts';
import { rowKey } from './refs.ts';
import { loadRow, putRow, type RowDocument } from './row-documents.ts';

export interface RowChange {
  /** Undefined leaves the row's memory as it is (or gone). */
  readonly row: RowDocument | undefined;
  /** What is written in the same commit. */
  readonly also?: readonly StoreCommand[];
}

/**
 * Changes a row's memory, one change of a row at a time. A row is read, then the platform is waited for, then its memory is
 * changed, and meanwhile staff type and executions end: so `change` is given the row as it is now. Where it returns undefined
 * nothing is written. Returns the changed row.
 */
export async function changeRow(
  hub: Hub,
  place: RowPlace,
  change: (now: RowDocument | undefined) => RowChange | undefined | Promise<RowChange | undefined>,
): Promise<RowDocument | undefined> {
  const { store, clock } = hub.deps;
  const key = rowKey(refOf(place));
  return await hub.lock.run(key, async () => {
    const changed = await change(await loadRow(store, key));
    if (changed === undefined) return undefined;
    const { row, also = [] } = changed;
    await store.commit([...(row === undefined ? [] : [putRow(clock, key, row)]), ...also]);
    return row;
  });
}

/** Whether the row still stands where it stood when something was found out about it. */
export function isUnmoved(before: RowDocument | undefined, now: RowDocument | undefined): boolean {
  return before?.status === now?.status && before?.current?.executionId === now?.current?.executionId;
}
