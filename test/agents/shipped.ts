import type { PromptDefinition, SkillDefinition, WorkflowDefinition } from '../../src/contract/index.ts';
import { compile } from '../../src/engine/index.ts';
import { createFunctions, createSharpPictureWorker } from '../../src/functions/index.ts';
import { createMemorySpool } from '../../src/media/index.ts';
import { loadGood } from '../config/installation.ts';

export const config = await loadGood();
export const { definitions, redLines } = config;
export const functions = createFunctions({
  redLines,
  pictures: createSharpPictureWorker(),
  media: createMemorySpool(),
});

export function compiled() {
  return compile(definitions, { functions: new Set(functions.keys()) });
}

export function skill(name: string): SkillDefinition {
  const found = definitions.skills.get(name);
  if (found === undefined) throw new Error(`no skill ${name}`);
  return found;
}

export function promptOf(definition: SkillDefinition): PromptDefinition {
  const found = definitions.prompts.get(definition.prompt ?? '');
  if (found === undefined) throw new Error(`skill ${definition.skill} has no prompt`);
  return found;
}

export const skills: readonly SkillDefinition[] = [...definitions.skills.values()];
export const workflows: readonly WorkflowDefinition[] = [...definitions.workflows.values()];

export function isMediaSkill(definition: SkillDefinition): boolean {
  return definition.capability === 'image.generate' || definition.capability === 'video.generate';
}
