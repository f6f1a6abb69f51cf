import type { LoadedConfig } from '../config/index.ts';
import { type Clock, createSystemClock, fail, ok, type Result, sleep } from '../kernel/index.ts';
import { acquireDataDirectory, type DirectoryLock } from '../store/index.ts';
import { type DataDirectory, openDataDirectory } from './data-directory.ts';

/** What could not start: what to print, and the exit code of the contract. */
export interface StartFault {
  readonly exitCode: 1 | 75 | 78;
  readonly lines: readonly string[];
}

/** Who only looks (`isWorkerRunningIn`) holds it for an instant: so long nobody is sent away. */
const patienceMs = 1_000;
const againMs = 100;

/** Opens the data directory for this process alone; another that keeps it is named. */
export async function lockDirectory(
  projectDirectory: string,
  config: LoadedConfig,
  clock: Clock = createSystemClock(),
): Promise<Result<{ directory: DataDirectory; lock: DirectoryLock }, StartFault>> {
  try {
    const directory = await openDataDirectory(projectDirectory, config.environment);
    const untilMs = clock.monotonicMs() + patienceMs;
    let lock = acquireDataDirectory(directory.root, { clock });
    while (!lock.ok && clock.monotonicMs() < untilMs) {
      await sleep(clock, againMs);
      lock = acquireDataDirectory(directory.root, { clock });
    }
    if (lock.ok) return ok({ directory, lock: lock.value });
    const since = new Date(lock.failure.startedAt).toISOString();
    return fail({
      exitCode: 75,
      lines: [
        `another worker holds ${directory.root}: pid ${lock.failure.pid}, since ${since}; stop it first, or set GRIDLOOM_DATA_DIR`,
      ],
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return fail({ exitCode: 1, lines: [`cannot use the data directory: ${message}`] });
  }
}

/** Whether a worker holds the data directory just now. Takes it for an instant; a worker that starts then tries again. */
export function isWorkerRunningIn(directory: DataDirectory): boolean {
  const lock = acquireDataDirectory(directory.root, { clock: createSystemClock() });
  if (lock.ok) lock.value.release();
  return !lock.ok;
}
