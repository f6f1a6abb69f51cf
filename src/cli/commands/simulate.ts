import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { exitCodes, type RunCommand, textFlag, wholeFlag } from '../command.ts';
import { onInterrupt } from '../interrupt.ts';

/** The simulation lives with the tests and has threads of its own, so it gets a process of its own. */
export const runSimulate: RunCommand = async (input, io) => {
  const seeds = wholeFlag(input, 'seeds', { preset: 20, min: 1, max: 1_000_000 });
  const first = wholeFlag(input, 'first', { preset: 1, min: 0, max: Number.MAX_SAFE_INTEGER });
  if (seeds === undefined || first === undefined) {
    io.err('--seeds takes a whole number from 1 on, --first one from 0 on');
    return exitCodes.usage;
  }
  const program = join(io.directory, 'test', 'simulation', 'main.ts');
  const names = ['seeds', 'first'].flatMap((name) => {
    const value = textFlag(input, name);
    return value === undefined ? [] : [`--${name}`, value];
  });
  const child = spawn(process.execPath, [program, ...names, ...(input.json ? ['--json'] : [])], {
    cwd: io.directory,
    stdio: 'inherit',
    env: io.env,
  });
  const stopListening = onInterrupt(
    () => {
      io.err('interrupted; no verdict on the seeds that were under way');
      child.kill();
    },
    () => child.kill('SIGKILL'),
  );
  return await new Promise<number>((resolve) => {
    child.once('exit', (code) => resolve(code ?? exitCodes.failed));
  }).finally(stopListening);
};
