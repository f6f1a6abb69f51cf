import { fail, isJsonObject, type Json, type JsonObject, ok, type Result } from '../../kernel/index.ts';

/**
 * Data paths: `$.input.x`, `$.nodes.draw.output.images[0]`, `$.item.text`, `$.index`, `$.params.x`, `$.feedback`,
 * `$.output.x`. `[*]` takes every element of a list; the result is then a flat list of all that was found. Names with
 * odd characters go in quotes: `$.input["a.b"]`.
 */
export interface ValuePath {
  readonly text: string;
  readonly root: PathRoot;
  readonly steps: readonly PathStep[];
}

export type PathStep = string | number | typeof everyElement;
export const everyElement = Symbol('every element');
const roots = ['input', 'nodes', 'item', 'index', 'params', 'feedback', 'output'] as const;
export type PathRoot = (typeof roots)[number];

/** Where paths find their values. A node's output is asked for by id. */
export interface Scope {
  readonly input?: Json;
  readonly node?: (id: string) => { readonly output: Json | undefined; readonly branch?: string } | undefined;
  readonly item?: Json;
  readonly index?: number;
  readonly params?: Json;
  readonly feedback?: Json;
  readonly output?: Json;
}

const token = /\.([^.[\]"\s]+)|\[(\d+)\]|\[(\*)\]|\["([^"]*)"\]/y;

/** A string of a mapping is a path when it begins with `$.`; `$$.` writes a literal that begins with `$.`. */
export function isPathText(text: string): boolean {
  return text.startsWith('$.') || text.startsWith('$[');
}

export function parsePath(text: string): Result<ValuePath, string> {
  const steps: PathStep[] = [];
  let position = 1;
  while (position < text.length) {
    token.lastIndex = position;
    const match = token.exec(text);
    if (match === null) return fail(`"${text}" is not a data path: cannot read on at "${text.slice(position)}"`);
    const [, name, index, every, quoted] = match;
    steps.push(every === undefined ? (index === undefined ? (name ?? quoted ?? '') : Number(index)) : everyElement);
    position = token.lastIndex;
  }
  const root = roots.find((known) => known === steps[0]);
  if (root === undefined) return fail(`"${text}" must begin with $.${roots.join(', $.')}`);
  if (root === 'nodes' && (typeof steps[1] !== 'string' || (steps[2] !== 'output' && steps[2] !== 'branch'))) {
    return fail(`"${text}" must read $.nodes.<id>.output… or $.nodes.<id>.branch`);
  }
  return ok({ text, root, steps: steps.slice(1) });
}

/** The value at a path, or undefined where it leads nowhere. */
export function readPath(path: ValuePath, scope: Scope): Json | undefined {
  if (path.root === 'nodes') {
    const node = scope.node?.(String(path.steps[0]));
    if (node === undefined) return undefined;
    return path.steps[1] === 'branch' ? node.branch : walk(node.output, path.steps, 2);
  }
  return walk(scope[path.root], path.steps, 0);
}

function walk(value: Json | undefined, steps: readonly PathStep[], from: number): Json | undefined {
  let current = value;
  for (let at = from; at < steps.length; at += 1) {
    const step = steps[at];
    if (step === everyElement) {
      if (!isJsonList(current)) return undefined;
      const found = current.map((element) => walk(element, steps, at + 1));
      const isNested = steps.slice(at + 1).includes(everyElement);
      const flat: Json[] = [];
      for (const each of found) {
        if (each === undefined || each === null) continue;
        if (isNested && isJsonList(each)) flat.push(...each);
        else flat.push(each);
      }
      return flat;
    }
    current = step === undefined ? undefined : member(current, step);
    if (current === undefined) return undefined;
  }
  return current;
}

export function isJsonList(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

function member(value: Json | undefined, step: string | number): Json | undefined {
  if (typeof step === 'number') return isJsonList(value) ? value[step] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}

/** A mapping, read once: the paths in it, and the function that fills them in. */
export interface Mapping {
  readonly paths: readonly { readonly at: readonly (string | number)[]; readonly path: ValuePath }[];
  readonly faults: readonly { readonly at: readonly (string | number)[]; readonly what: string }[];
  resolve(scope: Scope): JsonObject;
}

type Filler = (scope: Scope) => Json | undefined;

/**
 * `{"$first": [a, b]}` gives the first of its values that is there: what a declared join reads. Members that lead
 * nowhere are left out.
 */
export function readMapping(mapping: JsonObject): Mapping {
  const paths: Mapping['paths'][number][] = [];
  const faults: Mapping['faults'][number][] = [];
  const filler = (value: Json | undefined, at: readonly (string | number)[]): Filler => {
    if (typeof value === 'string') {
      if (value.startsWith('$$')) return () => value.slice(1);
      if (!isPathText(value)) return () => value;
      const parsed = parsePath(value);
      if (!parsed.ok) {
        faults.push({ at, what: parsed.failure });
        return () => undefined;
      }
      paths.push({ at, path: parsed.value });
      return (scope) => readPath(parsed.value, scope);
    }
    if (isJsonList(value)) return listFiller(value.map((element, index) => filler(element, [...at, index])));
    if (isJsonObject(value)) return objectFiller(value, at, filler);
    return () => value;
  };
  const fill = objectMembers(mapping, [], filler);
  return { paths, faults, resolve: fill };
}

function listFiller(elements: readonly Filler[]): Filler {
  return (scope) => {
    const list: Json[] = [];
    for (const element of elements) {
      const value = element(scope);
      if (value !== undefined) list.push(value);
    }
    return list;
  };
}

type MakeFiller = (value: Json | undefined, at: readonly (string | number)[]) => Filler;

function objectFiller(value: JsonObject, at: readonly (string | number)[], filler: MakeFiller): Filler {
  const choices = value['$first'];
  if (!isJsonList(choices) || Object.keys(value).length !== 1) return objectMembers(value, at, filler);
  const fillers = choices.map((choice, index) => filler(choice, [...at, '$first', index]));
  return (scope) => {
    for (const each of fillers) {
      const found = each(scope);
      if (found !== undefined && found !== null) return found;
    }
    return undefined;
  };
}

function objectMembers(
  value: JsonObject,
  at: readonly (string | number)[],
  filler: MakeFiller,
): (scope: Scope) => JsonObject {
  const members = Object.entries(value).map(([name, each]) => [name, filler(each, [...at, name])] as const);
  return (scope) => {
    const filled: Record<string, Json> = {};
    for (const [name, each] of members) {
      const found = each(scope);
      if (found !== undefined) filled[name] = found;
    }
    return filled;
  };
}
