import { type Clock, deadline } from '../../kernel/index.ts';

export type Limited<T> =
  | { readonly kind: 'answered'; readonly value: T }
  | { readonly kind: 'no-answer'; readonly error: Error };

/**
 * Waits for a port call, no longer than `limitMs`, and never for one that ignores its signal. What it throws (a bug of
 * the adapter, or an abort) is `no-answer`.
 */
export async function withLimit<T>(
  clock: Clock,
  limitMs: number,
  parent: AbortSignal,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<Limited<T>> {
  const limit = deadline(clock, limitMs, parent);
  const aborted = new Promise<Limited<T>>((resolve) => {
    const tell = (): void => {
      const reason: unknown = limit.signal.reason;
      resolve({ kind: 'no-answer', error: reason instanceof Error ? reason : new Error('aborted') });
    };
    if (limit.signal.aborted) tell();
    else limit.signal.addEventListener('abort', tell, { once: true });
  });
  try {
    return await Promise.race([call(limit.signal).then((value): Limited<T> => ({ kind: 'answered', value })), aborted]);
  } catch (error) {
    return { kind: 'no-answer', error: error instanceof Error ? error : new Error(String(error)) };
  } finally {
    limit.release();
  }
}
