import type { LoadedConfig } from '../config/index.ts';
import type { Engine } from '../engine/ports/index.ts';
import type { FeishuClient } from '../feishu/index.ts';
import { fail, ok, type Result } from '../kernel/index.ts';
import {
  createHouseCollector,
  createHouseEngine,
  createPlatform,
  createProviders,
  openCallBudget,
} from './assemble.ts';
import { type ConfigurationOptions, readConfiguration } from './configuration.ts';
import { houseKnowledge } from './house-knowledge.ts';
import { createLivePorts, type LivePorts } from './live-ports.ts';
import { shareFiles } from './scale-files.ts';
import { lockDirectory, type StartFault } from './lock-directory.ts';

/** An engine without tables and alerts, for one workflow from the command line. */
export interface LoneEngine {
  readonly engine: Engine;
  readonly ports: LivePorts;
  /** Drains for a moment; what is left is resumed by the next worker on this data directory. */
  close(): Promise<void>;
}

/**
 * Opens the engine on the data directory, which no worker may hold (exit code 75 else). What was left unfinished there is
 * taken up as well: its results wait in the outbox for the next worker.
 */
export async function openLoneEngine(
  options: Pick<ConfigurationOptions, 'directory' | 'env'>,
  config: LoadedConfig,
): Promise<Result<LoneEngine, StartFault>> {
  const locked = await lockDirectory(options.directory, config);
  if (!locked.ok) return locked;
  const undo: (() => Promise<void> | void)[] = [() => locked.value.lock.release()];
  const close = async (): Promise<void> => {
    for (const step of undo.reverse()) await step();
  };
  try {
    const usable = config.environment.mode === 'sandbox' ? await onSandbox(options, undo, config) : config;
    const live = await createLivePorts(usable, locked.value.directory, options.directory, { wakeUps: false });
    undo.push(async () => await live.close());
    const ports: LivePorts = { ...live, ...sharedSpool(usable, live) };
    const platform = await openKnowledgePlatform(usable, ports);
    const knowledge = houseKnowledge(usable, ports, () => platform);
    const engine = createHouseEngine(usable, { ...ports, knowledge }, createProviders(usable, ports));
    undo.push(async () => await engine.stop(usable.settings.timeouts.drain));
    await engine.start();
    await ports.scale?.startDispatching(engine);
    return ok({ engine, ports, close });
  } catch (error) {
    await close();
    return fail({ exitCode: 1, lines: [error instanceof Error ? error.message : String(error)] });
  }
}

/** Tables are not served here; the one of the team's knowledge is read. */
async function openKnowledgePlatform(config: LoadedConfig, ports: LivePorts): Promise<FeishuClient | undefined> {
  if (config.environment.knowledgeTable === undefined) return undefined;
  return createPlatform(config, ports, await openCallBudget(config, ports));
}

/** What another worker made is fetched where it came from; bases are not asked. */
function sharedSpool(config: LoadedConfig, live: LivePorts): Pick<LivePorts, 'spool'> {
  const providers = createProviders(config, live);
  const collector = createHouseCollector(config, live, providers);
  return { spool: shareFiles(live, () => ({ collector, feishu: undefined, bases: [] })).spool };
}

/** Without credentials the outside world is the sandbox, opened for as long as the engine lives. */
async function onSandbox(
  options: Pick<ConfigurationOptions, 'directory' | 'env'>,
  undo: (() => Promise<void> | void)[],
  given: LoadedConfig,
): Promise<LoadedConfig> {
  const { openSandboxServer } = await import('./sandbox-server.ts');
  const sandbox = await openSandboxServer({ ...options, sandboxPort: 0 });
  undo.push(async () => await sandbox.close());
  const config = await readConfiguration({ ...options, sandboxOrigin: sandbox.origin });
  // Addresses are new; what is to be run is what the caller gave.
  const { workflows, skills, prompts } = given.definitions;
  if (config.ok) return { ...config.value, definitions: { ...config.value.definitions, workflows, skills, prompts } };
  throw new Error('the configuration changed while it was being read; try again');
}
