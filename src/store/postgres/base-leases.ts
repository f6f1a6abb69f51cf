import { type Clock, type Logger, sleep } from '../../kernel/index.ts';
import type { WorkerPresence } from './presence.ts';

/**
 * One intake and one writer a base: Feishu allows one writer. Each base belongs to the worker that holds its advisory
 * lock; bases spread evenly over the workers that are alive, and pass on when one dies.
 */
export interface BaseLeases {
  readonly held: () => readonly string[];
  readonly close: () => Promise<void>;
}

export interface BaseLeaseOptions {
  readonly presence: WorkerPresence;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly bases: readonly string[];
  /** Start intake and writing of the base. */
  readonly onGained: (base: string) => void;
  /** Stop them; resolve when the last write is out. The lease is given back after that. */
  readonly onLost: (base: string) => Promise<void>;
  /** How often free bases are looked for. Default 1 s. */
  readonly intervalMs?: number;
}

const defaultIntervalMs = 1_000;

export function createBaseLeases(options: BaseLeaseOptions): BaseLeases {
  const { presence, clock, logger } = options;
  const held = new Set<string>();
  const closing = new AbortController();

  const lose = async (base: string): Promise<void> => {
    held.delete(base);
    await options.onLost(base);
  };
  const giveBack = async (base: string): Promise<void> => {
    await lose(base);
    await presence.unlock(base);
  };
  const balance = async (): Promise<void> => {
    if (!presence.isPresent()) return;
    const share = Math.ceil(options.bases.length / (await presence.countWorkers()));
    for (const base of [...held].slice(share)) await giveBack(base);
    for (const base of options.bases) {
      if (held.size >= share) return;
      if (held.has(base) || !(await presence.tryLock(base))) continue;
      held.add(base);
      options.onGained(base);
    }
  };
  const stopHearing = presence.onLost(() => {
    for (const base of [...held]) void lose(base);
  });
  const running = (async () => {
    while (!closing.signal.aborted) {
      await balance().catch((error: unknown) => {
        logger.warn('bases cannot be shared out now; trying again', { error });
      });
      await sleep(clock, options.intervalMs ?? defaultIntervalMs, closing.signal).catch(() => undefined);
    }
  })();
  return {
    held: () => [...held],
    close: async () => {
      closing.abort();
      stopHearing();
      await running;
      for (const base of [...held]) await giveBack(base).catch(() => undefined);
    },
  };
}
