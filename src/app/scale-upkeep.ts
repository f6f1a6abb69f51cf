import { sleep } from '../kernel/index.ts';
import type { House } from './assemble.ts';
import type { Duty } from './scale-duties.ts';
import type { Scale } from './scale.ts';

const dayMs = 86_400_000;
const roundMs = 60_000;
/** The first pruning waits until a start has settled. */
const firstPruneMs = 3_600_000;

/** Keeps the shared database bounded: old details are forgotten (charges never), room of dead workers is given back. */
export function createSharedUpkeep(house: House, scale: Scale): Duty {
  const { clock, logger } = house.ports;
  const closing = new AbortController();
  let running: Promise<void> = Promise.resolve();
  let pruneAtMs = clock.monotonicMs() + firstPruneMs;
  const round = async (): Promise<void> => {
    const rooms = await scale.sweepRooms();
    if (rooms > 0) logger.info('room at vendors given back for workers that are gone', { rooms });
    if (clock.monotonicMs() < pruneAtMs) return;
    pruneAtMs = clock.monotonicMs() + dayMs;
    const keptMs = house.config.settings.storage.keep_days * dayMs;
    const pruned = await scale.prune(clock.nowMs() - keptMs, closing.signal);
    logger.info('old executions forgotten', { executions: pruned.executions, events: pruned.events });
  };
  const run = async (): Promise<void> => {
    for (;;) {
      await sleep(clock, roundMs, closing.signal);
      await round().catch((error: unknown) => logger.error('upkeep failed', { error: String(error) }));
    }
  };
  return {
    start: () => {
      // Ends by being stopped.
      running = run().catch(() => undefined);
    },
    stop: async () => {
      closing.abort();
      await running;
    },
  };
}
