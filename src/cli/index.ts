import { resolve } from 'node:path';
import { catalogue } from './catalogue.ts';
import { type Command, type CommandIo, exitCodes, parseInput } from './command.ts';

/** The installation: `.env` and `config/` lie there. GRIDLOOM_DIRECTORY names another, for tests and tools. */
const projectDirectory = resolve(import.meta.dirname, '..', '..');

/** Runs the command that the words name; returns its exit code. */
export async function runCli(args: readonly string[], io: CommandIo = processIo()): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    for (const line of helpLines()) io.out(line);
    return name === undefined ? exitCodes.usage : exitCodes.done;
  }
  const command = catalogue.find((each) => each.name === name);
  if (command === undefined) {
    io.err(`no command "${name}"; "gridloom --help" lists them`);
    return exitCodes.usage;
  }
  if (rest.includes('--help') || rest.includes('-h')) {
    for (const line of commandHelp(command)) io.out(line);
    return exitCodes.done;
  }
  const input = parseInput(command, rest);
  if (!input.ok) {
    io.err(`${input.failure}\n${usageLine(command)}`);
    return exitCodes.usage;
  }
  const run = await command.load();
  const code = await run(input.value, io);
  if (code === exitCodes.usage) io.err(usageLine(command));
  return code;
}

/** This process's streams and environment. */
function processIo(): CommandIo {
  const { GRIDLOOM_DIRECTORY: directory, ...env } = process.env;
  // A reader that has seen enough (`| head`) is no fault.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(exitCodes.done);
  });
  return {
    out: (line) => process.stdout.write(`${line}\n`),
    err: (line) => process.stderr.write(`${line}\n`),
    env,
    directory: resolve(directory ?? projectDirectory),
  };
}

function usageLine(command: Command): string {
  return `usage: gridloom ${command.name} ${command.usage}`.trimEnd();
}

function helpLines(): string[] {
  const width = Math.max(...catalogue.map((command) => `${command.name} ${command.usage}`.length));
  return [
    'gridloom: AI generation workflows, run from a Feishu Bitable',
    '',
    ...catalogue.map((command) => `  ${`${command.name} ${command.usage}`.padEnd(width)}  ${command.help}`),
    '',
    'Each takes --json where a machine may read it, and --help. Exit codes: 0 done, 1 failed, 2 wrong usage, 75 another worker holds the data directory, 78 configuration.',
  ];
}

function commandHelp(command: Command): string[] {
  return [
    `gridloom ${command.name} ${command.usage}`,
    `  ${command.help}`,
    ...Object.entries(command.options ?? {}).map(
      ([name, option]) => `  --${name}${option.type === 'string' ? ' …' : ''}  ${option.help}`,
    ),
  ];
}
