import { mkdir, readFile, statfs, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Environment } from '../config/index.ts';
import type { Random } from '../kernel/index.ts';

/** Paths below the data directory; made with mode 700 because row content and prompts lie there. */
export interface DataDirectory {
  readonly root: string;
  readonly database: string;
  readonly sideFile: string;
  readonly spool: string;
  readonly logs: string;
  readonly sandbox: string;
}

export async function openDataDirectory(projectDirectory: string, environment: Environment): Promise<DataDirectory> {
  const root = resolve(projectDirectory, environment.dataDir);
  const paths = {
    root,
    database: join(root, 'gridloom.db'),
    sideFile: join(root, 'handles.log'),
    spool: join(root, 'spool'),
    logs: join(root, 'logs'),
    sandbox: join(root, 'sandbox'),
  };
  for (const folder of [root, paths.spool, paths.logs, paths.sandbox])
    await mkdir(folder, { recursive: true, mode: 0o700 });
  return paths;
}

/** Free bytes for an unprivileged writer on the disk of `directory`. */
export async function freeBytesOf(directory: string): Promise<number> {
  const stats = await statfs(directory);
  return stats.bavail * stats.bsize;
}

/** This installation's tag: GRIDLOOM_INSTANCE, else made once and kept, so that a restart finds its own rows. */
export async function instanceTagOf(
  directory: DataDirectory,
  environment: Environment,
  random: Random,
): Promise<string> {
  if (environment.instance !== undefined) return environment.instance;
  const file = join(directory.root, 'instance');
  const stored = await readFile(file, 'utf8').catch(() => '');
  if (/^[A-Za-z0-9_-]{4,40}$/.test(stored.trim())) return stored.trim();
  const tag = Array.from(random.bytes(4), (byte) => byte.toString(16).padStart(2, '0')).join('');
  await writeFile(file, `${tag}\n`, { mode: 0o600 });
  return tag;
}
