import { parseEnv } from 'node:util';
import type { Place } from './fault.ts';

/** A variable that is set: its value without blanks around it, and where it was set. */
export interface Variable {
  readonly name: string;
  readonly value: string;
  readonly place: Place;
  readonly origin: 'sandbox' | 'process' | 'file';
}

export type Variables = ReadonlyMap<string, Variable>;

/**
 * Variables of the process stand above those of `.env`; an empty one counts as not set. With `sandbox`, whatever speaks to
 * the outside world (`isOutside`) comes from there alone, so that a sandbox run can never reach a real account.
 */
export function gatherVariables(options: {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly envFile?: { readonly file: string; readonly text: string };
  readonly sandbox?: Readonly<Record<string, string>>;
  readonly isOutside: (name: string) => boolean;
}): Variables {
  const gathered = new Map<string, Variable>();
  const isShut = (name: string): boolean => options.sandbox !== undefined && options.isOutside(name);
  const add = (name: string, value: string | undefined, place: Place, origin: Variable['origin']): void => {
    const trimmed = value?.trim() ?? '';
    if (trimmed !== '') gathered.set(name, { name, value: trimmed, place, origin });
  };
  if (options.envFile !== undefined) {
    for (const [name, value] of Object.entries(parseEnv(options.envFile.text))) {
      if (!isShut(name)) add(name, value, placeInEnvFile(options.envFile, name), 'file');
    }
  }
  for (const [name, value] of Object.entries(options.env)) {
    if (!isShut(name)) add(name, value, { file: 'environment', line: 1, column: 1 }, 'process');
  }
  for (const [name, value] of Object.entries(options.sandbox ?? {})) {
    // What speaks to the outside is the sandbox's alone; a pace that it only suggests gives way to what is set.
    // A mode that is misspelt stays, to be refused: a server must not fall back to the sandbox unnoticed.
    const isMisspelt = name === 'GRIDLOOM_MODE' && !['live', 'sandbox', undefined].includes(gathered.get(name)?.value);
    const isSuggestion = !options.isOutside(name) && (name !== 'GRIDLOOM_MODE' || isMisspelt);
    if (isSuggestion && gathered.has(name)) continue;
    add(name, value, { file: 'sandbox', line: 1, column: 1 }, 'sandbox');
  }
  return gathered;
}

/** Where a variable that is not set would be written. */
export const envFilePlace: Place = { file: '.env', line: 1, column: 1 };

function placeInEnvFile(envFile: { readonly file: string; readonly text: string }, name: string): Place {
  const lines = envFile.text.split(/\r?\n/);
  const index = lines.findLastIndex((line) => new RegExp(`^\\s*(?:export\\s+)?${name}\\s*=`).test(line));
  const column = (lines[index]?.indexOf(name) ?? 0) + 1;
  return { file: envFile.file, line: index + 1, column: Math.max(1, column) };
}
