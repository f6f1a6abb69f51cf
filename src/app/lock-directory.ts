import type { LoadedConfig } from '../config/index.ts';
import { createSystemClock, fail, ok, type Result } from '../kernel/index.ts';
import { acquireDataDirectory, type DirectoryLock } from '../store/index.ts';
import { type DataDirectory, openDataDirectory } from './data-directory.ts';

/** What could not start: what to print, and the exit code of the contract. */
export interface StartFault {
  readonly exitCode: 1 | 75 | 78;
  readonly lines: readonly string[];
}

/** Opens the data directory for this process alone; another that holds it is named. */
export async function lockDirectory(
  projectDirectory: string,
  config: LoadedConfig,
): Promise<Result<{ directory: DataDirectory; lock: DirectoryLock }, StartFault>> {
  try {
    const directory = await openDataDirectory(projectDirectory, config.environment);
    const lock = acquireDataDirectory(directory.root, { clock: createSystemClock() });
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

/** Whether a worker holds the data directory just now. Takes it for a moment, so a worker that starts then must try again. */
export function isWorkerRunningIn(directory: DataDirectory): boolean {
  const lock = acquireDataDirectory(directory.root, { clock: createSystemClock() });
  if (lock.ok) lock.value.release();
  return !lock.ok;
}
