import { type Clock, type Logger } from '../../kernel/index.ts';

/** A set of listeners; one that throws does not keep the others from hearing. */
export interface Listeners {
  readonly add: (listener: () => void) => () => void;
  readonly tell: () => void;
  readonly count: number;
}

export function createListeners(logger: Logger): Listeners {
  const listeners = new Set<() => void>();
  return {
    get count() {
      return listeners.size;
    },
    add: (listener) => {
      // A listener of its own, so that the same function may be added twice and removed once.
      const own = (): void => {
        listener();
      };
      listeners.add(own);
      return () => listeners.delete(own);
    },
    tell: () => {
      for (const listener of listeners) {
        try {
          listener();
        } catch (error) {
          logger.error('a listener of the store failed', { error });
        }
      }
    },
  };
}

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
