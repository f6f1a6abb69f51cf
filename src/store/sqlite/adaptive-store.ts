import type { Store } from '../../engine/ports/index.ts';
import { openDatabase } from './open.ts';
import { repairUnknownWords } from './repair.ts';
import { assembleStore, type SqliteStoreOptions, type WriteSide } from './store.ts';
import { createThreadSide, mostUnderWay } from './threaded-store.ts';
import { createBatchWriter } from './writer.ts';

/** A window in which writes may hold up the loop for so long in all; beyond that they move to a thread. */
const windowMs = 5_000;
const mostHeldUpMs = 250;

/**
 * The store of a worker: written on the loop while that hardly shows, which spares an idle worker a thread and its 10 MB;
 * in a thread from the moment that writing holds up the loop for more than a twentieth of the time (many rows at once, or
 * a disk with slow syncs). It stays there until it is closed.
 */
export function createAdaptiveSqliteStore(options: SqliteStoreOptions): Store {
  const { clock } = options;
  const connection = openDatabase({ busyTimeoutMs: 5_000, ...options }, (opened) => {
    repairUnknownWords(opened, options.logger);
  });
  const writer = createBatchWriter(connection, options.slowSyncMs);
  const isHeldUp = createGauge();
  let thread: WriteSide | undefined;
  // A group leaves when the one before it is on disk, so that no two ever write at once.
  return assembleStore(options, connection, {
    settledPerTurn: 32,
    mostUnderWay: () => (thread === undefined ? 1 : mostUnderWay),
    write: async (lists) => {
      if (thread !== undefined) return await thread.write(lists);
      const startedMs = clock.monotonicMs();
      const outcomes = writer.write(lists);
      const endedMs = clock.monotonicMs();
      if (isHeldUp(endedMs, endedMs - startedMs)) {
        options.logger.info('writes to the database move to a thread of their own');
        thread = createThreadSide(options);
      }
      return outcomes;
    },
    sendControl: async (at, value) =>
      thread === undefined ? writer.sendControl(at, value) : await thread.sendControl(at, value),
    close: async () => {
      await thread?.close();
    },
  });
}

/** Tells when the time spent in a window passes the limit. */
function createGauge(): (nowMs: number, spentMs: number) => boolean {
  let windowStartMs = 0;
  let heldUpMs = 0;
  return (nowMs, spentMs) => {
    if (nowMs - windowStartMs > windowMs) {
      windowStartMs = nowMs;
      heldUpMs = 0;
    }
    heldUpMs += spentMs;
    return heldUpMs > mostHeldUpMs;
  };
}
