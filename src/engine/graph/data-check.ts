import { z } from 'zod';
import {
  capabilities,
  type Definitions,
  type NodeDefinition,
  type SkillDefinition,
  type WorkflowDefinition,
} from '../../contract/index.ts';
import { isJsonObject, type JsonObject } from '../../kernel/index.ts';
import { didYouMean, type Fault } from './faults.ts';
import { schemaAt, typesMeet } from './json-schema.ts';
import { mappingsOf } from './node-parts.ts';
import { everyElement, readMapping, type ValuePath } from './path.ts';

/** Checks that each data path leads somewhere, and that what is found there can fit the input that it feeds. */
export function checkDataPaths(workflow: WorkflowDefinition, definitions: Definitions, fault: Fault): void {
  const context = { workflow, definitions, fault };
  for (const [id, node] of Object.entries(workflow.nodes)) {
    for (const { place, mapping } of mappingsOf(node)) {
      for (const { at, path } of mapping.paths) {
        const found = schemaOf(path, ['nodes', id, ...place, ...at], context);
        const target = place[0] === 'input' && at.length === 1 ? inputSchema(node, definitions) : undefined;
        if (found !== undefined && target !== undefined)
          checkFit(found, target, String(at[0]), ['nodes', id, ...place, ...at], context);
      }
    }
    checkRequired(id, node, definitions, fault);
  }
  const output = readMapping(workflow.output);
  for (const each of output.faults) fault(['output', ...each.at], each.what, 'see the data paths');
  for (const { at, path } of output.paths) {
    const isKnown = path.root !== 'nodes' || Object.hasOwn(workflow.nodes, String(path.steps[0]));
    if (!isKnown)
      fault(
        ['output', ...at],
        `no node named "${String(path.steps[0])}"`,
        didYouMean(String(path.steps[0]), Object.keys(workflow.nodes)),
      );
    else schemaOf(path, ['output', ...at], context);
  }
}

interface CheckContext {
  readonly workflow: WorkflowDefinition;
  readonly definitions: Definitions;
  readonly fault: Fault;
}

function schemaOf(path: ValuePath, place: readonly (string | number)[], context: CheckContext): JsonObject | undefined {
  let schema: JsonObject | undefined;
  let steps = path.steps;
  if (path.root === 'input') schema = context.workflow.input;
  else if (path.root === 'nodes') {
    const node = context.workflow.nodes[String(path.steps[0])];
    if (node === undefined || path.steps[1] === 'branch') return undefined;
    schema = outputSchema(node, context.definitions);
    steps = path.steps.slice(2);
  } else return undefined;
  for (const [at, step] of steps.entries()) {
    if (schema === undefined) return undefined;
    const next = schemaAt(schema, step);
    if (next === 'unknown') return undefined;
    if (next === 'absent') {
      const names = isJsonObject(schema['properties']) ? Object.keys(schema['properties']) : [];
      context.fault(
        place,
        `${path.text} leads nowhere: there is no "${String(step === everyElement ? '[*]' : step)}"`,
        didYouMean(String(step), names),
      );
      return undefined;
    }
    schema = next;
    if (step === everyElement && at === steps.length - 1) return { type: 'array', items: schema };
    if (step === everyElement) return undefined;
  }
  return schema;
}

function checkFit(
  source: JsonObject,
  target: JsonObject,
  member: string,
  place: readonly (string | number)[],
  context: CheckContext,
): void {
  const wanted = schemaAt(target, member);
  if (wanted === 'absent') {
    const names = isJsonObject(target['properties']) ? Object.keys(target['properties']) : [];
    if (target['additionalProperties'] === false)
      context.fault(place, `the input has no "${member}"`, didYouMean(member, names));
    return;
  }
  if (wanted !== 'unknown' && !typesMeet(source, wanted)) {
    context.fault(
      place,
      `a ${typeText(source)} feeds "${member}", which takes a ${typeText(wanted)}`,
      'map a value of that type',
    );
  }
}

function typeText(schema: JsonObject): string {
  const type = schema['type'];
  return Array.isArray(type) ? type.join(' or ') : typeof type === 'string' ? type : 'value';
}

function inputSchema(node: NodeDefinition, definitions: Definitions): JsonObject | undefined {
  if (node.kind === 'skill') return definitions.skills.get(node.skill)?.input;
  if (node.kind === 'workflow') return definitions.workflows.get(node.workflow)?.input;
  if (node.kind !== 'map') return undefined;
  return 'skill' in node.body
    ? definitions.skills.get(node.body.skill)?.input
    : definitions.workflows.get(node.body.workflow)?.input;
}

function checkRequired(id: string, node: NodeDefinition, definitions: Definitions, fault: Fault): void {
  const required = inputSchema(node, definitions)?.['required'];
  if (!Array.isArray(required)) return;
  for (const name of required) {
    if (typeof name !== 'string' || Object.hasOwn(node.input ?? {}, name)) continue;
    fault(
      ['nodes', id, 'input'],
      `"${name}" is required and nothing is mapped to it`,
      `add ${name}: $.input… or $.nodes…`,
    );
  }
}

/** What is known of a node's output before it has run. */
function outputSchema(node: NodeDefinition, definitions: Definitions): JsonObject | undefined {
  if (node.kind === 'condition') return { type: 'object', properties: { branch: { type: 'string' } } };
  if (node.kind === 'function') return undefined;
  if (node.kind === 'skill') return skillOutputSchema(definitions.skills.get(node.skill));
  if (node.kind === 'workflow') return workflowOutputSchema(definitions.workflows.get(node.workflow));
  const item =
    'skill' in node.body
      ? skillOutputSchema(definitions.skills.get(node.body.skill))
      : workflowOutputSchema(definitions.workflows.get(node.body.workflow));
  const items = item === undefined ? { type: 'array' } : { type: 'array', items: item };
  return { type: 'object', properties: { items, failed: { type: 'array' }, count: { type: 'integer' } } };
}

function workflowOutputSchema(workflow: WorkflowDefinition | undefined): JsonObject | undefined {
  if (workflow === undefined) return undefined;
  return { type: 'object', properties: Object.fromEntries(Object.keys(workflow.output).map((name) => [name, {}])) };
}

function skillOutputSchema(skill: SkillDefinition | undefined): JsonObject | undefined {
  if (skill === undefined) return undefined;
  if (skill.output !== undefined) return skill.output;
  if (skill.parse?.as === 'json') return undefined;
  if (skill.parse?.as === 'sections') {
    const properties = Object.fromEntries(Object.keys(skill.parse.sections).map((name) => [name, { type: 'string' }]));
    return { type: 'object', properties };
  }
  const isText = skill.capability === 'text.generate' || skill.capability === 'image.analyze';
  if (isText) return { type: 'object', properties: { text: { type: 'string' } } };
  const schema: unknown = z.toJSONSchema(capabilities[skill.capability].output, { unrepresentable: 'any' });
  return isJsonObject(schema) ? { type: 'object', properties: schema['properties'] } : undefined;
}
