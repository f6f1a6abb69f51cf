import { resolve } from 'node:path';
import { z } from 'zod';
import type { Definitions } from '../contract/index.ts';
import { createDirectoryFiles, loadConfig, readSamples, type SampleRow } from '../config/index.ts';
import { createSystemClock, createSystemRandom, silentLogger } from '../kernel/index.ts';
import { createSocketHandler, type RowSpec, type Sandbox } from '../sandbox/index.ts';
import { openDataDirectory } from './data-directory.ts';
import { serveLoopback } from './loopback.ts';
import type { WakeSource } from '../feishu/index.ts';
import { createSandboxWake } from './sandbox-wake.ts';
import { openSandbox, sandboxTable } from './sandbox.ts';

export interface SandboxServer {
  readonly origin: string;
  readonly sandbox: Sandbox;
  /** The sample rows that stand in its tables, by agent, in the order of the rows. */
  readonly samples: ReadonlyMap<string, readonly SampleRow[]>;
  /** Its own long connection, without a socket. */
  wakeSource(): WakeSource;
  close(): Promise<void>;
}

/** Serves the sandbox on loopback, with a table for every agent that the configuration has. */
export async function openSandboxServer(options: {
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly sandboxPort: number;
}): Promise<SandboxServer> {
  // Faults of the configuration are told by the worker, which reads it again; the sandbox then has no tables.
  const config = await loadConfig({ files: createDirectoryFiles(options.directory), env: options.env, sandbox: {} });
  const agents: Definitions['agents'] = config.ok ? config.value.definitions.agents : new Map();
  const directory = config.ok
    ? (await openDataDirectory(options.directory, config.value.environment)).sandbox
    : resolve(options.directory, 'data');
  const { samples, faults } = await readSamples(createDirectoryFiles(options.directory));
  if (faults.length > 0) throw new Error(faults.map((fault) => `${fault.file}:${fault.line} ${fault.what}`).join('\n'));
  // The longest story first: it is what a newcomer should see.
  const inOrder = [...agents.values()].sort((left, right) => right.stages.length - left.stages.length);
  const tables = inOrder.map((agent) => sandboxTable(agent, (samples.get(agent.agent) ?? []).map(rowOf)));
  let origin = '';
  const opened = await openSandbox({
    directory,
    clock: createSystemClock(),
    random: createSystemRandom(),
    logger: silentLogger,
    baseUrl: () => origin,
    tables,
  });
  const server = await serveLoopback(createSocketHandler(opened.sandbox), options.sandboxPort);
  origin = server.origin;
  for (const sample of [...samples.values()].flat()) spoil(opened.sandbox, sample);
  return {
    origin,
    sandbox: opened.sandbox,
    samples,
    wakeSource: () => createSandboxWake(opened.sandbox),
    close: async () => {
      await server.close();
      await opened.save();
    },
  };
}

/** What sample rows may make go wrong. */
const actionSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('answer'), status: z.int(), body: z.json() }),
  z.object({ kind: z.enum(['drop-after', 'drop-before', 'hang', 'refuse']) }),
  z.object({
    kind: z.literal('fate'),
    fate: z.object({ outcome: z.literal('fail'), failCode: z.string(), failMessage: z.string() }),
  }),
]);

function rowOf({ cells, pictures }: SampleRow): RowSpec {
  return { ...(cells === undefined ? {} : { cells }), ...(pictures === undefined ? {} : { pictures }) };
}

/** Some sample rows show how trouble looks: what they name goes wrong for them alone. */
function spoil(sandbox: Sandbox, { faults }: SampleRow): void {
  for (const { action, ...fault } of faults ?? []) {
    sandbox.faults.add({
      endpoint: fault.endpoint,
      bodyIncludes: fault.bodyIncludes,
      count: fault.count ?? 1,
      action: actionSchema.parse(action),
    });
  }
}
