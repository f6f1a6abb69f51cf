/** Calls `first` at the first Ctrl-C (or SIGTERM), `again` at each later one; returns how to stop listening. */
export function onInterrupt(first: () => void, again: () => void): () => void {
  let isAgain = false;
  const handle = (): void => {
    if (isAgain) again();
    else first();
    isAgain = true;
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, handle);
  return () => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, handle);
  };
}

/** Resolves at Ctrl-C or SIGTERM. */
export async function interrupted(): Promise<void> {
  await new Promise<void>((resolve) => {
    const stop = onInterrupt(
      () => {
        stop();
        resolve();
      },
      () => undefined,
    );
  });
}
