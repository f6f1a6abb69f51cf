import type { Failure } from '../../contract/index.ts';
import { assertNever, fail, ok, type Result, sleep } from '../../kernel/index.ts';
import { StorageError } from '../ports/index.ts';
import type { Services } from './services.ts';

const againAfterMs = 1_000;

/**
 * A question that the store refuses is asked again until it is answered or the engine stops: a call that does not have its
 * history yet, or a node without its call, has nobody else who would wake it. `whyNot` says why the answer is not needed
 * any more, and is then what comes back. What is no refusal of the store is thrown.
 */
export async function readAgain<T, Reason>(
  services: Services,
  read: () => Promise<T>,
  whyNot: () => Reason | undefined,
): Promise<Result<T, Reason>> {
  const { clock, logger } = services.deps;
  for (let refusals = 0; ; refusals += 1) {
    try {
      return ok(await read());
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      if (refusals === 0) logger.error('the store cannot be read; trying again', { error: error.message });
      const before = whyNot();
      if (before !== undefined) return fail(before);
      await sleep(clock, againAfterMs, services.signal);
      const after = whyNot();
      if (after !== undefined) return fail(after);
    }
  }
}

/** The same for who has something in hand that must not be lost: a vendor's answer, an intent on disk. */
export async function whileAway<T>(services: Services, read: () => Promise<T>): Promise<T> {
  const answer = await readAgain<T, never>(services, read, () => undefined);
  return answer.ok ? answer.value : assertNever(answer.failure);
}

/** What the engine itself did wrong, as a failure: said once in the log, and where it happened in the execution. */
export function engineFault(services: Services, path: string, error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  services.deps.logger.error('the engine itself failed', { path, error: String(error) });
  return { kind: 'internal', code: 'engine', message };
}
