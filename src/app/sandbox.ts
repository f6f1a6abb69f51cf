import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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

/** Feishu's numbers for the column types that agents use. */
const columnTypes = { text: 1, number: 2, select: 3, attachment: 17 } as const;

/** The columns that every agent's table shares (contract of the operator, §3), beside inputs and artifacts. */
const sharedColumns: readonly ColumnSpec[] = [
  { name: '操作', type: 3, options: ['提交', '通过', '打回', '取消'] },
  { name: '状态', type: 3, options: ['生成中', '待确认', '完成', '失败', '待核对', '已取消'] },
  { name: '进度', type: 1 },
  { name: '报错', type: 1 },
  { name: '提示', type: 1 },
  { name: '打回意见', type: 1 },
  { name: '成本(元)', type: 2 },
  { name: '耗时(秒)', type: 2 },
  { name: '执行编号', type: 1 },
  { name: '提交人', type: 1003 },
];

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
  const columns = new Map<string, ColumnSpec>();
  const add = (column: ColumnSpec): void => {
    if (!columns.has(column.name)) columns.set(column.name, column);
  };
  for (const input of Object.values(agent.inputs)) {
    add({
      name: input.column,
      type: columnTypes[input.type],
      ...(input.options === undefined ? {} : { options: input.options }),
    });
  }
  for (const column of sharedColumns.slice(0, 2)) add(column);
  for (const artifact of agent.stages.flatMap((stage) => stage.artifacts))
    add({ name: artifact.column, type: columnTypes[artifact.type] });
  for (const column of sharedColumns) add(column);
  return { name: agent.title, tableId: sandboxTableId(agent.agent), columns: [...columns.values()], rows };
}

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
