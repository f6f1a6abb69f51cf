import type { AgentDefinition, ProviderDefinition } from './config.ts';
import type { PromptDefinition, SkillDefinition } from './skill.ts';
import type { WorkflowDefinition } from './workflow.ts';

/** Everything that configuration defines, by name. */
export interface Definitions {
  readonly workflows: ReadonlyMap<string, WorkflowDefinition>;
  readonly skills: ReadonlyMap<string, SkillDefinition>;
  readonly prompts: ReadonlyMap<string, PromptDefinition>;
  readonly providers: ReadonlyMap<string, ProviderDefinition>;
  readonly agents: ReadonlyMap<string, AgentDefinition>;
}

/** A fault in a definition: found by the loader or by the compiler; the loader knows the file and line of a path. */
export interface DefinitionFault {
  readonly of: { readonly kind: 'workflow' | 'skill' | 'prompt' | 'provider' | 'agent'; readonly name: string };
  /** Members and indexes from the top of the definition: `['nodes', 'draw', 'input', 'prompt']`. */
  readonly path: readonly (string | number)[];
  readonly what: string;
  readonly advice: string;
}
