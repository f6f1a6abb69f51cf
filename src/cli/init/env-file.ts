import { chmod, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';

/** `.env` of an installation: read once, then changed one variable at a time, everything else in it kept. */
export interface EnvFile {
  readonly path: string;
  get(name: string): string | undefined;
  /** Writes at once, so that a broken-off hour loses nothing. Mode 600. */
  set(values: Readonly<Record<string, string>>): Promise<void>;
}

/** Opens `.env`; where there is none, `.env.example` with its explanations is the beginning. */
export async function openEnvFile(directory: string): Promise<EnvFile> {
  const path = join(directory, '.env');
  const present = await readFile(path, 'utf8').catch(() => undefined);
  let text = present ?? (await readFile(join(directory, '.env.example'), 'utf8').catch(() => ''));
  if (present !== undefined) await chmod(path, 0o600);
  return {
    path,
    get: (name) => {
      const value = parseEnv(text)[name]?.trim() ?? '';
      return value === '' ? undefined : value;
    },
    set: async (values) => {
      const changed = Object.entries(values).reduce((kept, [name, value]) => withVariable(kept, name, value), text);
      if (changed === text && present !== undefined) return;
      text = changed;
      await writeFile(`${path}.tmp`, text, { mode: 0o600 });
      await rename(`${path}.tmp`, path);
    },
  };
}

/** The text with one variable set: in its line where it has one (the last counts), else at the end. */
export function withVariable(text: string, name: string, value: string): string {
  const line = `${name}=${quoted(value)}`;
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  const at = lines.findLastIndex((each) => new RegExp(`^\\s*(?:export\\s+)?${name}\\s*=`).test(each));
  if (at === -1) lines.push(line);
  else lines[at] = line;
  return `${lines.join('\n')}\n`;
}

function quoted(value: string): string {
  if (/^[A-Za-z0-9_./:@+=,?&%-]*$/.test(value)) return value;
  const mark = ["'", '"', '`'].find((each) => !value.includes(each));
  if (mark === undefined || /[\r\n]/.test(value))
    throw new Error('a value with line breaks or every kind of quote cannot stand in .env');
  return `${mark}${value}${mark}`;
}
