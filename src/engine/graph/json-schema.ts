import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { fail, isJsonObject, type Json, type JsonObject, ok, type Result } from '../../kernel/index.ts';

/** Checks a value; the failure names the place and what is wrong there. */
export type Check = (value: Json | undefined) => Result<void, string>;

/** One for the process, as a tool without memory: building it costs more than all shipped schemas together. */
const compiler = new Ajv2020({ allErrors: true, strict: false, validateFormats: false, addUsedSchema: false });

/** By content. A schema stands in several workflows, is looked at when they are checked and again when they run. */
const compiled = new Map<string, Result<Check, string>>();
const mostCompiled = 1_000;

/** Full JSON Schema (2020-12), compiled once a schema: that takes a hundred times as long as a check. */
export function compileSchema(schema: JsonObject): Result<Check, string> {
  const content = JSON.stringify(schema);
  const known = compiled.get(content);
  if (known !== undefined) return known;
  if (compiled.size >= mostCompiled) compiled.clear();
  const check = compileAnew(schema);
  compiled.set(content, check);
  return check;
}

function compileAnew(schema: JsonObject): Result<Check, string> {
  try {
    const validate = compiler.compile(schema);
    compiler.removeSchema(schema);
    return ok((value) => (validate(value) ? ok(undefined) : fail(describe(validate))));
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

function describe(validate: ValidateFunction): string {
  const errors = (validate.errors ?? []).slice(0, 5);
  return errors
    .map((error) => `${error.instancePath === '' ? '/' : error.instancePath} ${error.message ?? ''}`)
    .join('; ');
}

/**
 * The schema at a member of a schema; `unknown` where the schema does not say, `absent` where it names its members and
 * this one is not among them.
 */
export function schemaAt(
  schema: JsonObject | undefined,
  step: string | number | symbol,
): JsonObject | 'unknown' | 'absent' {
  if (schema === undefined) return 'unknown';
  if (typeof step === 'string') {
    const properties = schema['properties'];
    if (!isJsonObject(properties))
      return schema['type'] === undefined || schema['type'] === 'object' ? 'unknown' : 'absent';
    const found = properties[step];
    if (isJsonObject(found)) return found;
    const isOpen = schema['additionalProperties'] === true || isJsonObject(schema['additionalProperties']);
    return isOpen || schema['patternProperties'] !== undefined || hasCombinators(schema) ? 'unknown' : 'absent';
  }
  if (schema['type'] !== undefined && schema['type'] !== 'array') return 'absent';
  const items = schema['items'];
  return isJsonObject(items) ? items : 'unknown';
}

function hasCombinators(schema: JsonObject): boolean {
  return ['anyOf', 'oneOf', 'allOf', '$ref', 'if'].some((name) => schema[name] !== undefined);
}

/** Whether values of `source` can fit `target`, as far as both name a type. */
export function typesMeet(source: JsonObject, target: JsonObject): boolean {
  const from = typesOf(source);
  const to = typesOf(target);
  if (from === undefined || to === undefined) return true;
  return from.some(
    (type) =>
      to.includes(type) ||
      (type === 'integer' && to.includes('number')) ||
      (type === 'number' && to.includes('integer')),
  );
}

function typesOf(schema: JsonObject): readonly string[] | undefined {
  const type = schema['type'];
  if (typeof type === 'string') return [type];
  return Array.isArray(type) ? type.filter((each): each is string => typeof each === 'string') : undefined;
}
