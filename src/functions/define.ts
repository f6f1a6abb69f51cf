import { z } from 'zod';
import type { Failure } from '../contract/index.ts';
import type { NodeFunction } from '../engine/ports/index.ts';
import { fail, isJsonObject, type Json, type JsonObject, type Result } from '../kernel/index.ts';

/** A function with its input parsed: what `defineFunction` wraps. */
export type Body<Input> = (input: Input, signal: AbortSignal) => Promise<Result<JsonObject, Failure>>;

/** Parses the mapped input by its schema; a value that does not fit is the workflow author's mistake and says where. */
export function defineFunction<Input>(name: string, schema: z.ZodType<Input>, body: Body<Input>): NodeFunction {
  return async (input, signal) => {
    const parsed = schema.safeParse(input);
    if (parsed.success) return await body(parsed.data, signal);
    return fail({
      kind: 'configuration',
      code: 'function-input',
      message: `${name}: ${z.prettifyError(parsed.error).replace(/\s+/g, ' ')}`,
    });
  };
}

/** Input that a person must change: the words reach the row. */
export function refuseInput(code: string, message: string, advice: string): { ok: false; failure: Failure } {
  return fail({ kind: 'invalid-input', code, message, advice });
}

/** Any JSON value, typed as the kernel's. */
export const jsonSchema: z.ZodType<Json> = z.custom<Json>((value) => isJson(value), 'not a JSON value');

function isJson(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isJson);
  return isJsonObject(value) && Object.values(value).every((member) => member === undefined || isJson(member));
}
