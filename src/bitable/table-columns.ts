import type { FeishuFailure } from '../feishu/index.ts';
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
