import { orAborted } from '../providers/http/index.ts';

/**
 * Waits for `work`, but no longer than `signal` lives: rejects with the signal's reason. The work itself goes on; its late
 * result is dropped. For a callee that may not honour the signal it was given (a handler in process, a stalled body).
 */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return signal === undefined ? await work : await orAborted(work, signal);
}
