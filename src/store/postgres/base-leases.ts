import { type Clock, type Logger, sleep } from '../../kernel/index.ts';
import { createLease, type Lease } from './lease.ts';
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
  /** Start intake and writing of the base; whatever must have one doer goes through the lease. */
  readonly onGained: (base: string, lease: Lease) => void;
  /** Stop them; resolve when nothing new is begun. The lease is given back once what goes through it has ended. */
  readonly onLost: (base: string) => Promise<void>;
  /** How often free bases are looked for. Default 1 s. */
  readonly intervalMs?: number;
}

const defaultIntervalMs = 1_000;

export function createBaseLeases(options: BaseLeaseOptions): BaseLeases {
  const { presence, clock, logger } = options;
  const held = new Map<string, ReturnType<typeof createLease>>();
  const closing = new AbortController();

  const giveBack = async (base: string): Promise<void> => {
    const lease = held.get(base);
    held.delete(base);
    await options.onLost(base);
    await lease?.end();
    await presence.unlock(base);
  };
  const balance = async (): Promise<void> => {
    if (!presence.isPresent()) return;
    const share = Math.ceil(options.bases.length / (await presence.countWorkers()));
    for (const base of [...held.keys()].slice(share)) await giveBack(base);
    for (const base of options.bases) {
      if (held.size >= share) return;
      if (held.has(base) || !(await presence.tryLock(base))) continue;
      const lease = createLease(presence);
      held.set(base, lease);
      options.onGained(base, lease);
    }
  };
  const stopHearing = presence.onLost(() => {
    // The locks went with the session: another may have them already.
    for (const [base, lease] of held) {
      lease.break();
      void options.onLost(base);
    }
    held.clear();
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
    held: () => [...held.keys()],
    close: async () => {
      closing.abort();
      stopHearing();
      await running;
      for (const base of [...held.keys()]) await giveBack(base).catch(() => undefined);
    },
  };
}
