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
  return new ExecutionJournal(deps, signal, onLost);
}

type Waiter = (isWritten: boolean) => void;

/** A class, since every waiting execution has one: methods are shared where closures would be made anew. */
class ExecutionJournal implements Journal {
  readonly #deps: EngineDeps;
  readonly #signal: AbortSignal;
  readonly #onLost: (error: unknown) => void;
  #pending: StoreCommand[] = [];
  #waiters: Waiter[] = [];
  #isFlushing = false;
  #isLost = false;

  constructor(deps: EngineDeps, signal: AbortSignal, onLost: (error: unknown) => void) {
    this.#deps = deps;
    this.#signal = signal;
    this.#onLost = onLost;
  }

  get hasPending(): boolean {
    return this.#pending.length > 0;
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  push(commands: readonly StoreCommand[]): void {
    if (!this.#isLost && commands.length > 0) this.#pending.push(...commands);
  }

  write(commands: readonly StoreCommand[]): Promise<boolean> {
    if (this.#isLost) return Promise.resolve(false);
    this.push(commands);
    return new Promise((resolve) => {
      this.#waiters.push(resolve);
      if (!this.#isFlushing) void this.#flush();
    });
  }

  giveUp(): void {
    this.#isLost = true;
    this.#pending = [];
    const told = this.#waiters;
    this.#waiters = [];
    for (const tell of told) tell(false);
  }

  async #flush(): Promise<void> {
    this.#isFlushing = true;
    while (this.#waiters.length > 0) {
      const commands = this.#pending;
      const told = this.#waiters;
      this.#pending = [];
      this.#waiters = [];
      try {
        if (commands.length > 0) await this.#commit(commands);
      } catch (error) {
        this.#waiters = [...told, ...this.#waiters];
        this.giveUp();
        if (!(error instanceof ConflictError))
          this.#deps.logger.error('an execution cannot be written', { error: String(error) });
        this.#onLost(error);
        break;
      }
      for (const tell of told) tell(true);
    }
    this.#isFlushing = false;
  }

  async #commit(commands: readonly StoreCommand[]): Promise<void> {
    for (;;) {
      try {
        await this.#deps.store.commit(commands);
        return;
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        this.#deps.logger.error('the store refuses to write; trying again', { error: error.message });
        await sleep(this.#deps.clock, againAfterMs, this.#signal);
      }
    }
  }
}
