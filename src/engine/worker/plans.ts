import type { Definitions, DefinitionFault, Failure } from '../../contract/index.ts';
import { canonicalJson, fail, isJsonObject, type JsonObject, ok, type Result } from '../../kernel/index.ts';
import type { EngineDeps } from '../deps.ts';
import { type CompiledDefinitions, compile } from '../graph/compile.ts';
import { createLivePlan, type LivePlan } from '../graph/live.ts';
import { hashOf, type Plan } from '../graph/plan.ts';
import type { StoreCommand } from '../ports/index.ts';

/** Plans: compiled when the definitions change, stored once, read back by hash for what was started earlier. */
export interface Plans {
  /** Compiles the definitions now, so that the first submission need not wait for it. Faults are told to submissions. */
  prepare(): void;
  /** The plan of one workflow, or of several with the planner that chooses. */
  current(workflows: readonly string[], planner: string | undefined): Result<LivePlan, Failure>;
  /** By hash; undefined when the store does not hold it, or holds something else under that name. */
  load(hash: string): Promise<LivePlan | undefined>;
  /** Stores the plan; nothing when this process has done so. */
  storeCommands(plan: LivePlan): readonly StoreCommand[];
  /** After the commit that stored it. */
  stored(plan: LivePlan): void;
}

const mostLivePlans = 256;

export function createPlans(deps: EngineDeps): Plans {
  const live = new Map<string, LivePlan>();
  const written = new Set<string>();
  let compiledFrom: Definitions | undefined;
  let compiled: Result<CompiledDefinitions, readonly DefinitionFault[]> | undefined;
  const keep = (hash: string, plan: Plan): LivePlan => {
    const known = live.get(hash);
    if (known !== undefined) return known;
    const made = createLivePlan(hash, plan);
    live.set(hash, made);
    const [oldest] = live.keys();
    if (live.size > mostLivePlans && oldest !== undefined) live.delete(oldest);
    return made;
  };
  const compileNow = (): Result<CompiledDefinitions, readonly DefinitionFault[]> => {
    const definitions = deps.definitions();
    if (compiled === undefined || definitions !== compiledFrom) {
      compiled = compile(definitions, { functions: new Set(deps.functions.keys()) });
      compiledFrom = definitions;
    }
    return compiled;
  };
  return {
    prepare: compileNow,
    current: (workflows, planner) => {
      const result = compileNow();
      if (!result.ok)
        return fail(
          configuration(
            `the definitions do not compile: ${result.failure.map((fault) => `${fault.of.name} ${fault.path.join('.')}: ${fault.what}`).join('; ')}`,
          ),
        );
      const parts = workflows.map((name) => result.value.plans.get(name));
      const missing = workflows.find((_name, at) => parts[at] === undefined);
      if (missing !== undefined) return fail(configuration(`no workflow named "${missing}"`));
      const [first] = parts;
      if (planner === undefined && first !== undefined) return ok(keep(first.hash, first.plan));
      const skill = planner === undefined ? undefined : result.value.skills.get(planner);
      if (planner === undefined || skill === undefined)
        return fail(configuration(`no planner skill named "${planner ?? ''}"`));
      const graphs = new Map(parts.flatMap((part) => Object.entries(part?.plan.graphs ?? {})));
      const skills = new Map([[planner, skill], ...parts.flatMap((part) => Object.entries(part?.plan.skills ?? {}))]);
      const plan: Plan = {
        format: 1,
        workflow: workflows.join('|'),
        graphs: Object.fromEntries(graphs),
        skills: Object.fromEntries(skills),
      };
      return ok(keep(hashOf(plan), plan));
    },
    load: async (hash) => {
      const known = live.get(hash);
      if (known !== undefined) return known;
      const blob = await deps.store.blob(hash);
      if (blob === undefined || hashOf(blob) !== hash || !isPlan(blob)) return undefined;
      written.add(hash);
      return keep(hash, blob);
    },
    storeCommands: (plan) =>
      written.has(plan.hash) ? [] : [{ type: 'put-blob', hash: plan.hash, value: asJson(plan.plan) }],
    stored: (plan) => {
      written.add(plan.hash);
    },
  };
}

/** What lies under its own hash was written by this program; the rest of its shape follows from the format's number. */
function isPlan(value: unknown): value is Plan {
  return isJsonObject(value) && value['format'] === 1 && isJsonObject(value['graphs']) && isJsonObject(value['skills']);
}

function asJson(plan: Plan): JsonObject {
  const value: unknown = JSON.parse(canonicalJson(plan));
  if (!isJsonObject(value)) throw new Error('a plan is an object');
  return value;
}

function configuration(message: string): Failure {
  return { kind: 'configuration', code: 'definitions', message };
}
