import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { fail, isJsonObject, type Json, type JsonObject, ok, type Result } from '../kernel/index.ts';
import type { Spool } from '../media/index.ts';

const objectSchema = z.record(z.string(), z.json());

/** Reads a workflow's input from a JSON or YAML file; the fault says what is wrong and where. */
export async function readInputFile(file: string): Promise<Result<JsonObject, string>> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    return fail(`cannot read ${file}: ${messageOf(error)}`);
  }
  try {
    const parsed = objectSchema.safeParse(parse(text));
    return parsed.success ? ok(parsed.data) : fail(`${file}: the input is an object of JSON values, by input name`);
  } catch (error) {
    return fail(`${file}: ${messageOf(error)}`);
  }
}

/** Takes every `{file: PATH}` into the spool; paths are read from `directory` on. The first fault ends it. */
export async function takeFilesIn(
  input: JsonObject,
  options: {
    readonly directory: string;
    readonly spool: Spool;
    readonly maxBytes: number;
    readonly signal: AbortSignal;
  },
): Promise<Result<JsonObject, string>> {
  const faults: string[] = [];
  const take = async (value: Json | undefined): Promise<Json> => {
    if (Array.isArray(value)) return await Promise.all(value.map(take));
    if (!isJsonObject(value)) return value ?? null;
    const path = filePathOf(value);
    if (path === undefined) return await takeMembers(value);
    const source = resolve(options.directory, path);
    try {
      const intake = { nameHint: basename(source), maxBytes: options.maxBytes };
      const stored = await options.spool.store(createReadStream(source), intake, options.signal);
      if (stored.ok) return { ...stored.value };
      faults.push(`${source}: ${stored.failure.message}`);
    } catch (error) {
      faults.push(`cannot read ${source}: ${messageOf(error)}`);
    }
    return null;
  };
  const takeMembers = async (value: JsonObject): Promise<JsonObject> =>
    Object.fromEntries(
      await Promise.all(Object.entries(value).map(async ([name, member]) => [name, await take(member)] as const)),
    );
  const taken = await takeMembers(input);
  return faults.length === 0 ? ok(taken) : fail(faults.join('\n'));
}

/** The folder from which a file's own `{file: …}` are read. */
export function folderOf(file: string): string {
  return dirname(resolve(file));
}

function filePathOf(value: JsonObject): string | undefined {
  const names = Object.keys(value);
  const path = value['file'];
  return names.length === 1 && typeof path === 'string' ? path : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
