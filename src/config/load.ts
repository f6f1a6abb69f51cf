import type { DefinitionFault, Definitions, Settings } from '../contract/index.ts';
import { fail, ok, type Result } from '../kernel/index.ts';
import { checkAgents } from './agent-checks.ts';
import { findMisspelt } from './check-variables.ts';
import { locateIn, type ReadDefinitions, readDefinitions, type Sourced } from './definitions.ts';
import { type Environment, type Mode, modeOf, readEnvironment } from './environment.ts';
import { type ConfigFault, faultAt, sortFaults } from './fault.ts';
import type { ConfigFiles } from './files.ts';
import { isOutsideVariable, knownVariables } from './known-variables.ts';
import { type ActiveProvider, resolveProviders } from './providers.ts';
import { checkReadiness } from './readiness.ts';
import { type RedLines, redLinePartials, redLinesSchema } from './red-lines.ts';
import { readBySchema } from './schema-faults.ts';
import { readSettings } from './settings.ts';
import { namesIn } from './templates.ts';
import { gatherVariables, type Variables } from './variables.ts';
import { checkWorkflowLimits } from './workflow-checks.ts';
import { parseYamlFile } from './yaml-file.ts';

const settingsFile = 'config/gridloom.yaml';
const redLinesFile = 'config/prompts/red-lines.yaml';

/** Everything that configuration says, checked. */
export interface LoadedConfig {
  readonly settings: Settings;
  readonly environment: Environment;
  readonly definitions: Definitions;
  /** Accounts whose key is set, in the order of the file. */
  readonly activeProviders: readonly ActiveProvider[];
  /** Providers that are left out, with the variables that would switch them on. */
  readonly inactiveProviders: ReadonlyMap<string, readonly string[]>;
  readonly redLines: RedLines;
  /** The place in the files of a fault that the engine's compiler found. */
  locateFault(fault: DefinitionFault): ConfigFault;
}

export interface LoadOptions {
  readonly files: ConfigFiles;
  /** The environment of the process; it stands above `.env`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * The sandbox's own variables, given in sandbox mode: addresses, keys, tables (a function where a table is named for each
   * agent). Whatever speaks to the outside world is then taken from here alone.
   */
  readonly sandbox?:
    | Readonly<Record<string, string>>
    | ((agents: Definitions['agents']) => Readonly<Record<string, string>>);
}

/** Reads and checks the whole configuration; every fault at once, or all of it. */
export async function loadConfig(options: LoadOptions): Promise<Result<LoadedConfig, readonly ConfigFault[]>> {
  const redLines = await readRedLines(options.files);
  const read = await readDefinitions(options.files, redLinePartials(redLines.value));
  const mentioned = mentionedVariables(read);
  const sandbox = typeof options.sandbox === 'function' ? options.sandbox(plainly(read.agents)) : options.sandbox;
  const variables = gatherVariables({
    env: options.env,
    ...(await readEnvFile(options.files)),
    ...(sandbox === undefined ? {} : { sandbox: { GRIDLOOM_MODE: 'sandbox', ...sandbox } }),
    isOutside: (name) => isOutsideVariable(name, mentioned),
  });
  const tableVariables = new Map([...read.agents].map(([name, { definition }]) => [name, definition.table_env]));
  const { environment, faults: environmentFaults } = readEnvironment(variables, tableVariables);
  const providers = resolveProviders(read.providers, variables, environment.noProxyForApi);
  const settings = await readSettingsFile(options.files, variables, read);
  const definitions = definitionsOf(read, providers.definitions);
  const faults = [
    ...redLines.faults,
    ...read.faults,
    ...checkAgents(read),
    ...checkWorkflowLimits(read),
    ...findMisspelt(variables, knownVariables(mentioned)),
    ...environmentFaults,
    ...providers.faults,
    ...settings.faults,
    ...checkReadiness(definitions, environment, providers),
  ];
  if (faults.length > 0 || settings.settings === undefined) return fail(sortFaults(faults));
  return ok({
    settings: settings.settings,
    environment,
    definitions,
    activeProviders: providers.active,
    inactiveProviders: providers.inactive,
    redLines: redLines.value,
    locateFault: (fault) => locateIn(read, fault),
  });
}

/** Which mode the environment asks for, before anything else is read: the sandbox must be up to give its variables. */
export async function readMode(options: Pick<LoadOptions, 'files' | 'env'>): Promise<Mode> {
  const envFile = await readEnvFile(options.files);
  return modeOf(gatherVariables({ env: options.env, ...envFile, isOutside: () => false }));
}

async function readEnvFile(files: ConfigFiles): Promise<{ envFile?: { file: string; text: string } }> {
  const text = await files.read('.env');
  return text === undefined ? {} : { envFile: { file: '.env', text } };
}

async function readRedLines(files: ConfigFiles): Promise<{ value: RedLines; faults: readonly ConfigFault[] }> {
  const text = await files.read(redLinesFile);
  const place = { file: redLinesFile, line: 1, column: 1 };
  const none = { rules: [], avoid: [] };
  if (text === undefined)
    return {
      value: none,
      faults: [faultAt(place, 'the file is missing', 'restore it: no prompt may go out without it')],
    };
  const source = parseYamlFile(redLinesFile, text);
  if (source.value === undefined) return { value: none, faults: source.faults };
  const read = readBySchema(source, redLinesSchema);
  const lines = read.value?.red_lines ?? [];
  return {
    value: { rules: lines.map((line) => line.rule), avoid: lines.map((line) => line.avoid) },
    faults: [...source.faults, ...read.faults],
  };
}

async function readSettingsFile(files: ConfigFiles, variables: Variables, read: ReadDefinitions) {
  const text = await files.read(settingsFile);
  if (text === undefined) {
    return { faults: [faultAt({ file: settingsFile, line: 1, column: 1 }, 'the file is missing', 'restore it')] };
  }
  const vendors = [...read.providers.values()].map(({ definition }) => definition.vendor);
  const providers = [...new Set([...read.names.providers, ...vendors])];
  return readSettings(parseYamlFile(settingsFile, text), variables, { agents: [...read.names.agents], providers });
}

/** Variables that providers and agents name. */
function mentionedVariables(read: ReadDefinitions): ReadonlySet<string> {
  const texts = [...read.providers.values()].flatMap(({ definition }) => [
    definition.key,
    definition.base_url,
    definition.upload_base_url ?? '',
    ...Object.values(definition.models).map((model) => model.model),
  ]);
  const tables = [...read.agents.values()].map(({ definition }) => definition.table_env);
  return new Set([...texts.flatMap((text) => namesIn(text).map(({ name }) => name)), ...tables]);
}

function definitionsOf(read: ReadDefinitions, providers: Definitions['providers']): Definitions {
  return {
    workflows: plainly(read.workflows),
    skills: plainly(read.skills),
    prompts: plainly(read.prompts),
    agents: plainly(read.agents),
    providers,
  };
}

/** Definitions without where they stand. */
function plainly<T>(sourced: ReadonlyMap<string, Sourced<T>>): ReadonlyMap<string, T> {
  return new Map([...sourced].map(([name, { definition }]) => [name, definition]));
}
