import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Definitions } from '../contract/index.ts';
import { createDirectoryFiles, loadConfig } from '../config/index.ts';
import { createSystemClock, createSystemRandom, silentLogger } from '../kernel/index.ts';
import type { RowSpec, Sandbox } from '../sandbox/index.ts';
import { openDataDirectory } from './data-directory.ts';
import { serveLoopback } from './loopback.ts';
import { openSandbox, sandboxTable } from './sandbox.ts';

export interface SandboxServer {
  readonly origin: string;
  readonly sandbox: Sandbox;
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
  const tables = await Promise.all(
    [...agents.values()].map(async (agent) => sandboxTable(agent, await readSamples(options.directory, agent.agent))),
  );
  let origin = '';
  const opened = await openSandbox({
    directory,
    clock: createSystemClock(),
    random: createSystemRandom(),
    logger: silentLogger,
    baseUrl: () => origin,
    tables,
  });
  const server = await serveLoopback(async (request) => await opened.sandbox.fetch(request), options.sandboxPort);
  origin = server.origin;
  return {
    origin,
    sandbox: opened.sandbox,
    close: async () => {
      await server.close();
      await opened.save();
    },
  };
}

const samplesSchema = z.object({
  rows: z.array(
    z.object({
      cells: z.record(z.string(), z.json()).optional(),
      pictures: z.record(z.string(), z.array(z.string())).optional(),
    }),
  ),
});

/** Sample rows of an agent, for the sandbox and the demo; an agent need not have any. */
async function readSamples(directory: string, agent: string): Promise<readonly RowSpec[]> {
  const text = await readFile(join(directory, 'config', 'samples', `${agent}.yaml`), 'utf8').catch(() => undefined);
  if (text === undefined) return [];
  return samplesSchema.parse(parse(text)).rows.map(({ cells, pictures }) => ({
    ...(cells === undefined ? {} : { cells }),
    ...(pictures === undefined ? {} : { pictures }),
  }));
}
