import { checkpointStore, pruneStore, restoredBackup } from '../store/index.ts';
import type { House } from './assemble.ts';
import type { DataDirectory } from './data-directory.ts';
import { hashesInUse, sweepSpool } from './sweep-spool.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;

/**
 * Keeps the data directory bounded: details of old executions are forgotten (charges never), files that are in their rows
 * leave the spool, the log is cut back.
 */
export function createUpkeep(house: House, directory: DataDirectory): { start(): void; stop(): void } {
  const { clock, logger, store } = house.ports;
  const databasePath = directory.database;
  const { storage } = house.config.settings;
  const abort = new AbortController();
  let cancel: (() => void) | undefined;
  let prunedAtMs = clock.monotonicMs() - dayMs + hourMs;
  const round = async (): Promise<void> => {
    const report = checkpointStore(databasePath);
    if (!report.isComplete) logger.warn('write-ahead log could not be cut back', { walBytes: report.walBytes });
    if (report.walBytes > largestWalBytes) {
      await store.commit([
        {
          type: 'append-event',
          event: {
            at: clock.nowMs(),
            type: 'notice',
            data: {
              name: 'wal-large',
              title: '数据库日志过大',
              text: '有长时间打开的读者，请重启占用数据库的其它程序。',
              severity: 'warning',
            },
          },
        },
      ]);
    }
    if (clock.monotonicMs() - prunedAtMs < dayMs) return;
    prunedAtMs = clock.monotonicMs();
    const keptMs = storage.keep_days * dayMs;
    const pruned = await pruneStore(databasePath, clock.nowMs() - keptMs, abort.signal);
    logger.info('old executions forgotten', { executions: pruned.executions, events: pruned.events });
    const before = clock.nowMs() - storage.spool_days * dayMs;
    const swept = await sweepSpool(directory.spool, before, await hashesInUse(store));
    logger.info('spool swept', { files: swept });
  };
  const arm = (): void => {
    cancel = clock.after(hourMs, () => {
      round()
        .catch((error: unknown) => logger.error('upkeep failed', { error: String(error) }))
        .finally(() => {
          if (!abort.signal.aborted) arm();
        });
    });
  };
  return {
    start: arm,
    stop: () => {
      abort.abort();
      cancel?.();
    },
  };
}

const largestWalBytes = 512 * 1024 ** 2;

/** On a restored backup the table may be newer than the ledger: nothing is bought until the operator says so. */
export async function pauseIfRestored(house: House): Promise<void> {
  const restored = await restoredBackup(house.ports.store);
  if (restored === undefined) return;
  await house.engine.pause();
  house.ports.logger.warn('started on a restored backup: collecting only, until "npx gridloom resume"', {
    madeAt: restored.madeAt,
  });
}
