import type { FeishuClient, FieldInfo, TableRef } from '../client.ts';
import type { FeishuInspection } from '../inspection.ts';
import { type AppPlace, type Diagnosis, fault, faultOf, fine, hint } from './diagnosis.ts';

/** Id and secret are right, and the platform can be reached. */
export async function checkCredentials(
  client: FeishuInspection,
  place: AppPlace,
  signal?: AbortSignal,
): Promise<Diagnosis> {
  const answer = await client.checkCredentials(signal);
  return answer.ok
    ? fine('credentials', 'app id and secret are accepted')
    : faultOf('credentials', answer.failure, place);
}

/** The bot ability. Also gives the app's own open id, by which its own edits are known. */
export async function checkBot(
  client: FeishuInspection,
  place: AppPlace,
  signal?: AbortSignal,
): Promise<{ readonly diagnosis: Diagnosis; readonly openId?: string }> {
  const answer = await client.botInfo(signal);
  if (!answer.ok) {
    const { what, advice } = faultOf('bot', answer.failure, place);
    return { diagnosis: hint('bot', what, advice) };
  }
  if (answer.value.openId === '') {
    const advice = '添加应用能力 → 机器人, then release a version; until then no message can be sent';
    return { diagnosis: hint('bot', 'the app has no bot', advice) };
  }
  return { diagnosis: fine('bot', `bot "${answer.value.name}"`), openId: answer.value.openId };
}

/** The base exists and the app is in it. */
export async function checkBase(
  client: FeishuClient & FeishuInspection,
  tokenOrLink: string,
  place: AppPlace,
  signal?: AbortSignal,
): Promise<{
  readonly diagnosis: Diagnosis;
  readonly base?: { readonly appToken: string; readonly hasAdvancedPermissions: boolean };
}> {
  const resolved = await client.resolveBase(tokenOrLink, signal);
  if (!resolved.ok) return { diagnosis: faultOf('base', resolved.failure, place) };
  const info = await client.baseInfo(resolved.value, signal);
  if (!info.ok) return { diagnosis: faultOf('base', info.failure, place) };
  const { name, hasAdvancedPermissions } = info.value;
  const rights = hasAdvancedPermissions ? ', 高级权限 on' : '';
  return {
    diagnosis: fine('base', `base "${name}" (${resolved.value})${rights}`),
    base: { appToken: resolved.value, hasAdvancedPermissions },
  };
}

/** The table is in the base and its columns can be listed. */
export async function checkTable(
  client: FeishuClient,
  table: TableRef,
  place: AppPlace,
  signal?: AbortSignal,
): Promise<{ readonly diagnosis: Diagnosis; readonly fields?: readonly FieldInfo[] }> {
  const tables = await client.listTables(table.appToken, signal);
  if (!tables.ok) return { diagnosis: faultOf('table', tables.failure, place) };
  const found = tables.value.find((entry) => entry.tableId === table.tableId);
  if (found === undefined) {
    const known = tables.value.map((entry) => `${entry.name} (${entry.tableId})`).join(', ');
    const advice = `this base holds: ${known}; open the table in the browser and copy its address`;
    return { diagnosis: fault('table', `no table ${table.tableId} in the base`, advice) };
  }
  const fields = await client.listFields(table, signal);
  if (!fields.ok) return { diagnosis: faultOf('table', fields.failure, place) };
  const what = `table "${found.name}" (${table.tableId}), ${fields.value.length} columns seen`;
  return { diagnosis: fine('table', what), fields: fields.value };
}

/** Names that were looked for and not found: misspelt, or hidden from the app. */
export function explainMissingColumns(names: readonly string[], hasAdvancedPermissions: boolean): Diagnosis {
  if (names.length === 0) return fine('columns', 'all columns are there');
  const hidden = hasAdvancedPermissions
    ? 'or hidden from the app: 高级权限 is on, and an app that is not 可管理 does not see every column; '
    : '';
  return fault(
    'columns',
    `not seen: ${names.join(' ')}`,
    `misspelt, not yet made, ${hidden}compare the names in the table, or run "npx gridloom init" to add them`,
  );
}

/** Column types that look writable and are not, or that cannot be cleared by the bot. */
const unusableTypes: ReadonlyMap<number, string> = new Map([
  [19, 'a lookup'],
  [20, 'a formula'],
  [24, 'a stage (流程)'],
  [3001, 'a button'],
  [1005, 'an auto number'],
]);

/** P002, P009: a protocol column that the bot cannot write, although the platform may answer "success". */
export function checkColumnType(column: string, field: FieldInfo): Diagnosis {
  const type = unusableTypes.get(field.type);
  if (type === undefined) return fine('columns', `${column} can be written`);
  const advice = `make ${column} a text or single-select column; the bot cannot write or clear ${type}`;
  return fault('columns', `${column} is ${type} column`, advice);
}

/** A search with the filter of the intake: it must be answered, whatever it finds. */
export async function checkRead(
  client: FeishuClient,
  table: TableRef,
  wordColumn: string,
  place: AppPlace,
): Promise<Diagnosis> {
  const filter = { conjunction: 'and', conditions: [{ field_name: wordColumn, operator: 'isNotEmpty', value: [] }] };
  const answer = await client.searchRecords(table, { filter, fieldNames: [wordColumn] });
  if (!answer.ok) return faultOf('read', answer.failure, place);
  const strangers = answer.value.filter((record) => record.fields[wordColumn] === undefined).length;
  return strangers === 0
    ? fine('read', `search works; ${answer.value.length} rows with a word in ${wordColumn}`)
    : hint(
        'read',
        `the filter was not applied: ${strangers} rows without a word came`,
        'rows are checked again here; nothing to do',
      );
}
