import { readConfiguration, sandboxTableId, sandboxTableOf } from '../../src/app/index.ts';
import type { Ports } from '../../src/app/index.ts';
import type { LoadedConfig } from '../../src/config/index.ts';
import type { AgentDefinition } from '../../src/contract/index.ts';
import type { Random } from '../../src/kernel/index.ts';
import { createIdSource, createSeededRandom, noFailpoints, randomInt, silentLogger } from '../../src/kernel/index.ts';
import { createMemorySpool } from '../../src/media/index.ts';
import {
  createInProcessFetch,
  createPlainPainter,
  createSandbox,
  realisticLatencies,
  type Sandbox,
} from '../../src/sandbox/index.ts';
import { createSqliteStore } from '../../src/store/index.ts';
import { createPlainPictures } from './plain-pictures.ts';
import type { Disk } from './weather.ts';
import { createSimClock, type SimClock } from './sim-clock.ts';

const simOrigin = 'http://sandbox.test';
export const people = ['ou_anna', 'ou_bo', 'ou_chen'].map((openId) => ({ openId, name: openId.slice(3) }));
const startAtMs = Date.UTC(2026, 10, 30, 1, 0, 0);

/** A table that staff work in, and what it is bound to. */
export interface SimTable {
  readonly tableId: string;
  readonly agent: AgentDefinition;
}

/** Everything that outlives the worker: the disk, the network, the outside world, time. */
export interface SimWorld {
  readonly seed: number;
  readonly clock: SimClock;
  readonly sandbox: Sandbox;
  readonly config: LoadedConfig;
  readonly tables: readonly SimTable[];
  /** Separate streams, so that a change in one place does not shift the luck of all others. */
  readonly luck: (name: string) => Random;
  readonly basePorts: Ports;
  /** Disk: what a restart finds. */
  readonly disk: Disk;
}

/** Reads the project's configuration once for all seeds, and what is otherwise read at first use: that takes real time. */
export async function readSimConfig(directory: string): Promise<LoadedConfig> {
  await import('../../src/functions/deck/draw-deck.ts');
  const read = await readConfiguration({ directory, env: { GRIDLOOM_MODE: 'sandbox' }, sandboxOrigin: simOrigin });
  if (!read.ok) throw new Error(read.failure.map((fault) => `${fault.file}:${fault.line} ${fault.what}`).join('\n'));
  return read.value;
}

export async function createSimWorld(seed: number, config: LoadedConfig): Promise<SimWorld> {
  const luck = (name: string): Random => createSeededRandom((seed * 2_654_435_761 + hash(name)) >>> 0);
  const clock = createSimClock(startAtMs, luck('clock'));
  const agents = drawAgents(config, luck('agents'));
  const sandbox = createSandbox({
    clock: clock.outside,
    random: luck('sandbox'),
    baseUrl: simOrigin,
    painter: createPlainPainter(),
    latencies: realisticLatencies,
    people,
    tables: agents.map((agent) => sandboxTableOf(agent, [])),
  });
  await sandbox.seed();
  const disk: Disk = { freeBytes: 50 * 1024 ** 3, isFull: false, mayFill: true };
  const random = luck('worker');
  const ids = createIdSource(clock, random);
  const handles: string[] = [];
  const basePorts: Ports = {
    clock,
    random,
    ids,
    logger: silentLogger,
    failpoints: noFailpoints,
    fetch: createInProcessFetch(sandbox),
    store: createSqliteStore({ path: ':memory:', clock, logger: silentLogger }),
    spool: createMemorySpool(),
    pictures: createPlainPictures(),
    knowledge: () => Promise.resolve([]),
    sideFile: {
      append: (line) => handles.push(line),
      readAll: () => [...handles],
      clear: () => {
        handles.length = 0;
      },
    },
    freeBytes: () => Promise.resolve(disk.freeBytes),
    owner: 'simulated',
    instanceTag: 'sim',
  };
  return {
    seed,
    clock,
    sandbox,
    config: onlyTablesOf(config, agents),
    tables: agents.map((agent) => ({ tableId: sandboxTableId(agent.agent), agent })),
    luck,
    basePorts,
    disk,
  };
}

/**
 * try-on has everything in it: three stages, people in between, pictures and films. Most worlds have others beside it, each
 * with a table of its own, up to all of them.
 */
function drawAgents({ definitions }: LoadedConfig, random: Random): readonly AgentDefinition[] {
  const all = [...definitions.agents.values()];
  const others = all.filter((agent) => agent.agent !== 'try-on');
  const wanted = [0, 1, 1, 2, 3, others.length][randomInt(random, 6)] ?? 0;
  const drawn = Array.from({ length: wanted }, () => others.splice(randomInt(random, others.length), 1)).flat();
  return [...all.filter((agent) => agent.agent === 'try-on'), ...drawn];
}

function onlyTablesOf(config: LoadedConfig, agents: readonly AgentDefinition[]): LoadedConfig {
  const named = new Set(agents.map((agent) => agent.agent));
  const tables = new Map([...config.environment.tables].filter(([agent]) => named.has(agent)));
  return { ...config, environment: { ...config.environment, tables } };
}

function hash(text: string): number {
  let value = 2_166_136_261;
  for (let index = 0; index < text.length; index += 1)
    value = Math.imul(value ^ text.charCodeAt(index), 16_777_619) >>> 0;
  return value;
}
