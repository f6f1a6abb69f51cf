import { z } from 'zod';
import { capability, type CapabilityId, type Failure } from '../../contract/index.ts';
import { fail, isJsonObject, type Json, type JsonObject, ok, type Result } from '../../kernel/index.ts';
import type { LiveSkill } from '../graph/live.ts';
import { renderTemplate } from './render.ts';

/** Everything that a skill's answer depends on, before any candidate is chosen. */
export interface SkillInputs {
  readonly input: JsonObject;
  /** Of the node and of this run; over the skill's defaults, below the prompt's model parameters. */
  readonly params: JsonObject;
  /** Reasons of refused outputs, oldest first. */
  readonly feedback: readonly string[];
}

/** The values that templates and degraded outputs may name. */
export function skillValues(skill: LiveSkill, inputs: SkillInputs): JsonObject {
  const defaults = skill.defaults.resolve({ input: inputs.input, params: inputs.params });
  return { ...defaults, ...inputs.params, ...inputs.input, feedback: inputs.feedback.join('\n') };
}

/**
 * Builds the capability's input, in the order of the skill's contract: input schema, parameters merged, prompt rendered
 * with its model parameters, then the capability's own schema.
 */
export function buildCapabilityInput(skill: LiveSkill, inputs: SkillInputs): Result<JsonObject, Failure> {
  const { definition, prompt } = skill.plan;
  const checked = skill.checkInput(inputs.input);
  if (!checked.ok)
    return fail(
      invalidInput('skill-input', `the input of skill ${definition.skill} does not fit its schema: ${checked.failure}`),
    );
  const values = skillValues(skill, inputs);
  for (const [name, variable] of Object.entries(prompt?.variables ?? {})) {
    const value = values[name];
    if (variable.required === true && (value === undefined || value === null || value === '')) {
      return fail(invalidInput('prompt-variable', `prompt ${prompt?.prompt ?? ''} needs "${name}", which is empty`));
    }
  }
  const rendered: Record<string, Json> = {};
  const body = prompt === undefined ? undefined : renderTemplate(prompt.body, values);
  if (body !== undefined)
    rendered['prompt'] = withFeedback(body, prompt?.variables['feedback'] !== undefined, inputs.feedback);
  else if (typeof values['prompt'] === 'string')
    rendered['prompt'] = withFeedback(values['prompt'], false, inputs.feedback);
  if (prompt?.system !== undefined) rendered['system'] = renderTemplate(prompt.system, values);
  const avoid = [prompt?.avoid === undefined ? '' : renderTemplate(prompt.avoid, values), avoidOf(values)].filter(
    (each) => each !== '',
  );
  if (avoid.length > 0) rendered['avoid'] = avoid.join(', ');
  return parseCapabilityInput(definition.capability, { ...values, ...prompt?.parameters, ...rendered });
}

function avoidOf(values: JsonObject): string {
  return typeof values['avoid'] === 'string' ? values['avoid'].trim() : '';
}

function withFeedback(prompt: string, isPlaced: boolean, feedback: readonly string[]): string {
  if (isPlaced || feedback.length === 0) return prompt;
  return `${prompt}\n\nThe previous result was refused. Mend this:\n${feedback.map((reason) => `- ${reason}`).join('\n')}`;
}

/** Only the members that the capability knows are passed on; nulls are left out; one picture may stand for a list. */
function parseCapabilityInput(id: CapabilityId, values: JsonObject): Result<JsonObject, Failure> {
  const { input } = capability(id);
  const known = input instanceof z.ZodObject ? Object.keys(input.shape) : Object.keys(values);
  const chosen: Record<string, Json> = {};
  for (const name of known) {
    const value = values[name];
    if (value === undefined || value === null || (value === '' && name !== 'prompt')) continue;
    chosen[name] = name === 'images' && isJsonObject(value) ? [value] : value;
  }
  const parsed = input.safeParse(chosen);
  if (!parsed.success) {
    return fail(
      invalidInput(
        'capability-input',
        `the input does not fit ${id}: ${z.prettifyError(parsed.error).replaceAll('\n', ' ')}`,
      ),
    );
  }
  return isJsonObject(parsed.data) ? ok(parsed.data) : fail(invalidInput('capability-input', `${id} takes an object`));
}

function invalidInput(code: string, message: string): Failure {
  return { kind: 'invalid-input', code, message };
}
