import { createDirectoryFiles, formatFault, type LoadedConfig, withPromptFrom } from '../../config/index.ts';
import type { Definitions, PromptDefinition, SkillDefinition, WorkflowDefinition } from '../../contract/index.ts';
import { fail, ok, type Result } from '../../kernel/index.ts';

/** Workflow names of the two versions, left to right; they exist for the comparison alone. */
export const versionWorkflows = ['compare-now', 'compare-draft'] as const;

export interface Versions {
  /** The installation with both versions of the skill, each in a workflow of its own. */
  readonly config: LoadedConfig;
  /** Left to right, as the page shows them. */
  readonly shown: readonly { readonly name: string; readonly prompt: string }[];
}

/** The skill as it stands, and with the prompt of `file` in the place of its own; faults are told in words. */
export async function readVersions(
  config: LoadedConfig,
  skillName: string,
  file: string,
): Promise<Result<Versions, string>> {
  const { definitions } = config;
  const skill = definitions.skills.get(skillName);
  if (skill === undefined) {
    return fail(`no skill "${skillName}"; there are: ${[...definitions.skills.keys()].sort().join(' ')}`);
  }
  const now = skill.prompt === undefined ? undefined : definitions.prompts.get(skill.prompt);
  if (now === undefined) return fail(`skill "${skillName}" has no prompt, so there is nothing to compare`);
  const drafted = await withPromptFrom(createDirectoryFiles('/'), file, config);
  if (!drafted.ok) return fail(drafted.failure.map(formatFault).join('\n'));
  const draft = drafted.value.prompt;
  if (draft.prompt !== now.prompt) {
    return fail(`${file}: this is a version of "${draft.prompt}", but skill "${skillName}" uses "${now.prompt}"`);
  }
  return ok({
    config: { ...config, definitions: withBoth(definitions, skill, draft) },
    shown: [
      { name: nameOf(now, 'now'), prompt: wordsOf(now) },
      { name: nameOf(draft, file), prompt: wordsOf(draft) },
    ],
  });
}

function withBoth(definitions: Definitions, skill: SkillDefinition, draft: PromptDefinition): Definitions {
  const prompt = `${draft.prompt}-draft`;
  const drafted = `${skill.skill}-draft`;
  const [nowName, draftName] = versionWorkflows;
  return {
    ...definitions,
    prompts: new Map(definitions.prompts).set(prompt, { ...draft, prompt }),
    skills: new Map(definitions.skills).set(drafted, { ...skill, skill: drafted, prompt }),
    workflows: new Map(definitions.workflows)
      .set(nowName, workflowAround(nowName, skill, skill.skill))
      .set(draftName, workflowAround(draftName, skill, drafted)),
  };
}

/** One node that is given the skill's inputs as they are. */
function workflowAround(workflow: string, { input, title }: SkillDefinition, skill: string): WorkflowDefinition {
  const properties = input['properties'];
  const names = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  return {
    workflow,
    ...(title === undefined ? {} : { title }),
    input,
    nodes: {
      make: { kind: 'skill', skill, input: Object.fromEntries(names.map((name) => [name, `$.input.${name}`])) },
    },
    output: { result: '$.nodes.make.output' },
  };
}

function nameOf(prompt: PromptDefinition, where: string): string {
  return `${prompt.prompt} ${prompt.version === undefined ? '' : `v${prompt.version} `}(${where})`;
}

function wordsOf({ system, body, avoid }: PromptDefinition): string {
  return [system, body, avoid === undefined ? undefined : `avoid: ${avoid}`]
    .filter((part) => part !== undefined)
    .join('\n\n');
}
