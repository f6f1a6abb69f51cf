import type { Clock, Logger } from '../../kernel/index.ts';

/** What another process's commits can leave for us: the last numbers of the log and of the controls. */
export interface Tails {
  readonly lastEvent: number;
  readonly lastControl: number;
}

/**
 * Watches a file that another process writes to. `PRAGMA data_version` costs microseconds and changes only when another
 * connection has committed; only then are the tails read. Runs while `isWanted()`.
 */
export function createWatch(options: {
  readonly clock: Clock;
  readonly intervalMs: number;
  readonly logger: Logger;
  readonly readVersion: () => number;
  readonly readTails: () => Tails;
  readonly onEvents: () => void;
  readonly onControls: () => void;
}): { start(): void; stop(): void } {
  let cancel: (() => void) | undefined;
  let version = 0;
  let tails: Tails = { lastEvent: 0, lastControl: 0 };

  const look = (): void => {
    try {
      const seen = options.readVersion();
      if (seen !== version) {
        version = seen;
        const before = tails;
        tails = options.readTails();
        if (tails.lastEvent > before.lastEvent) options.onEvents();
        if (tails.lastControl > before.lastControl) options.onControls();
      }
    } catch (error) {
      options.logger.warn('cannot look for commands from beside; looking again', { error });
    }
    cancel = options.clock.after(options.intervalMs, look);
  };
  return {
    start: () => {
      if (cancel !== undefined) return;
      version = options.readVersion();
      tails = options.readTails();
      cancel = options.clock.after(options.intervalMs, look);
    },
    stop: () => {
      cancel?.();
      cancel = undefined;
    },
  };
}
