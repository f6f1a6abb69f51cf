import type { NodeDefinition } from '../../contract/index.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kernel/index.ts';
import { type Expression, parseExpression } from './expression.ts';
import { type Check, compileSchema } from './json-schema.ts';
import { fallbackNode } from './node-parts.ts';
import { isPathText, type Mapping, parsePath, readMapping, readPath, type Scope } from './path.ts';
import type { Plan, PlanEdge, PlanGraph, PlanSkill } from './plan.ts';

/** A plan made ready to run: mappings, rules and schemas compiled, dependents known. Shared by all its executions. */
export interface LivePlan {
  readonly hash: string;
  readonly plan: Plan;
  graph(name: string): LiveGraph;
  skill(name: string): LiveSkill;
}

export interface LiveGraph {
  readonly name: string;
  readonly nodes: ReadonlyMap<string, LiveNode>;
  readonly maxConcurrency: number;
  readonly deadlineMs: number | undefined;
  readonly keepPartial: boolean;
  readonly checkInput: Check;
  /** The body of a map over a skill: one node whose path is the frame's own, whose output is the frame's. */
  readonly isSingle: boolean;
  resolveOutput(scope: Scope): JsonObject;
}

export interface LiveNode {
  readonly id: string;
  readonly title: string;
  readonly definition: NodeDefinition;
  readonly join: 'all' | 'any';
  readonly incoming: readonly PlanEdge[];
  readonly dependents: readonly string[];
  readonly fallbackNode: string | undefined;
  /** The nodes that fall back on this one. */
  readonly fallbackOf: readonly string[];
  readonly preset: Mapping | undefined;
  readonly branches: readonly (readonly [string, Expression])[];
  resolveInput(scope: Scope): JsonObject;
  resolveParams(scope: Scope): JsonObject;
  /** The list of a map. */
  resolveList(scope: Scope): Json | undefined;
}

export interface LiveSkill {
  readonly plan: PlanSkill;
  readonly checkInput: Check;
  readonly checkOutput: Check | undefined;
  readonly defaults: Mapping;
  readonly rules: readonly LiveRule[];
}

export type LiveRule =
  | { readonly kind: 'cel'; readonly rule: Expression; readonly reason: string }
  | { readonly kind: 'judge'; readonly judge: string; readonly input: Mapping | undefined };

const nothing: JsonObject = {};

export function createLivePlan(hash: string, plan: Plan): LivePlan {
  const graphs = new Map<string, LiveGraph>();
  const skills = new Map<string, LiveSkill>();
  return {
    hash,
    plan,
    graph: (name) => remember(graphs, name, () => liveGraph(needed(plan.graphs[name], `workflow ${name}`))),
    skill: (name) => remember(skills, name, () => liveSkill(needed(plan.skills[name], `skill ${name}`))),
  };
}

function needed<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`the plan does not hold ${what}`);
  return value;
}

function remember<T>(cache: Map<string, T>, name: string, make: () => T): T {
  const known = cache.get(name);
  if (known !== undefined) return known;
  const made = make();
  cache.set(name, made);
  return made;
}

function liveGraph(graph: PlanGraph): LiveGraph {
  const dependents = new Map<string, string[]>(graph.nodes.map((node) => [node.id, []]));
  for (const node of graph.nodes) {
    for (const from of new Set(node.incoming.map((edge) => edge.from))) dependents.get(from)?.push(node.id);
  }
  const output = readMapping(graph.output);
  return {
    name: graph.name,
    nodes: new Map(
      graph.nodes.map((node) => [
        node.id,
        liveNode(node.id, node.definition, node.incoming, dependents.get(node.id) ?? []),
      ]),
    ),
    maxConcurrency: graph.maxConcurrency ?? Number.POSITIVE_INFINITY,
    deadlineMs: graph.deadlineMs,
    keepPartial: graph.keepPartial,
    checkInput: checkOf(graph.input),
    isSingle: false,
    resolveOutput: (scope) => output.resolve(scope),
  };
}

