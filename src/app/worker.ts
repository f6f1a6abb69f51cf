import { hostname } from 'node:os';
import { join } from 'node:path';
import cron from 'node-cron';
import { formatFault, type LoadedConfig } from '../config/index.ts';
import { fail, ok, type Result } from '../kernel/index.ts';
import { createHeartbeat, createRestartWatch, createWatchdog } from '../monitor/index.ts';
import { assemble, type House } from './assemble.ts';
import { modeOfDirectory, readConfiguration } from './configuration.ts';
import type { DataDirectory } from './data-directory.ts';
import { lockDirectory, type StartFault } from './lock-directory.ts';
import { createLivePorts, type LivePorts } from './live-ports.ts';
import { createControlLoop, createTickLoop } from './loops.ts';
import { createUpkeep, pauseIfRestored } from './upkeep.ts';
import { holdDuty } from './scale-duties.ts';
import { createSharedUpkeep } from './scale-upkeep.ts';
import type { SandboxServer } from './sandbox-server.ts';

export interface WorkerOptions {
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the sandbox's table listens; 0 takes a free port. */
  readonly sandboxPort: number;
  /** Called when the loop hangs without throwing; the process manager starts the worker again. */
  readonly onDead: () => void;
}

export interface Worker {
  readonly config: LoadedConfig;
  readonly house: House;
  readonly sandbox: SandboxServer | undefined;
  /** Drains, then aborts what is left; everything is resumed at the next start. */
  stop(): Promise<void>;
}

/** Starts the worker: configuration, lock of the data directory, ports, house, loops. Leaves nothing behind when it fails. */
export async function startWorker(options: WorkerOptions): Promise<Result<Worker, StartFault>> {
  const undo: (() => Promise<void> | void)[] = [];
  const refuse = async (fault: StartFault): Promise<Result<Worker, StartFault>> => {
    for (const step of undo.reverse()) await step();
    return fail(fault);
  };
  const isSandbox = (await modeOfDirectory(options)) === 'sandbox';
  // The lock comes before the sandbox, whose state lies in the same directory and whose port the other worker has.
  const first = await readConfiguration({ ...options, ...(isSandbox ? { sandboxOrigin: unopened } : {}) });
  if (!first.ok) return await refuse({ exitCode: 78, lines: first.failure.map(formatFault) });
  const locked = await lockDirectory(options.directory, first.value);
  if (!locked.ok) return await refuse(locked.failure);
  undo.push(() => locked.value.lock.release());
  const opened = isSandbox ? await openSandboxPort(options) : ok(undefined);
  if (!opened.ok) return await refuse(opened.failure);
  const sandbox = opened.value;
  if (sandbox !== undefined) undo.push(async () => await sandbox.close());
  const config = sandbox === undefined ? first : await readConfiguration({ ...options, sandboxOrigin: sandbox.origin });
  if (!config.ok) return await refuse({ exitCode: 78, lines: config.failure.map(formatFault) });
  const ports = await openPorts(options, config.value, locked.value.directory);
  if (!ports.ok) return await refuse(ports.failure);
  undo.push(async () => await ports.value.close());
  const house = await assemble(config.value, {
    ...ports.value,
    ...(sandbox === undefined || !config.value.settings.feishu.wakeups ? {} : { wakeSource: sandbox.wakeSource() }),
  });
  if (!house.ok) {
    return await refuse({ exitCode: 78, lines: [`Feishu ${house.failure.code}: ${house.failure.message}`] });
  }
  await pauseIfRestored(house.value);
  const started = await house.value.start();
  if (!started.ok) return await refuse({ exitCode: 78, lines: started.failure });
  return ok(
    await live({
      options,
      config: config.value,
      house: house.value,
      ports: ports.value,
      sandbox,
      undo,
      directory: locked.value.directory,
    }),
  );
}

/** Stands for the sandbox's address before it has one. */
const unopened = 'http://127.0.0.1:9';

async function openSandboxPort(options: WorkerOptions): Promise<Result<SandboxServer, StartFault>> {
  const { openSandboxServer } = await import('./sandbox-server.ts');
  try {
    return ok(await openSandboxServer(options));
  } catch (error) {
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    const port = options.sandboxPort;
    const line = isTaken
      ? `port ${port} is taken by another program; choose another: npm start -- --port ${port + 1}`
      : `cannot open the sandbox: ${messageOf(error)}`;
    return fail({ exitCode: 1, lines: [line] });
  }
}

