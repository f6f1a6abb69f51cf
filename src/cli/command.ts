import { parseArgs } from 'node:util';
import { fail, ok, type Result } from '../kernel/index.ts';

/** Exit codes of the operator's contract. */
export const exitCodes = { done: 0, failed: 1, usage: 2, heldElsewhere: 75, configuration: 78 } as const;

/** Where a command writes and what it reads; tests pass their own. */
export interface CommandIo {
  out(line: string): void;
  err(line: string): void;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
}

export interface OptionSpec {
  readonly type: 'string' | 'boolean';
  readonly help: string;
}

export interface CommandInput {
  readonly positionals: readonly string[];
  readonly flags: Readonly<Record<string, string | boolean | undefined>>;
  readonly json: boolean;
}

/** What a command does; its exit code. */
export type RunCommand = (input: CommandInput, io: CommandIo) => Promise<number>;

/** A command as the catalogue lists it: its words are read before its code, which is loaded only when it runs. */
export interface Command {
  readonly name: string;
  /** `ID [--from NODE]`, after the name. */
  readonly usage: string;
  readonly help: string;
  readonly options?: Readonly<Record<string, OptionSpec>>;
  /** How many words it takes. */
  readonly words: readonly [min: number, max: number];
  readonly load: () => Promise<RunCommand>;
}

/** Reads a command's words and options; a fault says what is wrong and how it is used. */
export function parseInput(command: Command, args: readonly string[]): Result<CommandInput, string> {
  const options = Object.fromEntries(
    Object.entries({ ...command.options, json: { type: 'boolean' as const } }).map(([name, spec]) => [
      name,
      { type: spec.type },
    ]),
  );
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
    const [min, max] = command.words;
    if (positionals.length < min) return fail('something is missing');
    if (positionals.length > max) return fail(`too many words: ${positionals.slice(max).join(' ')}`);
    const flags: Record<string, string | boolean | undefined> = {};
    for (const [name, value] of Object.entries(values))
      if (typeof value === 'string' || typeof value === 'boolean') flags[name] = value;
    return ok({ positionals, flags, json: flags['json'] === true });
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

/** A flag's whole number within bounds, its preset when it is absent, undefined when it is anything else. */
export function wholeFlag(
  input: CommandInput,
  name: string,
  bounds: { readonly preset: number; readonly min: number; readonly max: number },
): number | undefined {
  const text = textFlag(input, name);
  if (text === undefined) return bounds.preset;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return value >= bounds.min && value <= bounds.max ? value : undefined;
}

/** A flag's text, or undefined. */
export function textFlag(input: CommandInput, name: string): string | undefined {
  const value = input.flags[name];
  return typeof value === 'string' ? value : undefined;
}
