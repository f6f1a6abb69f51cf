import { resolve } from 'node:path';
import {
  type DataDirectory,
  modeOfDirectory,
  openDataDirectory,
  openStore,
  readConfiguration,
} from '../app/reading.ts';
import { formatFault, type LoadedConfig } from '../config/index.ts';
import type { Store } from '../engine/ports/index.ts';
import { type Clock, createSystemClock, fail, ok, type Result, silentLogger } from '../kernel/index.ts';
import { type CommandIo, exitCodes } from './command.ts';

/** What a command beside a worker works on: the configuration and the store. */
export interface OpenData {
  readonly config: LoadedConfig;
  readonly directory: DataDirectory;
  readonly store: Store;
  readonly clock: Clock;
}

/** Reads the configuration; prints every fault and gives the exit code when there are any. */
export async function openConfig(io: CommandIo): Promise<Result<LoadedConfig, number>> {
  const options = { directory: io.directory, env: io.env };
  const mode = await modeOfDirectory(options);
  const read = await readConfiguration({
    ...options,
    // An address that nothing listens on: commands of a sandbox installation need its names, not its answers.
    ...(mode === 'sandbox' ? { sandboxOrigin: io.env['GRIDLOOM_SANDBOX_ORIGIN'] ?? 'http://127.0.0.1:7010' } : {}),
  });
  if (read.ok) return read;
  for (const fault of read.failure) io.err(formatFault(fault));
  return fail(exitCodes.configuration);
}

/** Opens configuration and store, runs `use`, closes again; storage that cannot be opened is told in words. */
export async function withData(io: CommandIo, use: (data: OpenData) => Promise<number>): Promise<number> {
  const opened = await openData(io);
  if (!opened.ok) return opened.failure;
  try {
    return await use(opened.value);
  } finally {
    await opened.value.store.close();
  }
}

async function openData(io: CommandIo): Promise<Result<OpenData, number>> {
  const config = await openConfig(io);
  if (!config.ok) return config;
  const clock = createSystemClock();
  try {
    const directory = await openDataDirectory(resolve(io.directory), config.value.environment);
    const store = await openStore(config.value, directory, { clock, logger: silentLogger });
    return ok({ config: config.value, directory, store, clock });
  } catch (error) {
    io.err(error instanceof Error ? error.message : String(error));
    return fail(exitCodes.failed);
  }
}
