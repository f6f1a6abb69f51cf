import { join, resolve } from 'node:path';
import { serveLoopback } from '../../app/working.ts';
import { createIdSource, createSystemRandom, silentLogger } from '../../kernel/index.ts';
import { createDiskSpool } from '../../media/index.ts';
import { createCalendar, createEventServer, createFolderReader } from '../../monitor/index.ts';
import { exitCodes, type RunCommand, wholeFlag } from '../command.ts';
import { withData } from '../data.ts';
import { interrupted } from '../interrupt.ts';

const pagePort = 7020;

/** The page reads what the worker writes; the event stream, pictures and submitters are served from the store. */
export const runServe: RunCommand = async (input, io) => {
  const port = wholeFlag(input, 'port', { preset: pagePort, min: 0, max: 65_535 });
  if (port === undefined) {
    io.err('--port takes a number from 0 to 65535');
    return exitCodes.usage;
  }
  return await withData(io, async ({ store, clock, config, directory }) => {
    // Only who listens for commands is told of what other processes append.
    const unwatch = store.onControl(() => undefined);
    const handler = createEventServer({
      store,
      clock,
      logger: silentLogger,
      calendar: createCalendar(config.environment.timezone),
      page: createFolderReader(join(io.directory, 'webmon')),
      data: createFolderReader(resolve(io.directory, config.environment.monitorDir)),
      media: createDiskSpool({
        directory: directory.spool,
        ids: createIdSource(clock, createSystemRandom()),
        isShared: true,
      }),
    });
    try {
      const server = await serveLoopback(handler, port);
      io.out(input.json ? JSON.stringify({ origin: server.origin }) : `${server.origin}/  (Ctrl-C ends it)`);
      await interrupted();
      io.err('stopped; the worker is untouched');
      await server.close();
      return exitCodes.done;
    } catch (error) {
      io.err(`${error instanceof Error ? error.message : String(error)}; choose another with --port`);
      return exitCodes.failed;
    } finally {
      unwatch();
    }
  });
};
