import type { Logger } from '../../kernel/index.ts';

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
