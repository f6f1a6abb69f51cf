import type { Settings } from '../contract/index.ts';
import { checkpointStore, pruneStore, restoredBackup } from '../store/index.ts';
import type { House } from './assemble.ts';
import type { DataDirectory } from './data-directory.ts';
import type { Ports } from './ports.ts';
import { hashesInUse, sweepSpool } from './sweep-spool.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;

interface UpkeepDeps {
  readonly ports: Pick<Ports, 'clock' | 'logger' | 'store'>;
  readonly storage: Pick<Settings['storage'], 'keep_days' | 'spool_days'>;
  readonly directory: Pick<DataDirectory, 'database' | 'spool'>;
  /** The store is one that several workers share, and is looked after elsewhere: only the files are ours. */
  readonly isStoreShared: boolean;
}

export interface Upkeep {
  start(): void;
  /** Ends what is under way at its next step, and waits for it. */
  stop(): Promise<void>;
}

/**
 * Keeps the data directory bounded: every hour the write-ahead log is moved into the database; once a day, the first time
 * an hour after the start, details of old executions are forgotten (charges never), and files that are in their rows leave
 * the spool.
 */
export function createUpkeep(deps: UpkeepDeps): Upkeep {
  const { clock, logger } = deps.ports;
  const abort = new AbortController();
  let cancel: (() => void) | undefined;
  let running: Promise<void> = Promise.resolve();
  let dueAtMs = clock.monotonicMs() + hourMs;
  const round = async (): Promise<void> => {
    if (!deps.isStoreShared) await checkpoint(deps);
    if (clock.monotonicMs() < dueAtMs) return;
    dueAtMs = clock.monotonicMs() + dayMs;
    if (!deps.isStoreShared) await forget(deps, abort.signal);
    await sweep(deps, abort.signal);
  };
  const arm = (): void => {
    cancel = clock.after(hourMs, () => {
      running = round()
        .catch((error: unknown) => logger.error('upkeep failed', { error: String(error) }))
        .finally(() => {
          if (!abort.signal.aborted) arm();
        });
    });
  };
  return {
    start: arm,
    stop: async () => {
      abort.abort();
      cancel?.();
      await running;
    },
  };
}

const largestWalBytes = 512 * 1024 ** 2;

async function checkpoint({ ports, directory }: UpkeepDeps): Promise<void> {
  const { clock, logger, store } = ports;
  const report = checkpointStore(directory.database);
  if (!report.isComplete) logger.warn('write-ahead log could not be cut back', { walBytes: report.walBytes });
  if (report.walBytes <= largestWalBytes) return;
  const data = {
    name: 'wal-large',
    title: '数据库日志过大',
    text: '有长时间打开的读者，请重启占用数据库的其它程序。',
    severity: 'warning',
  };
  await store.commit([{ type: 'append-event', event: { at: clock.nowMs(), type: 'notice', data } }]);
}

async function forget({ ports, storage, directory }: UpkeepDeps, signal: AbortSignal): Promise<void> {
  const before = ports.clock.nowMs() - storage.keep_days * dayMs;
  const pruned = await pruneStore(directory.database, before, signal);
  ports.logger.info('old executions forgotten', { executions: pruned.executions, events: pruned.events });
}

async function sweep({ ports, storage, directory }: UpkeepDeps, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const before = ports.clock.nowMs() - storage.spool_days * dayMs;
  const swept = await sweepSpool(directory.spool, before, await hashesInUse(ports.store), signal);
  ports.logger.info('spool swept', { files: swept });
}

/** On a restored backup the table may be newer than the ledger: nothing is bought until the operator says so. */
export async function pauseIfRestored(house: House): Promise<void> {
  const restored = await restoredBackup(house.ports.store);
  if (restored === undefined) return;
  await house.engine.pause();
  house.ports.logger.warn('started on a restored backup: collecting only, until "npx gridloom resume"', {
    madeAt: restored.madeAt,
  });
}
