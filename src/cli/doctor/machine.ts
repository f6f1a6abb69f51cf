import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { freeBytesOf, openDataDirectory } from '../../app/reading.ts';
import type { LoadedConfig } from '../../config/index.ts';
import { fault, type Finding, fine, hint } from './finding.ts';

const pinnedMajor = 24;
const othersMask = 0o077;

/** What needs no network: the Node that runs, who may read the secrets, room on the disk. */
export async function checkMachine(directory: string, config: LoadedConfig | undefined, dataRoot: string) {
  return [
    checkNode(process.versions.node),
    await checkEnvFile(directory),
    ...(await checkDisk(directory, config, dataRoot)),
  ];
}

function checkNode(version: string): Finding {
  const major = Number(version.split('.')[0]);
  if (major >= pinnedMajor) return fine('node', `Node ${version}`);
  const advice = 'start it with "npm start" or "npx gridloom", which use the Node pinned in node_modules';
  return fault('node', `Node ${version} is too old`, advice);
}

async function checkEnvFile(directory: string): Promise<Finding> {
  const file = join(directory, '.env');
  const mode = await modeOf(file);
  if (mode === undefined) return hint('secrets', 'there is no .env', 'copy .env.example, or run "npx gridloom init"');
  if (process.platform === 'win32' || (mode & othersMask) === 0)
    return fine('secrets', '.env is readable by you alone');
  return fault('secrets', `.env can be read by others (mode ${(mode & 0o777).toString(8)})`, `chmod 600 ${file}`);
}

async function modeOf(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).mode;
  } catch {
    return undefined;
  }
}

async function checkDisk(
  directory: string,
  config: LoadedConfig | undefined,
  root: string,
): Promise<readonly Finding[]> {
  const found: Finding[] = [];
  const mode = await modeOf(root);
  if (mode !== undefined && process.platform !== 'win32' && (mode & othersMask) !== 0) {
    found.push(hint('secrets', 'the data directory can be read by others', `chmod 700 ${root}`));
  }
  try {
    if (config !== undefined) await openDataDirectory(directory, config.environment);
    const freeMb = Math.floor((await freeBytesOf(config === undefined ? directory : root)) / 1024 ** 2);
    const leastMb = (config?.settings.storage.min_free ?? 0) / 1024 ** 2;
    const what = `${freeMb} MB free below ${root}`;
    const advice = `make room: below ${leastMb} MB (storage.min_free) no paid call is made`;
    if (freeMb < leastMb) found.push(fault('disk', what, advice));
    else found.push(freeMb < 3 * leastMb ? hint('disk', what, advice) : fine('disk', what));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    found.push(fault('disk', message, `the worker needs to write to ${root} (GRIDLOOM_DATA_DIR)`));
  }
  return found;
}
