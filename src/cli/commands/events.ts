import { type Command, exitCodes, textFlag } from '../command.ts';
import { withData } from '../data.ts';

const batch = 500;

export const eventsCommand: Command = {
  name: 'events',
  usage: '[--after SEQ] [--follow]',
  help: 'prints the event log as JSON lines, from a number on',
  options: {
    after: { type: 'string', help: 'only events behind this number (default 0: all)' },
    follow: { type: 'boolean', help: 'goes on as new events come, until interrupted' },
  },
  words: [0, 0],
  run: async (input, io) =>
    await withData(io, async ({ store }) => {
      let after = Number(textFlag(input, 'after') ?? '0');
      if (!Number.isSafeInteger(after) || after < 0) {
        io.err('--after takes the number of an event');
        return exitCodes.usage;
      }
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
      await new Promise<void>((resolve, reject) => {
        let isReading = false;
        const stop = store.onAppend(() => {
          if (isReading) return;
          isReading = true;
          readOn().then(
            () => {
              isReading = false;
            },
            (error: unknown) => {
              stop();
              reject(error instanceof Error ? error : new Error(String(error)));
            },
          );
        });
        process.once('SIGINT', () => {
          stop();
          resolve();
        });
      });
      return exitCodes.done;
    }),
};
