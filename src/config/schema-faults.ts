import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../kernel/index.ts';
import { type ConfigFault, faultAt } from './fault.ts';
import { suggestName } from './suggest.ts';
import type { Path, YamlFile } from './yaml-file.ts';

/** Reads a file's value (or a part of it, at `base`) by a schema; each issue becomes a fault with its place. */
export function readBySchema<T>(
  source: YamlFile,
  schema: z.ZodType<T>,
  base: Path = [],
): { readonly value?: T; readonly faults: readonly ConfigFault[] } {
  const parsed = schema.safeParse(valueAt(source.value, base), { reportInput: true });
  if (parsed.success) return { value: parsed.data, faults: [] };
  const shape = publishedSchema(schema);
  return { faults: parsed.error.issues.flatMap((issue) => faultsOf(source, shape, base, issue)) };
}

/** The schema as JSON Schema (2020-12) of what people write, for editors and for naming the known keys. */
export function publishedSchema(schema: z.ZodType): JsonObject {
  const published: unknown = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return isJsonObject(published) ? published : {};
}

export function valueAt(value: unknown, path: Path): unknown {
  let current = value;
  for (const member of path) {
    if (Array.isArray(current)) current = current[Number(member)];
    else if (isJsonObject(current)) current = current[member];
    else return undefined;
  }
  return current;
}

type Issue = z.core.$ZodIssue;

function faultsOf(source: YamlFile, shape: JsonObject, base: Path, issue: Issue): readonly ConfigFault[] {
  const inner = issue.path.map((member) => (typeof member === 'number' ? member : String(member)));
  const path = [...base, ...inner];
  if (issue.code === 'unrecognized_keys') {
    const known = knownKeys(shape, shape, inner, valueAt(source.value, base));
    return issue.keys.map((key) =>
      faultAt(source.placeOfKey([...path, key]), `unknown key "${[...inner, key].join('.')}"`, suggestName(key, known)),
    );
  }
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const nearest = [...issue.errors].sort((left, right) => badness(left) - badness(right))[0] ?? [];
    return nearest.flatMap((nested) =>
      faultsOf(source, shape, base, { ...nested, path: [...issue.path, ...nested.path] }),
    );
  }
  if (issue.code === 'invalid_key') {
    const reasons = issue.issues.map((nested) => nested.message).join('; ');
    return [faultAt(source.placeOfKey(path), `"${String(inner.at(-1))}" cannot be a name here`, reasons)];
  }
  const isMissing = issue.code === 'invalid_type' && valueAt(source.value, path) === undefined;
  const name = inner.length === 0 ? 'the file' : `"${source.nameOf(inner)}"`;
  if (isMissing) return [faultAt(source.placeOf(path), `${name} is missing`, `add it (${adviceOf(issue)})`)];
  const shown = shortValue(valueAt(source.value, path));
  return [faultAt(source.placeOf(path), `${name}: ${shown} is not allowed`, adviceOf(issue))];
}

/** How far a union's alternative is from what was written: another type at the top is farthest. */
function badness(issues: readonly Issue[]): number {
  return issues.reduce((sum, issue) => sum + (issue.path.length === 0 && issue.code === 'invalid_type' ? 100 : 1), 0);
}

function adviceOf(issue: Issue): string {
  if (issue.code === 'invalid_value') return `allowed: ${issue.values.map(String).join(', ')}`;
  if (issue.code === 'invalid_type') return `expected: ${issue.expected}`;
  if (issue.code === 'invalid_union') return 'see docs/authoring.md for the kinds that exist';
  return lowerFirst(issue.message);
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function shortValue(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) return 'nothing';
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

/** The keys that the schema knows at a path, alternatives together, as far as the value's discriminators tell. */
function knownKeys(root: JsonObject, schema: JsonObject, path: Path, value: unknown): readonly string[] {
  const options = alternatives(root, schema, value);
  const [member, ...rest] = path;
  if (member === undefined) {
    return [
      ...new Set(
        options.flatMap((option) => (isJsonObject(option['properties']) ? Object.keys(option['properties']) : [])),
      ),
    ];
  }
  const below = valueAt(value, [member]);
  return [
    ...new Set(
      options.flatMap((option) => memberSchemas(option, member).flatMap((next) => knownKeys(root, next, rest, below))),
    ),
  ];
}

function memberSchemas(schema: JsonObject, member: string | number): readonly JsonObject[] {
  const properties = schema['properties'];
  const named = isJsonObject(properties) ? properties[member] : undefined;
  const candidates = [named, named === undefined ? schema['additionalProperties'] : undefined, schema['items']];
  return candidates.filter(isJsonObject);
}

/** The alternatives of a union whose constant members fit the value; all of them when none does. */
function alternatives(root: JsonObject, schema: JsonObject, value: unknown): readonly JsonObject[] {
  const reference = schema['$ref'];
  if (typeof reference === 'string') {
    const target = valueAt(root, reference.replace(/^#\//, '').split('/'));
    return isJsonObject(target) ? alternatives(root, target, value) : [];
  }
  const union = [schema['anyOf'], schema['oneOf'], schema['allOf']].find(Array.isArray);
  if (union === undefined) return [schema];
  const options = union.filter(isJsonObject).flatMap((option) => alternatives(root, option, value));
  const fitting = options.filter((option) => fitsConstants(option, value));
  return fitting.length > 0 ? fitting : options;
}

function fitsConstants(option: JsonObject, value: unknown): boolean {
  if (!isJsonObject(option['properties'])) return false;
  return Object.entries(option['properties']).every(([key, member]) => {
    if (!isJsonObject(member) || member['const'] === undefined) return true;
    return isJsonObject(value) && value[key] === member['const'];
  });
}
