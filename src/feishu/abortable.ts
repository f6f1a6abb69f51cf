import { AbortedError } from '../kernel/index.ts';

/**
 * Waits for `work`, but no longer than `signal` lives: rejects with the signal's reason. The work itself goes on; its late
 * result is dropped. For a callee that may not honour the signal it was given (a handler in process, a stalled body).
 */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  work.catch(() => undefined);
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => {
      const reason: unknown = signal.reason;
      reject(reason instanceof Error ? reason : new AbortedError('aborted'));
    };
    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', onAbort);
    });
  });
}
