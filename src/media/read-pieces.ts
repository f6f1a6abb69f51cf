import { AbortedError, type Clock } from '../kernel/index.ts';

/**
 * The pieces of an answer's body. Ends with an AbortedError when no byte comes for `idleMs`, and with the signal's reason
 * when that is aborted; both cancel the body, which lets a waiting read go at once.
 */
export async function* readPieces(
  response: Response,
  clock: Clock,
  idleMs: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  const watch = watchIdle(clock, idleMs);
  const ended = AbortSignal.any([signal, watch.signal]);
  const letGo = (): void => {
    reader.cancel().catch(() => undefined);
  };
  ended.addEventListener('abort', letGo, { once: true });
  const throwIfEnded = (): void => {
    if (ended.aborted) throw asError(ended.reason);
  };
  let isWhole = false;
  try {
    for (;;) {
      throwIfEnded();
      watch.begin();
      const next = await reader.read();
      watch.pause();
      throwIfEnded();
      if (next.done) {
        isWhole = true;
        return;
      }
      yield next.value;
    }
  } finally {
    watch.stop();
    ended.removeEventListener('abort', letGo);
    if (!isWhole) letGo();
  }
}

/**
 * One timer for a whole body instead of one for each piece: when it fires it looks how long the present wait has lasted,
 * and is set again for the rest. Time that the reader takes between pieces does not count.
 */
function watchIdle(
  clock: Clock,
  idleMs: number,
): { readonly signal: AbortSignal; begin(): void; pause(): void; stop(): void } {
  const controller = new AbortController();
  let waitingSinceMs: number | undefined;
  const look = (): void => {
    const leftMs = waitingSinceMs === undefined ? idleMs : waitingSinceMs + idleMs - clock.monotonicMs();
    if (leftMs > 0) cancel = clock.after(leftMs, look);
    else controller.abort(new AbortedError(`no byte for ${idleMs} ms`));
  };
  let cancel = clock.after(idleMs, look);
  return {
    signal: controller.signal,
    begin: () => {
      waitingSinceMs = clock.monotonicMs();
    },
    pause: () => {
      waitingSinceMs = undefined;
    },
    stop: () => {
      cancel();
    },
  };
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}
