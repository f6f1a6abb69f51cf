import type { z } from 'zod';
import {
  type AgentDefinition,
  agentSchema,
  type DefinitionFault,
  type PromptDefinition,
  type ProviderDefinition,
  providersFileSchema,
  type SkillDefinition,
  skillSchema,
  type WorkflowDefinition,
  workflowSchema,
} from '../contract/index.ts';
import { isJsonObject } from '../kernel/index.ts';
import { type ConfigFault, faultAt } from './fault.ts';
import type { ConfigFiles } from './files.ts';
import { readPromptFile } from './prompts.ts';
import { readBySchema, valueAt } from './schema-faults.ts';
import { type Path, parseYamlFile, type YamlFile } from './yaml-file.ts';

const folders = {
  agents: 'config/agents',
  workflows: 'config/workflows',
  skills: 'config/skills',
  prompts: 'config/prompts',
} as const;
const providersFile = 'config/providers.yaml';

/** Definitions as they were written, each with the file and the place in it where it stands. */
export interface ReadDefinitions {
  readonly workflows: ReadonlyMap<string, Sourced<WorkflowDefinition>>;
  readonly skills: ReadonlyMap<string, Sourced<SkillDefinition>>;
  readonly prompts: ReadonlyMap<string, Sourced<PromptDefinition>>;
  readonly providers: ReadonlyMap<string, Sourced<ProviderDefinition>>;
  readonly agents: ReadonlyMap<string, Sourced<AgentDefinition>>;
  readonly faults: readonly ConfigFault[];
  /** Names as written, those of faulty definitions included: one fault must not make others of every use of its name. */
  readonly names: WrittenNames;
}

interface WrittenNames {
  readonly workflows: ReadonlySet<string>;
  readonly skills: ReadonlySet<string>;
  readonly agents: ReadonlySet<string>;
  readonly providers: ReadonlySet<string>;
}

export interface Sourced<T> {
  readonly definition: T;
  readonly source: YamlFile;
  /** Members from the top of the file to the definition. */
  readonly base: Path;
}

/** Reads every definition below `config/`; one broken file does not hide the faults of the others. */
export async function readDefinitions(
  files: ConfigFiles,
  partials: ReadonlyMap<string, string>,
): Promise<ReadDefinitions> {
  const faults: ConfigFault[] = [];
  const [workflows, skills, agents] = await Promise.all([
    readFolder(files, { folder: folders.workflows, schema: workflowSchema, member: 'workflow' }, faults),
    readFolder(files, { folder: folders.skills, schema: skillSchema, member: 'skill' }, faults),
    readFolder(files, { folder: folders.agents, schema: agentSchema, member: 'agent' }, faults),
  ]);
  const prompts = await readPrompts(files, partials, faults);
  const providers = await readProviders(files, faults);
  return {
    workflows: workflows.found,
    skills: skills.found,
    agents: agents.found,
    prompts,
    providers: providers.found,
    faults,
    names: {
      workflows: workflows.names,
      skills: skills.names,
      agents: agents.names,
      providers: providers.names,
    },
  };
}

/** `member` is the one that holds the definition's name. */
async function readFolder<Member extends string, T extends Readonly<Record<Member, string>>>(
  files: ConfigFiles,
  kind: { readonly folder: string; readonly schema: z.ZodType<T>; readonly member: Member },
  faults: ConfigFault[],
): Promise<{ found: ReadonlyMap<string, Sourced<T>>; names: ReadonlySet<string> }> {
  const found = new Map<string, Sourced<T>>();
  const names = new Set<string>();
  for (const file of await files.list(kind.folder, '.yaml')) {
    const source = parseYamlFile(file, (await files.read(file)) ?? '');
    faults.push(...source.faults);
    const written = valueAt(source.value, [kind.member]);
    names.add(typeof written === 'string' ? written : (/([^/]+)\.yaml$/.exec(file)?.[1] ?? file));
    if (source.value === undefined) continue;
    const read = readBySchema(source, kind.schema);
    faults.push(...read.faults);
    if (read.value === undefined) continue;
    keep(found, read.value[kind.member], { definition: read.value, source, base: [] }, faults);
  }
  return { found, names };
}

async function readPrompts(
  files: ConfigFiles,
  partials: ReadonlyMap<string, string>,
  faults: ConfigFault[],
): Promise<ReadonlyMap<string, Sourced<PromptDefinition>>> {
  const found = new Map<string, Sourced<PromptDefinition>>();
  for (const file of await files.list(folders.prompts, '.md')) {
    const read = readPromptFile(file, (await files.read(file)) ?? '', partials);
    faults.push(...read.faults);
    if (read.prompt !== undefined) {
      keep(found, read.prompt.prompt, { definition: read.prompt, source: read.source, base: [] }, faults);
    }
  }
  return found;
}

async function readProviders(
  files: ConfigFiles,
  faults: ConfigFault[],
): Promise<{ found: ReadonlyMap<string, Sourced<ProviderDefinition>>; names: ReadonlySet<string> }> {
  const text = await files.read(providersFile);
  if (text === undefined) {
    faults.push(faultAt({ file: providersFile, line: 1, column: 1 }, 'the file is missing', 'restore it'));
    return { found: new Map(), names: new Set() };
  }
  const source = parseYamlFile(providersFile, text);
  const written = valueAt(source.value, ['providers']);
  const names = new Set(isJsonObject(written) ? Object.keys(written) : []);
  faults.push(...source.faults);
  if (source.value === undefined) return { found: new Map(), names };
  const read = readBySchema(source, providersFileSchema);
  faults.push(...read.faults);
  const found = new Map(
    Object.entries(read.value?.providers ?? {}).map(([name, definition]) => [
      name,
      { definition, source, base: ['providers', name] },
    ]),
  );
  return { found, names };
}

function keep<T>(found: Map<string, Sourced<T>>, name: string, sourced: Sourced<T>, faults: ConfigFault[]): void {
  const earlier = found.get(name);
  if (earlier === undefined) {
    found.set(name, sourced);
    return;
  }
  const what = `"${name}" is already defined in ${earlier.source.file}`;
  faults.push(faultAt(sourced.source.placeOf([]), what, 'give one of them another name'));
}

/** Where a fault that the engine's compiler found stands in the files. */
export function locateIn(read: ReadDefinitions, fault: DefinitionFault): ConfigFault {
  const maps = {
    workflow: read.workflows,
    skill: read.skills,
    prompt: read.prompts,
    provider: read.providers,
    agent: read.agents,
  } as const;
  const found: Sourced<unknown> | undefined = maps[fault.of.kind].get(fault.of.name);
  const place =
    found === undefined
      ? { file: `${fault.of.kind} ${fault.of.name}`, line: 1, column: 1 }
      : found.source.placeOf([...found.base, ...fault.path]);
  return faultAt(place, fault.what, fault.advice);
}
