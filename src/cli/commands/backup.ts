import { resolve } from 'node:path';
import { backupStore } from '../../store/index.ts';
import { type RunCommand, exitCodes } from '../command.ts';
import { withData } from '../data.ts';

export const runBackup: RunCommand = async (input, io) =>
  await withData(io, async ({ directory, clock, config }) => {
    if (config.environment.databaseUrl !== undefined) {
      io.err('this installation keeps its state in PostgreSQL: back it up with pg_dump');
      return exitCodes.failed;
    }
    const destination = resolve(input.positionals[0] ?? '');
    try {
      backupStore({ path: directory.database, destination, clock });
    } catch (error) {
      io.err(error instanceof Error ? error.message : String(error));
      return await Promise.resolve(exitCodes.failed);
    }
    io.out(
      `${destination}; to restore: stop the worker, put it in place of ${directory.database} (remove -wal and -shm), start`,
    );
    return exitCodes.done;
  });
