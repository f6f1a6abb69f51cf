import { fork } from 'node:child_process';
import { flushCompileCache } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { allocator, flags } from '../../bin/launch.mjs';

/** As the product's launcher has it: from the second start on, compiled code is read and the type stripper not loaded. */
const compileCache = join(tmpdir(), 'gridloom-bench-compile-cache');

/**
 * Measures in a process of its own, so that no heap or pool of one contender weighs on the next. The script calls
 * `report(figures)`; anything else that it prints goes to stderr. `asLaunched`: with the memory settings that the worker has.
 */
export async function measure(script, input, { timeoutMs = 600_000, asLaunched = false } = {}) {
  const child = fork(fileURLToPath(script), [], {
    stdio: ['ignore', process.stderr, process.stderr, 'ipc'],
    execArgv: [...(asLaunched ? flags : []), '--expose-gc'],
    env: { ...process.env, ...(asLaunched ? { ...allocator, NODE_COMPILE_CACHE: compileCache } : {}) },
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  try {
    return await new Promise((resolve, reject) => {
      child.on('message', resolve);
      child.on('error', reject);
      child.on('exit', (code, signal) => reject(new Error(`${script} ended early (${signal ?? code})`)));
      child.send(input);
    });
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
  }
}

/** The other end: hands the input to `work` and its figures back. */
export function serve(work) {
  process.once('message', async (input) => {
    try {
      const figures = await work(input);
      flushCompileCache();
      process.send(figures, () => process.exit(0));
    } catch (error) {
      console.error(error);
      process.exit(1);
    }
  });
}
