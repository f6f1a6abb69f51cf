import type { FeishuFailure } from '../feishu/index.ts';
import { sleep } from '../kernel/index.ts';
import { type ColumnFault, resolveColumns } from './columns.ts';
import type { Hub, TableState } from './hub.ts';

export type ColumnsLoad =
  | { readonly kind: 'ready' }
  | { readonly kind: 'unfit'; readonly faults: readonly ColumnFault[] }
  | { readonly kind: 'away'; readonly failure: FeishuFailure };

/** Reads a table's columns anew. What was known stays in use while the platform is away. */
export async function loadColumns(hub: Hub, table: TableState): Promise<ColumnsLoad> {
  const listed = await hub.deps.client.listFields(table.table, hub.signal);
  if (!listed.ok) return { kind: 'away', failure: listed.failure };
  const resolved = resolveColumns(table.agent, listed.value);
  if (!resolved.ok) {
    const lines = resolved.failure.map((fault) => `${fault.problem}；${fault.remedy}`);
    await hub.halt(table, 'columns', `智能体 ${table.agent.agent}：\n${lines.join('\n')}`);
    return { kind: 'unfit', faults: resolved.failure };
  }
  table.columnsAreStale = false;
  table.columns = resolved.value;
  if (table.halted === 'columns') table.halted = undefined;
  return { kind: 'ready' };
}

/** Feishu's own word that app, secret, base or table do not exist. No waiting mends them; `.env` does. */
const finalCodes: ReadonlySet<number> = new Set([
  10003, 10014, 10015, 99991543, 91402, 1254003, 1254004, 1254040, 1254041,
]);
/** A table that was made a moment ago may not be found at once. */
const newTableMs = 3_000;

/**
 * What keeps a table from ever being worked on, asked before the worker calls itself live. A platform that is away is no
 * fault: the loop goes on asking.
 */
export async function startFaults(hub: Hub, table: TableState): Promise<readonly ColumnFault[]> {
  const isFinal = (load: ColumnsLoad): boolean => load.kind === 'away' && finalCodes.has(load.failure.code);
  let load = await loadColumns(hub, table);
  if (isFinal(load)) {
    await sleep(hub.deps.clock, newTableMs, hub.signal);
    load = await loadColumns(hub, table);
  }
  if (load.kind === 'unfit') return load.faults;
  if (load.kind === 'ready' || !isFinal(load)) return [];
  const { failure } = load;
  const { appToken, tableId } = table.table;
  const isSecret = failure.class === 'credential';
  return [
    {
      agent: table.agent.agent,
      column: '',
      problem: isSecret
        ? `飞书不认这个应用的凭证（飞书代码 ${failure.code}）`
        : `智能体 ${table.agent.agent} 的表 ${appToken}/${tableId} 不存在（飞书代码 ${failure.code}）`,
      remedy: isSecret
        ? '检查 .env 里的 FEISHU_APP_ID 与 FEISHU_APP_SECRET'
        : `检查 .env 里的 BITABLE_APP_TOKEN 与 ${table.agent.table_env}`,
    },
  ];
}
