/** Runs `total` pieces of work, `inFlight` at any moment. */
export async function keepInFlight(total, inFlight, run) {
  let next = 0;
  await Promise.all(
    Array.from({ length: Math.min(inFlight, total) }, async () => {
      while (next < total) await run(next++);
    }),
  );
}

/**
 * Before the clock runs: batches of `count` until that has taken `ms`, so that whatever is used often is compiled, and a
 * worker has settled. `runBatch(from, count)` is given numbers that were not used before; resolves with the next one.
 */
export async function warmUp({ count, ms, from = 0 }, runBatch) {
  const startedAt = performance.now();
  let next = from;
  do {
    await runBatch(next, count);
    next += count;
  } while (performance.now() - startedAt < ms);
  return next;
}
