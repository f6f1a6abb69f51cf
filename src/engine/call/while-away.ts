import { sleep } from '../../kernel/index.ts';
import { StorageError } from '../ports/index.ts';
import type { Services } from './services.ts';

const againMs = 1_000;

/**
 * Asks the database, and asks again while it is away: for questions whose asker has something in hand that must not be
 * lost (a vendor's answer, an intent on disk). Rejects when the engine ends.
 */
export async function whileAway<T>(
  { deps, signal }: Pick<Services, 'deps' | 'signal'>,
  ask: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      await sleep(deps.clock, againMs, signal);
    }
  }
}