async function openPorts(
  options: WorkerOptions,
  config: LoadedConfig,
  directory: DataDirectory,
): Promise<Result<LivePorts, StartFault>> {
  try {
    return ok(await createLivePorts(config, directory, options.directory));
  } catch (error) {
    const isShared = config.environment.databaseUrl !== undefined;
    const what = isShared ? 'the database of DATABASE_URL' : join(directory.root, 'gridloom.db');
    return fail({ exitCode: 1, lines: [`cannot open ${what}: ${messageOf(error)}`] });
  }
}

interface Started {
  readonly options: WorkerOptions;
  readonly config: LoadedConfig;
  readonly house: House;
  readonly ports: LivePorts;
  readonly sandbox: SandboxServer | undefined;
  readonly directory: DataDirectory;
  readonly undo: readonly (() => Promise<void> | void)[];
}

async function live(started: Started): Promise<Worker> {
  const { options, config, house, ports, sandbox, undo, directory } = started;
  const { clock, logger, store } = ports;
  const { alerter, summary } = house.monitoring;
  const interval = config.settings.poll.interval;
  const watchdog = createWatchdog({
    clock,
    logger,
    alerter,
    intervalMs: Math.max(interval, leastWatchMs),
    onDead: options.onDead,
  });
  house.measureLagBy(() => watchdog.lagMs());
  const intervalMs = Math.max(interval, leastWatchMs);
  const { heartbeatUrl } = config.environment;
  const heartbeat =
    heartbeatUrl === undefined
      ? undefined
      : createHeartbeat({
          clock,
          logger,
          fetch: ports.fetch,
          url: heartbeatUrl,
          intervalMs,
          isAlive: () => watchdog.sinceTickMs() < 3 * intervalMs,
        });
  // A data directory belongs to one worker, and a machine's name tells it from the same path elsewhere.
  const own = ports.scale === undefined ? {} : { worker: `${hostname()} ${directory.root}` };
  const restarts = createRestartWatch({ store, clock, logger, alerter, ...own });
  await restarts.noteStart();
  const loop = createTickLoop(
    {
      tick: async () => {
        await house.tick();
        watchdog.tickFinished();
      },
    },
    clock,
    interval,
  );
  const daily = cron.schedule(config.settings.alerts.daily_summary, () => summary.due(), {
    timezone: config.environment.timezone,
  });
  const duties = startDuties(started);
  loop.start();
  watchdog.start();
  heartbeat?.start();
  logger.info('worker started', { mode: config.environment.mode, pid: process.pid, node: process.versions.node });
  return {
    config,
    house,
    sandbox,
    stop: async () => {
      watchdog.stop();
      heartbeat?.stop();
      restarts.stop();
      await daily.stop();
      await duties.stop();
      await loop.stop();
      await house.stop(config.settings.timeouts.drain);
      await restarts.noteCleanStop();
      logger.info('worker stopped');
      for (const step of [...undo].reverse()) await step();
    },
  };
}

/**
 * What the command line asks, and upkeep: ours alone; where several share a database, with whichever of them holds the
 * lease, except for our own files.
 */
function startDuties({ house, ports, directory }: Started): { stop(): Promise<void> } {
  const { scale, logger } = ports;
  const { storage } = house.config.settings;
  const upkeep = createUpkeep({ ports, storage, directory, isStoreShared: scale !== undefined });
  upkeep.start();
  if (scale === undefined) {
    const controls = createControlLoop(house, logger);
    controls.start();
    return {
      stop: async () => {
        controls.stop();
        await upkeep.stop();
      },
    };
  }
  const held = [
    holdDuty({ scale, logger }, 'controls', () => createControlLoop(house, logger)),
    holdDuty({ scale, logger }, 'upkeep', () => createSharedUpkeep(house, scale)),
  ];
  return {
    stop: async () => {
      await Promise.all([...held.map(async (duty) => await duty.stop()), upkeep.stop()]);
    },
  };
}

const leastWatchMs = 30_000;

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
