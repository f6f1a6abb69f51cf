import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { projectDirectory } from './outside.ts';

/** The real program in a process of its own. */
export interface WorkerProcess {
  readonly process: ChildProcess;
  /** Everything that it printed. */
  output(): string;
  /** Resolves when it has ended: the exit code, or the signal that killed it. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  kill(signal?: NodeJS.Signals): Promise<void>;
}

export function startWorkerProcess(
  env: Readonly<Record<string, string>>,
  args: readonly string[] = ['start', '--port', '0'],
): WorkerProcess {
  const child = spawn(process.execPath, [join(projectDirectory, 'bin', 'gridloom.mjs'), ...args], {
    cwd: projectDirectory,
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      output += text;
    });
  }
  const ended = once(child, 'exit').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
  }));
  return {
    process: child,
    output: () => output,
    ended,
    kill: async (signal = 'SIGKILL') => {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      await ended;
    },
  };
}
