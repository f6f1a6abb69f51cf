import type { DefinitionFault, Definitions, WorkflowDefinition } from '../../contract/index.ts';
import { fail, ok, type Result } from '../../kernel/index.ts';
import { compileGraph } from './compile-graph.ts';
import { compileSkill } from './compile-skill.ts';
import { createFaults, type Faults } from './faults.ts';
import { type CompiledPlan, hashOf, type PlanGraph, type PlanSkill } from './plan.ts';

export interface CompiledDefinitions {
  /** By workflow name. */
  readonly plans: ReadonlyMap<string, CompiledPlan>;
  /** Every skill, for planners and judges. */
  readonly skills: ReadonlyMap<string, PlanSkill>;
}

/**
 * Compiles every workflow, once, at load. Refused, all faults at once: unknown references, data paths that lead nowhere
 * or to a type that does not fit, cycles (the path named), branches that meet without a declared join, doubled edges,
 * unreadable schemas and rules. `functions` are the registered names, where known.
 */
export function compile(
  definitions: Definitions,
  known: { readonly functions?: ReadonlySet<string> } = {},
): Result<CompiledDefinitions, readonly DefinitionFault[]> {
  const faults = createFaults();
  const skills = new Map<string, PlanSkill>();
  for (const skill of definitions.skills.values()) {
    skills.set(skill.skill, compileSkill(skill, definitions, faults.of('skill', skill.skill)));
  }
  const graphs = new Map<string, PlanGraph>();
  for (const workflow of definitions.workflows.values()) {
    const graph = compileGraph(
      workflow,
      { definitions, functions: known.functions },
      faults.of('workflow', workflow.workflow),
    );
    graphs.set(workflow.workflow, graph);
  }
  checkNesting(definitions, faults);
  if (faults.list.length > 0) return fail(faults.list);
  const plans = new Map<string, CompiledPlan>();
  for (const name of graphs.keys()) plans.set(name, assemble(name, graphs, skills));
  return ok({ plans, skills });
}

/** A plan holds what its workflow can reach, and nothing else: an edit elsewhere leaves its hash alone. */
function assemble(
  workflow: string,
  graphs: ReadonlyMap<string, PlanGraph>,
  skills: ReadonlyMap<string, PlanSkill>,
): CompiledPlan {
  const usedGraphs: Record<string, PlanGraph> = {};
  const usedSkills: Record<string, PlanSkill> = {};
  const takeSkill = (name: string): void => {
    const skill = skills.get(name);
    if (skill === undefined || usedSkills[name] !== undefined) return;
    usedSkills[name] = skill;
    for (const check of skill.definition.verify ?? []) if ('judge' in check) takeSkill(check.judge);
  };
  const takeGraph = (name: string): void => {
    const graph = graphs.get(name);
    if (graph === undefined || usedGraphs[name] !== undefined) return;
    usedGraphs[name] = graph;
    for (const { definition } of graph.nodes) {
      if (definition.kind === 'skill') takeSkill(definition.skill);
      if (definition.kind === 'workflow') takeGraph(definition.workflow);
      if (definition.kind === 'map' && 'skill' in definition.body) takeSkill(definition.body.skill);
      if (definition.kind === 'map' && 'workflow' in definition.body) takeGraph(definition.body.workflow);
    }
  };
  takeGraph(workflow);
  const plan = { format: 1, workflow, graphs: usedGraphs, skills: usedSkills } as const;
  return { hash: hashOf(plan), plan };
}

/** Workflows that contain each other would never end. */
function checkNesting(definitions: Definitions, faults: Faults): void {
  const done = new Set<string>();
  const visit = (name: string, trail: readonly string[]): void => {
    if (trail.includes(name)) {
      const cycle = [...trail.slice(trail.indexOf(name)), name].join(' → ');
      const fault = faults.of('workflow', name);
      fault(['nodes'], `workflows contain each other: ${cycle}`, 'take one of them out of the circle');
      return;
    }
    if (done.has(name)) return;
    for (const inner of innerWorkflows(definitions.workflows.get(name))) visit(inner, [...trail, name]);
    done.add(name);
  };
  for (const name of definitions.workflows.keys()) visit(name, []);
}

function innerWorkflows(workflow: WorkflowDefinition | undefined): readonly string[] {
  return Object.values(workflow?.nodes ?? {}).flatMap((node) => {
    if (node.kind === 'workflow') return [node.workflow];
    return node.kind === 'map' && 'workflow' in node.body ? [node.body.workflow] : [];
  });
}
