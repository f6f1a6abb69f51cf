import { type AgentTable, lackingOptions, resolveColumns, type TableColumns } from '../../bitable/index.ts';
import type { AgentDefinition } from '../../contract/index.ts';
import {
  type AppPlace,
  checkRead,
  checkTable,
  type FeishuClient,
  type FeishuInspection,
  probeWrite,
} from '../../feishu/index.ts';
import type { Clock } from '../../kernel/index.ts';
import { fault, type Finding, fine, hint, placed } from './finding.ts';

export interface AgentTableCheck extends AgentTable {
  readonly client: FeishuClient & FeishuInspection;
  readonly place: AppPlace;
  readonly clock: Clock;
  readonly hasAdvancedPermissions: boolean;
  readonly mayProbe: boolean;
  readonly signal: AbortSignal;
}

/** Feishu's number for attachments (facts: field types). */
const attachmentType = 17;
/** Columns without which it works, and what they are good for. */
const niceColumns = ['进度', '提示', '打回意见', '耗时', '执行编号', '提交人'] as const;

/** One agent's table: there, its columns, a search, and a real write and upload, undone again. */
export async function checkAgentTable(check: AgentTableCheck): Promise<readonly Finding[]> {
  const { definition, table, client, place } = check;
  const { agent } = definition;
  const seen = await checkTable(client, table, place, check.signal);
  const found: Finding[] = [placed(seen.diagnosis, agent)];
  if (seen.fields === undefined) return found;
  const columns = resolveColumns(definition, seen.fields);
  if (!columns.ok) {
    const faults = columns.failure.map(({ problem, remedy }) => fault('columns', problem, remedy, agent));
    return [...found, ...faults];
  }
  found.push(...adviseOn(definition, columns.value));
  const word = columns.value.protocol.操作?.name ?? '操作';
  const read = placed(await checkRead(client, table, word, place), agent);
  found.push(read);
  if (!check.mayProbe || read.level === 'fault') return found;
  const probe = await probeWrite({ ...check, ...probeColumns(columns.value) });
  return [...found, ...probe.map((diagnosis) => placed(diagnosis, agent))];
}

function adviseOn(definition: AgentDefinition, columns: TableColumns): readonly Finding[] {
  const { agent } = definition;
  const { protocol } = columns;
  const missing = niceColumns.filter((name) => protocol[name] === undefined);
  const found = [
    missing.length === 0
      ? fine('columns', 'every column is there', agent)
      : hint('columns', `not there, and useful: ${missing.join(' ')}`, '"npx gridloom init" adds them', agent),
  ];
  const lacking = lackingOptions(definition, columns).map(({ column, options }) =>
    hint(
      'columns',
      `${column} lacks the options ${options.join(' ')}`,
      'add them in the table, or staff cannot choose them',
      agent,
    ),
  );
  return [...found, ...lacking];
}

/** A text that only the bot writes, and an attachment column for the upload where there is one. */
function probeColumns(columns: TableColumns) {
  const attachment = [...columns.artifacts.values(), ...columns.inputs.values()].find(
    (column) => column.type === attachmentType,
  );
  return {
    textColumn: columns.protocol.报错?.name ?? '报错',
    ...(attachment === undefined ? {} : { attachment: { column: attachment.name, fieldId: attachment.fieldId } }),
  };
}
