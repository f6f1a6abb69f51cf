import { isJsonObject, type JsonObject } from '../kernel/index.ts';
import { type ConfigFault, faultAt } from './fault.ts';
import { valueAt } from './schema-faults.ts';
import { suggestName } from './suggest.ts';
import type { Variable, Variables } from './variables.ts';
import type { Path } from './yaml-file.ts';

/** Names that a record of the settings takes as keys (agents, providers, currencies), by the path of the record. */
export type RecordKeys = (path: Path) => readonly string[] | undefined;

export interface Override {
  readonly path: Path;
  readonly value: string | number | boolean;
  readonly variable: Variable;
}

/** Finds what each `GRIDLOOM__A__B` variable means in the settings' shape; what means nothing is a fault. */
export function readOverrides(
  variables: Variables,
  shape: JsonObject,
  current: unknown,
  recordKeys: RecordKeys,
): { readonly overrides: readonly Override[]; readonly faults: readonly ConfigFault[] } {
  const overrides: Override[] = [];
  const faults: ConfigFault[] = [];
  for (const variable of variables.values()) {
    if (!variable.name.startsWith('GRIDLOOM__')) continue;
    const parts = variable.name.slice('GRIDLOOM__'.length).split('__');
    const found = followParts(parts, shape, recordKeys);
    if (found.ok) {
      overrides.push({
        path: found.path,
        value: scalarOf(variable.value, valueAt(current, found.path), found.schema),
        variable,
      });
    } else {
      faults.push(faultAt(variable.place, `${variable.name} is no setting`, found.advice));
    }
  }
  return { overrides, faults };
}

/** The settings' value with the overrides put in; the original stays as it is. */
export function applyOverrides(value: unknown, overrides: readonly Override[]): unknown {
  return overrides.reduce((result, override) => setAt(result, override.path, override.value), value);
}

type Followed =
  | { readonly ok: true; readonly path: Path; readonly schema: JsonObject }
  | { readonly ok: false; readonly advice: string };

function followParts(parts: readonly string[], shape: JsonObject, recordKeys: RecordKeys): Followed {
  let schema = shape;
  const path: string[] = [];
  for (const part of parts) {
    const properties = isJsonObject(schema['properties']) ? schema['properties'] : undefined;
    const known = properties === undefined ? recordKeys(path) : Object.keys(properties);
    if (known === undefined) return { ok: false, advice: `${variableOf(path)} is a single value` };
    const name = known.find((candidate) => asPart(candidate) === part);
    const next = name === undefined ? undefined : (properties?.[name] ?? schema['additionalProperties']);
    if (name === undefined || !isJsonObject(next)) {
      return {
        ok: false,
        advice: suggestName(
          variableOf([...path, part]),
          known.map((key) => variableOf([...path, key])),
        ),
      };
    }
    path.push(name);
    schema = next;
  }
  const isGroup = schema['type'] === 'object';
  return isGroup ? { ok: false, advice: `it is a group; set one of its members` } : { ok: true, path, schema };
}

function asPart(key: string): string {
  return key.toUpperCase().replaceAll('-', '_');
}

function variableOf(path: readonly string[]): string {
  return `GRIDLOOM__${path.map(asPart).join('__')}`;
}

/** The kind of scalar that the setting has now, or that its schema asks for; the schema judges it afterwards. */
function scalarOf(text: string, current: unknown, schema: JsonObject): string | number | boolean {
  const wanted = current === undefined ? typeOfSchema(schema) : typeof current;
  if (wanted === 'boolean')
    return text === '1' || text === 'true' ? true : text === '0' || text === 'false' ? false : text;
  if (wanted === 'number' && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  return text;
}

function typeOfSchema(schema: JsonObject): string {
  const type = schema['type'];
  return type === 'integer' || type === 'number' ? 'number' : type === 'boolean' ? 'boolean' : 'string';
}

function setAt(target: unknown, path: Path, value: string | number | boolean): unknown {
  const [member, ...rest] = path;
  if (member === undefined) return value;
  const members = isJsonObject(target) ? target : {};
  return { ...members, [member]: setAt(members[member], rest, value) };
}
