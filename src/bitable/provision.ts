import type { AgentDefinition } from '../contract/index.ts';
import type { FeishuClient, FeishuResult, TableRef } from '../feishu/index.ts';
import { fail, ok } from '../kernel/index.ts';
import { type ColumnFault, resolveColumns } from './columns.ts';
import { type LackingOptions, lackingOptions } from './lacking-options.ts';
import { knownNames, tableFields } from './table-fields.ts';
import { normalizeName } from './words.ts';

export interface Provisioned {
  readonly table: TableRef;
  readonly isNewTable: boolean;
  /** Columns that were made now. */
  readonly created: readonly string[];
  /** What a person must still change: provisioning never deletes, renames or retypes. */
  readonly faults: readonly ColumnFault[];
  /** Options that staff will miss; a person adds them. */
  readonly lacking: readonly LackingOptions[];
}

/**
 * Makes an agent's table with its columns, or adds what is missing to an existing one. Without a table id a table of the
 * agent's title is looked for first, so running it again does no harm.
 */
export async function provision(
  client: FeishuClient,
  agent: AgentDefinition,
  appToken: string,
  tableId?: string,
): Promise<FeishuResult<Provisioned>> {
  const wanted = tableFields(agent);
  const existing = tableId === undefined ? await findTable(client, appToken, agent.title) : ok(tableId);
  if (!existing.ok) return existing;
  if (existing.value === undefined) {
    const made = await client.createTable(appToken, agent.title, wanted);
    if (!made.ok) return made;
    const created = wanted.map((field) => field.name);
    return await report(client, agent, { appToken, tableId: made.value }, true, created);
  }
  const table: TableRef = { appToken, tableId: existing.value };
  const listed = await client.listFields(table);
  if (!listed.ok) return listed;
  const present = new Set(listed.value.map((field) => normalizeName(field.name)));
  const created: string[] = [];
  for (const field of wanted) {
    if (knownNames(agent, field).some((name) => present.has(normalizeName(name)))) continue;
    const made = await client.createField(table, field);
    if (!made.ok) return fail(made.failure);
    created.push(field.name);
  }
  return await report(client, agent, table, false, created);
}

async function findTable(
  client: FeishuClient,
  appToken: string,
  title: string,
): Promise<FeishuResult<string | undefined>> {
  const listed = await client.listTables(appToken);
  if (!listed.ok) return listed;
  return ok(listed.value.find((table) => normalizeName(table.name) === normalizeName(title))?.tableId);
}

async function report(
  client: FeishuClient,
  agent: AgentDefinition,
  table: TableRef,
  isNewTable: boolean,
  created: readonly string[],
): Promise<FeishuResult<Provisioned>> {
  const listed = await client.listFields(table);
  if (!listed.ok) return listed;
  const resolved = resolveColumns(agent, listed.value);
  return ok({
    table,
    isNewTable,
    created,
    faults: resolved.ok ? [] : resolved.failure,
    lacking: resolved.ok ? lackingOptions(agent, resolved.value) : [],
  });
}
