import { sleep } from '../../kernel/index.ts';
import type { EngineDeps } from '../deps.ts';
import { ConflictError, StorageError, type StoreCommand } from '../ports/index.ts';

const againAfterMs = 1_000;

/**
 * The fenced writes of one execution, in order: one commit under way at a time, what gathers meanwhile goes into the
 * next. In memory the execution may be ahead of the disk; nothing is sent or told before its commit has resolved. A disk
 * that refuses is tried again; a conflict means that somebody else has the execution, and this one is given up.
 */
export interface Journal {
  /** Goes along with the next `write`. */
  push(commands: readonly StoreCommand[]): void;
  /** True when it and everything before it is on disk; false when the execution is lost. */
  write(commands: readonly StoreCommand[]): Promise<boolean>;
  readonly hasPending: boolean;
  readonly isLost: boolean;
  giveUp(): void;
}

export function createJournal(deps: EngineDeps, signal: AbortSignal, onLost: (error: unknown) => void): Journal {
  let pending: StoreCommand[] = [];
  let waiters: ((isWritten: boolean) => void)[] = [];
  let isFlushing = false;
  let isLost = false;
  const lose = (): void => {
    isLost = true;
    pending = [];
    const told = waiters;
    waiters = [];
    for (const tell of told) tell(false);
  };
  const commit = async (commands: readonly StoreCommand[]): Promise<void> => {
    for (;;) {
      try {
        await deps.store.commit(commands);
        return;
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        deps.logger.error('the store refuses to write; trying again', { error: error.message });
        await sleep(deps.clock, againAfterMs, signal);
      }
    }
  };
  const flush = async (): Promise<void> => {
    isFlushing = true;
    while (waiters.length > 0) {
      const commands = pending;
      const told = waiters;
      pending = [];
      waiters = [];
      try {
        if (commands.length > 0) await commit(commands);
      } catch (error) {
        waiters = [...told, ...waiters];
        lose();
        if (!(error instanceof ConflictError))
          deps.logger.error('an execution cannot be written', { error: String(error) });
        onLost(error);
        break;
      }
      for (const tell of told) tell(true);
    }
    isFlushing = false;
  };
  return {
    push: (commands) => {
      if (!isLost) pending.push(...commands);
    },
    write: (commands) => {
      if (isLost) return Promise.resolve(false);
      pending.push(...commands);
      return new Promise((resolve) => {
        waiters.push(resolve);
        if (!isFlushing) void flush();
      });
    },
    get hasPending() {
      return pending.length > 0;
    },
    get isLost() {
      return isLost;
    },
    giveUp: lose,
  };
}
