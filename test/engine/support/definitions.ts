import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import {
  type Definitions,
  type PromptDefinition,
  promptSchema,
  type ProviderDefinition,
  providerSchema,
  type Settings,
  settingsSchema,
  skillSchema,
  workflowSchema,
} from '../../../src/contract/index.ts';

/** Parts of a configuration as one would write them in YAML; parsed by the real schemas. */
export interface Draft {
  readonly workflows: readonly object[];
  readonly skills?: readonly object[];
  readonly prompts?: readonly (object & { readonly body: string })[];
  readonly providers?: Readonly<Record<string, object>>;
}

export function define(draft: Draft): Definitions {
  const workflows = draft.workflows.map((each) => workflowSchema.parse(each));
  const skills = (draft.skills ?? []).map((each) => skillSchema.parse(each));
  const prompts = (draft.prompts ?? []).map(
    ({ body, ...rest }): PromptDefinition => ({ ...promptSchema.parse(rest), body }),
  );
  const providers = new Map<string, ProviderDefinition>();
  for (const [name, each] of Object.entries(draft.providers ?? { acme: provider('acme') }))
    providers.set(name, providerSchema.parse(each));
  return {
    workflows: new Map(workflows.map((each) => [each.workflow, each])),
    skills: new Map(skills.map((each) => [each.skill, each])),
    prompts: new Map(prompts.map((each) => [each.prompt, each])),
    providers,
    agents: new Map(),
  };
}

/** An account with a model a capability: `text`, `image`, `video`. */
export function provider(name: string, extra: object = {}): object {
  const implementation = `${name}.tasks`;
  return {
    vendor: name,
    key: 'x',
    base_url: 'https://acme.example',
    models: {
      text: { capability: ['text.generate', 'image.analyze'], implementation, model: 'text-1' },
      image: {
        capability: ['image.generate'],
        implementation,
        model: 'image-1',
        price: { currency: 'CNY', dated: '2026-01-01', items: [{ unit: 'images', amount: '0.1' }] },
      },
      video: {
        capability: ['video.generate'],
        implementation,
        model: 'video-1',
        price: { currency: 'CNY', dated: '2026-01-01', items: [{ unit: 'calls', amount: '1' }] },
      },
    },
    ...extra,
  };
}

/** A picture skill over the given candidates. */
export function imageSkill(name: string, extra: object = {}): object {
  return {
    skill: name,
    capability: 'image.generate',
    input: { type: 'object', properties: { prompt: { type: 'string' } } },
    candidates: [{ provider: 'acme', model: 'image' }],
    ...extra,
  };
}

export function textSkill(name: string, extra: object = {}): object {
  return {
    skill: name,
    capability: 'text.generate',
    input: { type: 'object', properties: { prompt: { type: 'string' } } },
    candidates: [{ provider: 'acme', model: 'text' }],
    ...extra,
  };
}

/** One picture from `$.input.prompt`. */
export function imageWorkflow(name = 'draw', extra: object = {}): object {
  return {
    workflow: name,
    input: { type: 'object', properties: { prompt: { type: 'string' } } },
    nodes: { draw: { kind: 'skill', skill: 'painter', input: { prompt: '$.input.prompt' } } },
    output: { images: '$.nodes.draw.output.images' },
    ...extra,
  };
}

export function shippedSettings(change: (settings: Settings) => Partial<Settings> = () => ({})): Settings {
  const settings = settingsSchema.parse(parse(readFileSync('config/gridloom.yaml', 'utf8')));
  return { ...settings, ...change(settings) };
}
