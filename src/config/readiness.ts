import { type Definitions, isCapabilityId, capability, type WorkflowDefinition } from '../contract/index.ts';
import { workflowsOf } from './agent-checks.ts';
import type { Environment } from './environment.ts';
import { type ConfigFault, faultAt } from './fault.ts';
import type { ReadProviders } from './providers.ts';
import { envFilePlace } from './variables.ts';

/**
 * In live mode every skill of a running agent needs a candidate whose key is set; else the key is named. A skill with a
 * degradation of its own can do without.
 */
export function checkReadiness(
  definitions: Definitions,
  environment: Environment,
  providers: ReadProviders,
): readonly ConfigFault[] {
  if (environment.mode !== 'live') return [];
  const active = new Set(providers.active.map((provider) => provider.id));
  return [...environment.tables.keys()].flatMap((agentName) => {
    const skills = [...skillsOfAgent(definitions, agentName)].flatMap((name) => definitions.skills.get(name) ?? []);
    return skills.flatMap((skill) => {
      const isPaid = isCapabilityId(skill.capability) && capability(skill.capability).paid;
      if (
        !isPaid ||
        skill.degrade !== undefined ||
        skill.candidates.some((candidate) => active.has(candidate.provider))
      )
        return [];
      const keys = new Set(skill.candidates.flatMap((candidate) => providers.inactive.get(candidate.provider) ?? []));
      const what = `${[...keys].join(' or ')} is missing`;
      return [faultAt(envFilePlace, what, `agent "${agentName}" needs it (${skill.capability}); set at least one`)];
    });
  });
}

/** Every skill that an agent's workflows, planners and judges may call. */
function skillsOfAgent(definitions: Definitions, agentName: string): ReadonlySet<string> {
  const skills = new Set<string>();
  const seen = new Set<string>();
  const addSkill = (name: string): void => {
    if (skills.has(name)) return;
    skills.add(name);
    for (const check of definitions.skills.get(name)?.verify ?? []) if ('judge' in check) addSkill(check.judge);
  };
  const addWorkflow = (name: string): void => {
    const workflow = definitions.workflows.get(name);
    if (workflow === undefined || seen.has(name)) return;
    seen.add(name);
    const used = usedBy(workflow);
    used.skills.forEach(addSkill);
    used.workflows.forEach(addWorkflow);
  };
  for (const stage of definitions.agents.get(agentName)?.stages ?? []) {
    workflowsOf(stage).forEach(addWorkflow);
    if (stage.planner !== undefined) addSkill(stage.planner);
  }
  return skills;
}

function usedBy(workflow: WorkflowDefinition): { skills: readonly string[]; workflows: readonly string[] } {
  const skills: string[] = [];
  const workflows: string[] = [];
  for (const node of Object.values(workflow.nodes)) {
    if (node.kind === 'skill') skills.push(node.skill);
    if (node.kind === 'workflow') workflows.push(node.workflow);
    if (node.kind === 'map' && 'skill' in node.body) skills.push(node.body.skill);
    if (node.kind === 'map' && 'workflow' in node.body) workflows.push(node.body.workflow);
  }
  return { skills, workflows };
}
