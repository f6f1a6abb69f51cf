import { join, resolve } from 'node:path';
import type { LoadedConfig } from '../config/index.ts';
import { createLongConnection, type LongConnectionDeps } from '../feishu/index.ts';
import {
  createIdSource,
  createSystemClock,
  createSystemRandom,
  type Failpoints,
  formatDuration,
  noFailpoints,
  silentLogger,
} from '../kernel/index.ts';
import { createFolderKnowledge, createSharpPictureWorker } from '../functions/index.ts';
import { createDiskSpool, createMemorySpool, createSharpFitter } from '../media/index.ts';
import { type ClosableLogger, createLogger, createMonitorFiles } from '../monitor/index.ts';
import { createLiveFetch } from '../providers/http/index.ts';
import { createSideFile } from '../store/index.ts';
import { type DataDirectory, freeBytesOf, instanceTagOf } from './data-directory.ts';
import { failpointsFromEnvironment } from './failpoints.ts';
import { openDriverStore } from './open-store.ts';
import type { Ports } from './ports.ts';
import { secretsOf } from './secrets-of.ts';
import { openScale, type ScaleOptions, sharedInstanceTag } from './scale.ts';
import { createYoungGarbageCollector } from './young-garbage.ts';

/** The real world, for a worker in this process. */
export interface LivePorts extends Ports {
  readonly logger: ClosableLogger;
  /** Closes network, store and log, in this order. */
  close(): Promise<void>;
}

export async function createLivePorts(
  config: LoadedConfig,
  directory: DataDirectory,
  projectDirectory: string,
  options: { readonly wakeUps: boolean } = { wakeUps: true },
): Promise<LivePorts> {
  const clock = createSystemClock();
  const random = createSystemRandom();
  const ids = createIdSource(clock, random);
  const logger = createLogger({ directory: directory.logs, level: logLevel(), clock, secrets: secretsOf(config) });
  const owner = ids.uuid();
  const shared = await openShared(config, { clock, logger, owner });
  const store = shared.scale?.store ?? (await openDriverStore(config, directory, { clock, logger }));
  logger.info('effective limits', {
    poll: formatDuration(config.settings.poll.interval),
    submit: formatDuration(config.settings.timeouts.submit),
    query: formatDuration(config.settings.timeouts.query),
    image: formatDuration(config.settings.vendor_poll.image.deadline),
    video: formatDuration(config.settings.vendor_poll.video.deadline),
  });
  const network = openNetwork(config);
  return {
    clock,
    random,
    ids,
    logger,
    store,
    failpoints: liveFailpoints(),
    fetch: network,
    pictures: createSharpPictureWorker(),
    knowledge: createFolderKnowledge(join(projectDirectory, 'config', 'knowledge')),
    spool: createDiskSpool({
      directory: directory.spool,
      ids,
      fitter: createSharpFitter(),
      letGo: createYoungGarbageCollector(),
    }),
    sideFile: createSideFile(directory.sideFile),
    monitorFiles: createMonitorFiles(resolve(projectDirectory, config.environment.monitorDir)),
    ...(options.wakeUps ? wakeUps(config, { fetch: network, clock, logger }) : {}),
    freeBytes: async () => await freeBytesOf(directory.root),
    owner,
    ...shared,
    instanceTag:
      shared.scale === undefined || config.environment.instance !== undefined
        ? await instanceTagOf(directory, config.environment, random)
        : await sharedInstanceTag(store, clock, random),
    close: async () => {
      await network.close();
      await (shared.scale ?? store).close();
      logger.close();
    },
  };
}

/** A worker's place among several; nothing where it is alone on its SQLite. */
async function openShared(
  { environment }: LoadedConfig,
  deps: Omit<ScaleOptions, 'databaseUrl'>,
): Promise<Pick<Ports, 'scale' | 'peers' | 'isGone'>> {
  const { databaseUrl } = environment;
  if (databaseUrl === undefined) return {};
  const scale = await openScale({ databaseUrl, ...deps });
  return { scale, peers: scale.peers, isGone: async (other) => await scale.peers.isGone(other) };
}

/** In live mode only: the sandbox wakes its worker without a socket (`sandbox-wake.ts`). */
function wakeUps(
  config: LoadedConfig,
  deps: Pick<LongConnectionDeps, 'fetch' | 'clock' | 'logger'>,
): Pick<Ports, 'wakeSource'> {
  const { feishu, mode, noProxyForApi } = config.environment;
  if (feishu === undefined || mode !== 'live' || !config.settings.feishu.wakeups) return {};
  return { wakeSource: createLongConnection({ ...feishu, ...deps, proxy: noProxyForApi ? 'direct' : 'env' }) };
}

function openNetwork(config: LoadedConfig): ReturnType<typeof createLiveFetch> {
  return createLiveFetch({
    connectTimeoutMs: config.settings.timeouts.connect,
    allowHosts: config.settings.transfer.allow_hosts
      .split(',')
      .map((host) => host.trim())
      .filter((host) => host !== ''),
    // A local Clash answers every name from 198.18.0.0/15: taken for names alone, and only where a name that cannot
    // exist is answered from there too.
    fakeIp: 'probe',
    environment: process.env,
  });
}

/** Just what asking a vendor something needs: no store, no files. */
export function createProbePorts(config: LoadedConfig) {
  const clock = createSystemClock();
  const random = createSystemRandom();
  const network = openNetwork(config);
  return {
    clock,
    random,
    ids: createIdSource(clock, random),
    logger: silentLogger,
    fetch: network,
    spool: createMemorySpool(),
    close: async () => await network.close(),
  };
}

function logLevel(): 'debug' | 'info' {
  return process.env['GRIDLOOM_LOG_LEVEL'] === 'debug' ? 'debug' : 'info';
}

/** Crash tests name the place at which this process shall die. */
function liveFailpoints(): Failpoints {
  const named = process.env['GRIDLOOM_FAILPOINT'];
  return named === undefined || named === '' ? noFailpoints : failpointsFromEnvironment(named);
}
