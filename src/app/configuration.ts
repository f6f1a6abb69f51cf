import {
  type ConfigFault,
  createDirectoryFiles,
  type LoadedConfig,
  loadConfig,
  readMode,
  sortFaults,
} from '../config/index.ts';
import type { DefinitionFault, Definitions } from '../contract/index.ts';
import { compile } from '../engine/index.ts';
import { fail, ok, type Result } from '../kernel/index.ts';
import { createFunctions, createSharpPictureWorker } from '../functions/index.ts';
import { createMemorySpool } from '../media/index.ts';

export interface ConfigurationOptions {
  /** The project's directory: `.env` and `config/` lie there. */
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Address of the sandbox, in sandbox mode. */
  readonly sandboxOrigin?: string;
}

/** Reads everything and compiles it; every fault at once, with its place. */
export async function readConfiguration(
  options: ConfigurationOptions,
): Promise<Result<LoadedConfig, readonly ConfigFault[]>> {
  const files = createDirectoryFiles(options.directory);
  const env = withoutInner(options.env);
  const origin = options.sandboxOrigin;
  const loaded = await loadConfig({ files, env, ...(origin === undefined ? {} : { sandbox: await namedIn(origin) }) });
  if (!loaded.ok) return loaded;
  const compiled = compile(loaded.value.definitions, {
    functions: functionNames(loaded.value),
  });
  // What is sound needs its places in the files no longer: they hold every parsed document.
  if (compiled.ok) return ok({ ...loaded.value, locateFault: placeless });
  return fail(sortFaults(compiled.failure.map((fault) => loaded.value.locateFault(fault))));
}

/** Definitions and settings alone, whatever the environment still lacks: for setting up, and for the sandbox's tables. */
export async function readShipped(
  options: Pick<ConfigurationOptions, 'directory' | 'env'>,
): Promise<Result<LoadedConfig, readonly ConfigFault[]>> {
  const files = createDirectoryFiles(options.directory);
  return await loadConfig({ files, env: withoutInner(options.env), sandbox: {} });
}

/** The sandbox names a table for each agent; it is loaded by those alone who run on it. */
async function namedIn(origin: string): Promise<(agents: Definitions['agents']) => Readonly<Record<string, string>>> {
  const { sandboxVariables } = await import('./sandbox.ts');
  return (agents) => sandboxVariables(origin, agents);
}

function placeless(fault: DefinitionFault): ConfigFault {
  const { of, path, what, advice } = fault;
  return { file: `${of.kind} ${of.name} ${path.join('.')}`, line: 1, column: 1, what, advice };
}

/** Variables of ours that no operator sets: crash tests and tools. Every other unknown one is a fault of the operator's. */
const innerVariables = new Set(['GRIDLOOM_FAILPOINT', 'GRIDLOOM_LOG_LEVEL', 'GRIDLOOM_SANDBOX_ORIGIN']);

function withoutInner(env: ConfigurationOptions['env']): ConfigurationOptions['env'] {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !innerVariables.has(name)));
}

/** `live` or `sandbox`, before the rest is read. */
export async function modeOfDirectory(options: ConfigurationOptions): Promise<'live' | 'sandbox'> {
  return await readMode({ files: createDirectoryFiles(options.directory), env: options.env });
}

/** What a `function` node may name. */
function functionNames(config: LoadedConfig): ReadonlySet<string> {
  const { redLines } = config;
  return new Set(
    createFunctions({ redLines, pictures: createSharpPictureWorker(), media: createMemorySpool() }).keys(),
  );
}
