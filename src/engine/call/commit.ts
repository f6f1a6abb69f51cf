import { sleep } from '../../kernel/index.ts';
import { ConflictError, StorageError, type StoreCommand } from '../ports/index.ts';
import type { Services } from './services.ts';

const againAfterMs = 1_000;

/**
 * Writes what must not be lost: what a vendor answered. A disk that refuses is tried again until it takes it or the
 * engine stops; `onRefused` is called at the first refusal. False: the stored state had moved on, nothing was written.
 */
export async function commitAnswer(
  services: Services,
  commands: readonly StoreCommand[],
  onRefused?: () => void,
): Promise<boolean> {
  const { store, clock, logger } = services.deps;
  for (let refusals = 0; ; refusals += 1) {
    try {
      await store.commit(commands);
      return true;
    } catch (error) {
      if (error instanceof ConflictError) return false;
      if (!(error instanceof StorageError)) throw error;
      if (refusals === 0) {
        logger.error('the store refuses a vendor answer; trying again', { error: error.message });
        onRefused?.();
      }
      await sleep(clock, againAfterMs, services.signal);
    }
  }
}
