import { type Clock, type Logger } from '../kernel/index.ts';
import type { Alerter } from './alert.ts';

const everyMs = 60_000;
/** The alert comes while there is still room; the engine itself stops paid calls at the limit. */
const earlyRatio = 3;

/** Watches the free space of the data directory's disk: an alert before paid calls stop, and when they have. */
export function createDiskWatch(deps: {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly alerter: Pick<Alerter, 'alert' | 'recover'>;
  readonly freeBytes: () => Promise<number>;
  /** `storage.min_free`: below it no intent is written. */
  readonly minFreeBytes: number;
}): { look(): Promise<void>; freeBytes(): number | undefined; start(): void; stop(): void } {
  let free: number | undefined;
  let cancel: (() => void) | undefined;
  const look = async (): Promise<void> => {
    try {
      free = await deps.freeBytes();
    } catch (error) {
      deps.logger.warn('free space unknown', { error: String(error) });
      return;
    }
    const left = `剩余 ${Math.floor(free / 1024 ** 2)} MB`;
    if (free < deps.minFreeBytes) {
      await deps.alerter.alert({
        title: '磁盘已满，付费调用已停',
        text: `数据目录所在磁盘${left}。请清理磁盘；空间够了自动继续，在途的结果照常收取。`,
        severity: 'fatal',
        key: 'disk',
      });
    } else if (free < deps.minFreeBytes * earlyRatio) {
      await deps.alerter.alert({
        title: '磁盘空间不足',
        text: `数据目录所在磁盘${left}，低于 ${Math.floor(deps.minFreeBytes / 1024 ** 2)} MB 时将停止付费调用。请尽快清理。`,
        severity: 'warning',
        key: 'disk',
      });
    } else {
      await deps.alerter.recover({ key: 'disk', title: '磁盘空间已恢复', text: `${left}。` });
    }
  };
  const arm = (delayMs: number): void => {
    cancel = deps.clock.after(delayMs, () => {
      void look().finally(() => {
        if (cancel !== undefined) arm(everyMs);
      });
    });
  };
  return {
    look,
    freeBytes: () => free,
    start: () => {
      arm(0);
    },
    stop: () => {
      cancel?.();
      cancel = undefined;
    },
  };
}
