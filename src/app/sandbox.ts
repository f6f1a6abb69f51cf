import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { tableFields } from '../bitable/index.ts';
import type { AgentDefinition, Definitions } from '../contract/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import {
  type BlobStore,
  type ColumnSpec,
  createSandbox,
  createSharpPainter,
  type RowSpec,
  type Sandbox,
  sandboxEnvironment,
  type TableSpec,
} from '../sandbox/index.ts';

/** The id that an agent's table has in the sandbox. */
export function sandboxTableId(agent: string): string {
  return `tblSandbox${agent.replaceAll(/(^|[^a-zA-Z0-9])([a-z0-9])/g, (_match, _gap: string, letter: string) => letter.toUpperCase())}`;
}

/** The sandbox's vendors take seconds, not minutes; polls that fit let a newcomer see results when they are there. */
const quickPolls = {
  GRIDLOOM__VENDOR_POLL__IMAGE__FIRST: '1s',
  GRIDLOOM__VENDOR_POLL__IMAGE__INTERVAL: '1s',
  GRIDLOOM__VENDOR_POLL__VIDEO__FIRST: '2s',
  GRIDLOOM__VENDOR_POLL__VIDEO__INTERVAL: '1s',
} as const;

/** The environment that points a worker at the sandbox: credentials, addresses, and a table for each agent. */
export function sandboxVariables(origin: string, agents: Definitions['agents']): Record<string, string> {
  const tables = [...agents.values()].map((agent) => [agent.table_env, sandboxTableId(agent.agent)] as const);
  return { ...sandboxEnvironment(origin, Object.fromEntries(tables)), ...quickPolls };
}

/** An agent's table as `init` would make it. */
export function sandboxTable(agent: AgentDefinition, rows: readonly RowSpec[]): TableSpec {
  const columns = tableFields(agent).map(({ name, type, description, property }): ColumnSpec => {
    const { options } = optionsSchema.parse(property ?? {});
    return {
      name,
      type,
      ...(description === undefined ? {} : { description }),
      ...(options === undefined ? {} : { options: options.map((option) => option.name) }),
    };
  });
  return { name: agent.title, tableId: sandboxTableId(agent.agent), columns, rows };
}

const optionsSchema = z.object({ options: z.array(z.object({ name: z.string() })).optional() });

/** The sandbox of `npm start` and the demo: its state is kept in `directory` and survives a restart. */
export async function openSandbox(options: {
  readonly directory: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly baseUrl: () => string;
  readonly tables: readonly TableSpec[];
}): Promise<{ sandbox: Sandbox; save(): Promise<void> }> {
  const file = join(options.directory, 'world.json');
  let isChanged = false;
  let cancelSave: (() => void) | undefined;
  const save = async (): Promise<void> => {
    cancelSave?.();
    cancelSave = undefined;
    if (!isChanged) return;
    isChanged = false;
    await writeFile(`${file}.tmp`, JSON.stringify(sandbox.snapshot()));
    await rename(`${file}.tmp`, file);
  };
  const sandbox = createSandbox({
    ...options,
    painter: createSharpPainter(),
    blobs: createBlobDirectory(options.directory),
    onChange: () => {
      isChanged = true;
      cancelSave ??= options.clock.after(300, () => {
        save().catch((error: unknown) => options.logger.error('sandbox not saved', { error: String(error) }));
      });
    },
  });
  const stored = await readFile(file, 'utf8').catch(() => undefined);
  if (stored !== undefined) sandbox.restore(JSON.parse(stored));
  await sandbox.seed();
  return { sandbox, save };
}

function createBlobDirectory(directory: string): BlobStore {
  const path = (hash: string): string => join(directory, `${hash}.bin`);
  return {
    read: async (hash) => await readFile(path(hash)).catch(() => undefined),
    write: async (hash, bytes) => {
      await writeFile(path(hash), bytes);
    },
  };
}
