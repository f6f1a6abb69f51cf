import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { sandboxTableId, sandboxTableOf, sandboxVariables, serveLoopback } from '../../src/app/index.ts';
import { createDirectoryFiles, loadConfig } from '../../src/config/index.ts';
import type { Definitions } from '../../src/contract/index.ts';
import { createSeededRandom, createSystemClock } from '../../src/kernel/index.ts';
import {
  createPlainPainter,
  createSandbox,
  createSocketHandler,
  type Latencies,
  noLatencies,
  type Sandbox,
  type TableSpec,
} from '../../src/sandbox/index.ts';
import { freshDatabase } from './test-store.ts';

export const projectDirectory = resolve(import.meta.dirname, '..', '..');

/** The outside world on a loopback socket, living in the test's own process, so that a worker may die without it. */
export interface Outside {
  readonly sandbox: Sandbox;
  readonly origin: string;
  readonly table: string;
  /** What points a worker of its own process at it, as live services; quick enough for tests. On the store of this run. */
  readonly env: Readonly<Record<string, string>>;
  readonly dataDir: string;
  picture(): Promise<string>;
  close(): Promise<void>;
}

const quick: Latencies = { ...noLatencies, imageTaskMs: 150, videoTaskMs: 250 };

/** `tables`: those that the base holds instead of one for every agent. */
export async function openOutside(
  agent = 'try-on',
  latencies: Latencies = quick,
  tables?: readonly TableSpec[],
): Promise<Outside> {
  const agents = await readAgents();
  let origin = '';
  const sandbox = createSandbox({
    clock: createSystemClock(),
    random: createSeededRandom(7),
    baseUrl: () => origin,
    painter: createPlainPainter(),
    latencies,
    tables: tables ?? [...agents.values()].map((each) => sandboxTableOf(each, [])),
  });
  const server = await serveLoopback(createSocketHandler(sandbox), 0);
  origin = server.origin;
  await sandbox.seed();
  const dataDir = await mkdtemp(join(tmpdir(), 'gridloom-'));
  const databaseUrl = await freshDatabase();
  return {
    sandbox,
    origin,
    table: sandboxTableId(agent),
    dataDir,
    env: {
      ...sandboxVariables(origin, agents),
      GRIDLOOM_MODE: 'live',
      GRIDLOOM_DATA_DIR: join(dataDir, 'data'),
      GRIDLOOM_MONITOR_DIR: join(dataDir, 'webmon'),
      ...quickSettings,
      ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    },
    picture: async () => await sandbox.table.uploadFile('product.png', await createPlainPainter().draw('<svg/>', 64)),
    close: async () => {
      await server.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Waits that a person would not notice, cut for tests. */
export const quickSettings = {
  GRIDLOOM__POLL__INTERVAL: '150ms',
  GRIDLOOM__FEISHU__WAKEUPS: 'false',
  GRIDLOOM__FEISHU__PLAN: 'paid',
  GRIDLOOM__FEISHU__WRITE_SPACING: '20ms',
  GRIDLOOM__FEISHU__MEDIA_CALLS_PER_SECOND: '0',
  GRIDLOOM__VENDOR_POLL__IMAGE__FIRST: '100ms',
  GRIDLOOM__VENDOR_POLL__IMAGE__INTERVAL: '100ms',
  GRIDLOOM__VENDOR_POLL__VIDEO__FIRST: '100ms',
  GRIDLOOM__VENDOR_POLL__VIDEO__INTERVAL: '100ms',
  GRIDLOOM__RETRY__DELAY: '100ms',
  GRIDLOOM__TRANSFER__DELAY: '100ms',
} as const;

async function readAgents(): Promise<Definitions['agents']> {
  const read = await loadConfig({ files: createDirectoryFiles(projectDirectory), env: {}, sandbox: {} });
  if (!read.ok) throw new Error(read.failure.map((fault) => `${fault.file}:${fault.line} ${fault.what}`).join('\n'));
  return read.value.definitions.agents;
}
