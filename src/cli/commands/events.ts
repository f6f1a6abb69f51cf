import type { Store } from '../../engine/ports/index.ts';
import { exitCodes, type RunCommand, wholeFlag } from '../command.ts';
import { withData } from '../data.ts';
import { interrupted } from '../interrupt.ts';

const batch = 500;

export const runEvents: RunCommand = async (input, io) => {
  const from = wholeFlag(input, 'after', { preset: 0, min: 0, max: Number.MAX_SAFE_INTEGER });
  if (from === undefined) {
    io.err('--after takes the number of an event');
    return exitCodes.usage;
  }
  return await withData(io, async ({ store }) => {
    let after = from;
    const readOn = async (): Promise<void> => {
      for (;;) {
        const events = await store.events(after, batch);
        for (const event of events) io.out(JSON.stringify(event));
        after = events.at(-1)?.seq ?? after;
        if (events.length < batch) return;
      }
    };
    await readOn();
    if (input.flags['follow'] !== true) return exitCodes.done;
    await follow(store, readOn);
    io.err(`stopped; "gridloom events --after ${after} --follow" goes on from here`);
    return exitCodes.done;
  });
};

/** Reads on whenever events were appended, until interrupted. */
async function follow(store: Store, readOn: () => Promise<void>): Promise<void> {
  let reading: Promise<void> | undefined;
  let isStale = false;
  const look = (): void => {
    isStale = true;
    reading ??= (async () => {
      while (isStale) {
        isStale = false;
        await readOn();
      }
    })().finally(() => {
      reading = undefined;
    });
    reading.catch(failed);
  };
  const broken = Promise.withResolvers<never>();
  const failed = (error: unknown): void => broken.reject(error instanceof Error ? error : new Error(String(error)));
  // Only who listens for commands is told of what other processes append.
  const stops = [store.onAppend(look), store.onControl(() => undefined)];
  try {
    look();
    await Promise.race([interrupted(), broken.promise]);
  } finally {
    for (const stop of stops) stop();
    await reading?.catch(() => undefined);
  }
}
