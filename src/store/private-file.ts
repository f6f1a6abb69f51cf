import { chmodSync, closeSync, openSync } from 'node:fs';

/**
 * Makes a file its owner's alone, whatever the umask: row content and prompts lie in it. SQLite gives its companions
 * (`-wal`, `-shm`, `-journal`) the mode of the file itself. A folder that is missing or refuses is left to whoever opens
 * the file next, and to that one's words.
 */
export function keepPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'a', 0o600));
    chmodSync(path, 0o600);
  } catch {
    // Not ours, or not there: opening it will tell.
  }
}
