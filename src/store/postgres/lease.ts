import { StorageError } from '../../engine/ports/index.ts';
import type { WorkerPresence } from './presence.ts';

/** The right to do what only one worker may do, as long as it lasts. */
export interface Lease {
  /**
   * Does the work unless the lease is over, which is asked of the database just before: a worker that slept may have lost it
   * without knowing. Throws a StorageError then, and nothing has been done.
   */
  run<Answer>(work: () => Promise<Answer>): Promise<Answer>;
}

/** `break`: lost with the session. `end`: nothing new goes through, and what is under way is waited for. */
export function createLease(
  presence: Pick<WorkerPresence, 'confirm'>,
): Lease & { break(): void; end(): Promise<void> } {
  const underWay = new Set<Promise<unknown>>();
  let isOver = false;
  const isHeld = async (): Promise<boolean> => !isOver && (await presence.confirm());
  return {
    run: async (work) => {
      // Over meanwhile? The session may have been lost, and taken again, while it was asked.
      if (!(await isHeld()) || isOver) throw new StorageError('this worker no longer holds the lease');
      const working = work();
      underWay.add(working);
      try {
        return await working;
      } finally {
        underWay.delete(working);
      }
    },
    break: () => {
      isOver = true;
    },
    end: async () => {
      isOver = true;
      await Promise.allSettled(underWay);
    },
  };
}
