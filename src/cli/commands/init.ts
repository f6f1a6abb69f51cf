import { readConfiguration, readShipped } from '../../app/reading.ts';
import { createProbePorts } from '../../app/working.ts';
import { formatFault } from '../../config/index.ts';
import { type CommandInput, type CommandIo, exitCodes, type RunCommand } from '../command.ts';
import { type Asker, BrokenOffError, createTerminalAsker, nobody } from '../init/asker.ts';
import { openEnvFile } from '../init/env-file.ts';
import { guide } from '../init/guide.ts';
import { HourFault, knownFrom } from '../init/hour.ts';
import type { MadeTable } from '../init/tables.ts';

/** A guided first hour; every step writes what it learned, and can be done again without harm. */
export const runInit: RunCommand = async (input, io) => {
  const isSilent = input.flags['yes'] === true || input.json;
  if (!isSilent && !process.stdin.isTTY) {
    io.err('this is no terminal, so nothing can be asked: give --yes and the flags, or run it in a terminal');
    return exitCodes.usage;
  }
  const asker = isSilent ? nobody : createTerminalAsker();
  try {
    return await goThrough(asker, input, io);
  } catch (error) {
    if (error instanceof BrokenOffError) {
      io.err('\nbroken off; what was entered is kept in .env, and init goes on from there');
      return exitCodes.failed;
    }
    if (!(error instanceof HourFault)) throw error;
    io.err(error.message);
    return error.exitCode;
  } finally {
    asker.close();
  }
};

async function goThrough(asker: Asker, input: CommandInput, io: CommandIo): Promise<number> {
  // Agents and settings only: what the environment lacks is what this hour is for.
  const read = await readShipped(io);
  if (!read.ok) {
    for (const fault of read.failure) io.err(formatFault(fault));
    return exitCodes.configuration;
  }
  const envFile = await openEnvFile(io.directory);
  const ports = createProbePorts(read.value);
  try {
    const say = input.json ? () => undefined : (line: string) => io.out(line);
    const hour = { config: read.value, ports, asker, envFile, say, known: knownFrom(input, io.env, envFile) };
    const done = await guide(hour, input);
    const checked = await readConfiguration(io);
    const missing = checked.ok ? [] : checked.failure.map(formatFault);
    if (input.json)
      io.out(JSON.stringify({ ok: true, env_file: envFile.path, tables: done.tables.map(asJson), missing }));
    else for (const line of whatNext(missing)) io.out(line);
    return exitCodes.done;
  } finally {
    await ports.close();
  }
}

function asJson({ agent, tableId, isNew, created, faults, lacking }: MadeTable) {
  return { agent, table_id: tableId, is_new: isNew, created, faults, lacking };
}

function whatNext(missing: readonly string[]): readonly string[] {
  return [
    '',
    ...(missing.length === 0 ? [] : ['still missing in .env:', ...missing.map((line) => `  ${line}`), '']),
    'next: "npx gridloom doctor" checks everything with a real write, "npm start" runs the worker',
  ];
}
