import type { AgentDefinition, StageDefinition, WorkflowDefinition } from '../contract/index.ts';
import { isJsonObject } from '../kernel/index.ts';
import type { ReadDefinitions, Sourced } from './definitions.ts';
import { switchNames } from './environment.ts';
import { type ConfigFault, faultAt } from './fault.ts';
import { suggestName } from './suggest.ts';
import type { Path } from './yaml-file.ts';

type Report = (path: Path, what: string, advice: string) => void;

/** What the schema cannot see: names that an agent uses must exist, and data must be there when a stage needs it. */
export function checkAgents(read: ReadDefinitions): readonly ConfigFault[] {
  return [...read.agents.values()].flatMap((agent) => {
    const faults: ConfigFault[] = [];
    const report: Report = (path, what, advice) => faults.push(faultAt(agent.source.placeOf(path), what, advice));
    checkColumns(agent, report);
    agent.definition.stages.forEach((stage, index) => {
      checkStage(read, agent.definition, stage, index, report);
    });
    return faults;
  });
}

/** Names of the workflows that a stage may run. */
export function workflowsOf(stage: StageDefinition): readonly string[] {
  return typeof stage.workflow === 'string' ? [stage.workflow] : stage.workflow;
}

function checkColumns(agent: Sourced<AgentDefinition>, report: Report): void {
  const owners = new Map<string, string>();
  const claim = (column: string, path: Path): void => {
    const owner = owners.get(column);
    if (owner !== undefined)
      report(path, `column "${column}" is already used by ${owner}`, 'give it a column of its own');
    owners.set(column, path.slice(0, 2).join('.'));
  };
  Object.entries(agent.definition.inputs).forEach(([name, input]) => {
    claim(input.column, ['inputs', name, 'column']);
  });
  agent.definition.stages.forEach((stage, index) => {
    stage.artifacts.forEach((artifact, place) => {
      claim(artifact.column, ['stages', index, 'artifacts', place, 'column']);
    });
  });
}

function checkStage(
  read: ReadDefinitions,
  agent: AgentDefinition,
  stage: StageDefinition,
  index: number,
  report: Report,
): void {
  const at = (...path: Path): Path => ['stages', index, ...path];
  const names = workflowsOf(stage);
  const known = read.names.workflows;
  names.forEach((name, place) => {
    if (known.has(name)) return;
    const path = typeof stage.workflow === 'string' ? at('workflow') : at('workflow', place);
    report(path, `there is no workflow "${name}"`, suggestName(name, known));
  });
  if (stage.planner !== undefined && !read.names.skills.has(stage.planner)) {
    report(at('planner'), `there is no skill "${stage.planner}"`, suggestName(stage.planner, read.names.skills));
  }
  if (names.length > 1 && stage.planner === undefined) {
    report(at('workflow'), 'several workflows and nobody to choose', 'name a planner skill');
  }
  checkChoice(agent, stage, at, report);
  if (typeof stage.confirm === 'object' && !switchNames.includes(stage.confirm.setting)) {
    report(
      at('confirm', 'setting'),
      `there is no switch "${stage.confirm.setting}"`,
      suggestName(stage.confirm.setting, switchNames),
    );
  }
  checkPaths(agent, stage, index, report);
  for (const name of names) {
    const workflow = read.workflows.get(name)?.definition;
    if (workflow !== undefined) checkFit(stage, workflow, at, report);
  }
}

function checkChoice(
  agent: AgentDefinition,
  stage: StageDefinition,
  at: (...path: Path) => Path,
  report: Report,
): void {
  const choice = stage.choose_by;
  if (choice === undefined) return;
  if (agent.inputs[choice.input] === undefined) {
    report(
      at('choose_by', 'input'),
      `there is no input "${choice.input}"`,
      suggestName(choice.input, Object.keys(agent.inputs)),
    );
  }
  for (const [value, name] of Object.entries(choice.values)) {
    if (!workflowsOf(stage).includes(name)) {
      report(
        at('choose_by', 'values', value),
        `"${name}" is not among the stage's workflows`,
        suggestName(name, workflowsOf(stage)),
      );
    }
  }
}

/** `$.inputs.x`, `$.artifacts.列名`, `$.feedback` and `$.row` are all that a stage can be given. */
function checkPaths(agent: AgentDefinition, stage: StageDefinition, index: number, report: Report): void {
  const inputs = Object.keys(agent.inputs);
  const earlier = agent.stages
    .slice(0, index + 1)
    .flatMap((other) => other.artifacts.map((artifact) => artifact.column));
  for (const [member, value] of Object.entries(stage.input)) {
    const path: Path = ['stages', index, 'input', member];
    for (const reference of referencesIn(value)) {
      const [root, name = ''] = reference.split(/\.(.*)/s);
      if (root === 'inputs' && !inputs.includes(name)) {
        report(path, `there is no input "${name}"`, suggestName(name, inputs));
      } else if (root === 'artifacts' && !earlier.includes(name)) {
        report(path, `no stage up to here makes "${name}"`, suggestName(name, earlier));
      } else if (root !== 'inputs' && root !== 'artifacts' && reference !== 'feedback' && reference !== 'row') {
        report(path, `"$.${reference}" does not exist here`, 'use $.inputs.…, $.artifacts.…, $.feedback or $.row');
      }
    }
  }
}

function referencesIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.startsWith('$.') ? [value.slice(2)] : [];
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  return isJsonObject(value) ? Object.values(value).flatMap(referencesIn) : [];
}

/** The workflow must take what the stage gives, get what it requires, and yield what the artifacts are made from. */
function checkFit(
  stage: StageDefinition,
  workflow: WorkflowDefinition,
  at: (...path: Path) => Path,
  report: Report,
): void {
  const properties = isJsonObject(workflow.input['properties']) ? Object.keys(workflow.input['properties']) : [];
  const required = Array.isArray(workflow.input['required']) ? workflow.input['required'].map(String) : [];
  const name = workflow.workflow;
  for (const member of Object.keys(stage.input)) {
    if (!properties.includes(member)) {
      report(at('input', member), `workflow "${name}" has no input "${member}"`, suggestName(member, properties));
    }
  }
  for (const member of required.filter((needed) => !(needed in stage.input))) {
    report(at('input'), `workflow "${name}" needs "${member}"`, 'give it under "input"');
  }
  stage.artifacts.forEach((artifact, place) => {
    if (artifact.from in workflow.output) return;
    report(
      at('artifacts', place, 'from'),
      `workflow "${name}" has no output "${artifact.from}"`,
      suggestName(artifact.from, Object.keys(workflow.output)),
    );
  });
}