function liveNode(
  id: string,
  definition: NodeDefinition,
  incoming: readonly PlanEdge[],
  dependents: readonly string[],
): LiveNode {
  const input = readMapping(definition.input ?? nothing);
  const params = readMapping(paramsOf(definition) ?? nothing);
  const over = definition.kind === 'map' && isPathText(definition.over) ? parsePath(definition.over) : undefined;
  const fallback = typeof definition.on_failure === 'object' ? definition.on_failure.fallback : undefined;
  return {
    id,
    title: definition.title ?? id,
    definition,
    join: definition.join ?? 'all',
    incoming,
    dependents,
    fallbackNode: fallbackNode(definition),
    fallbackOf: incoming.filter((edge) => edge.kind === 'fallback').map((edge) => edge.from),
    preset: typeof fallback === 'object' && 'preset' in fallback ? readMapping(fallback.preset) : undefined,
    branches:
      definition.kind === 'condition'
        ? Object.entries(definition.branches).map(([name, rule]) => [name, ruleOf(rule, ['input'])] as const)
        : [],
    resolveInput: (scope) => input.resolve(scope),
    resolveParams: (scope) => params.resolve(scope),
    resolveList: (scope) => (over?.ok === true ? readPath(over.value, scope) : undefined),
  };
}

function paramsOf(definition: NodeDefinition): Extract<NodeDefinition, { kind: 'skill' }>['params'] {
  if (definition.kind === 'skill') return definition.params;
  return definition.kind === 'map' && 'skill' in definition.body ? definition.body.params : undefined;
}

/**
 * The graph of one item of a map over a skill: a single skill node that takes the frame's input as it is. Policies of
 * the map node (timeout, retry) hold for each item; what happens on an item's failure is the map's business.
 */
export function singleSkillGraph(skill: string, map: LiveNode): LiveGraph {
  const { timeout, retry, params } = { ...map.definition, params: paramsOf(map.definition) };
  const definition: NodeDefinition = {
    kind: 'skill',
    skill,
    ...(params === undefined ? {} : { params }),
    ...(timeout === undefined ? {} : { timeout }),
    ...(retry === undefined ? {} : { retry }),
  };
  const node: LiveNode = {
    ...liveNode(singleNodeId, definition, [], []),
    title: map.title,
    resolveInput: (scope) => (isJsonObject(scope.input) ? scope.input : nothing),
  };
  return {
    name: skill,
    nodes: new Map([[singleNodeId, node]]),
    maxConcurrency: 1,
    deadlineMs: undefined,
    keepPartial: false,
    checkInput: () => ({ ok: true, value: undefined }),
    isSingle: true,
    resolveOutput: (scope) => {
      const output = scope.node?.(singleNodeId)?.output;
      return isJsonObject(output) ? output : nothing;
    },
  };
}

const singleNodeId = 'item';

function liveSkill(plan: PlanSkill): LiveSkill {
  const { definition } = plan;
  return {
    plan,
    checkInput: checkOf(definition.input),
    checkOutput: definition.output === undefined ? undefined : checkOf(definition.output),
    defaults: readMapping(definition.defaults ?? nothing),
    rules: (definition.verify ?? []).map((check) =>
      'cel' in check
        ? { kind: 'cel', rule: ruleOf(check.cel, ['input', 'output']), reason: check.reason }
        : {
            kind: 'judge',
            judge: check.judge,
            input: check.input === undefined ? undefined : readMapping(check.input),
          },
    ),
  };
}

/** Compiled before, when the plan was made: a fault here is a broken blob. */
function checkOf(schema: JsonObject): Check {
  const compiled = compileSchema(schema);
  if (!compiled.ok) throw new Error(`a stored schema does not compile: ${compiled.failure}`);
  return compiled.value;
}

function ruleOf(text: string, variables: readonly string[]): Expression {
  const parsed = parseExpression(text, variables);
  if (!parsed.ok) throw new Error(`a stored rule does not parse: ${parsed.failure}`);
  return parsed.value;
}
