/** Runs `total` pieces of work, `inFlight` at any moment. */
export async function keepInFlight(total, inFlight, run) {
  let next = 0;
  await Promise.all(
    Array.from({ length: Math.min(inFlight, total) }, async () => {
      while (next < total) await run(next++);
    }),
  );
}
