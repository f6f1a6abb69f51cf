import { z } from 'zod';
import { fail, type JsonObject, ok, type Random } from '../kernel/index.ts';
import type { Call } from './caller.ts';
import type { FeishuClient, FeishuResult, FieldInfo, NewField } from './client.ts';
import { localFailure, readData } from './failure.ts';
import { parseBaseSetting } from './links.ts';
import { allPages } from './pages.ts';
import { pathOf } from './records.ts';
import { uuidV4 } from './uuid-v4.ts';

/** The largest page of a listing of tables or fields (platform limit). */
const listPageSize = 100;

const tableSchema = z.looseObject({ table_id: z.string(), name: z.string() });
const fieldSchema = z.looseObject({
  field_id: z.string(),
  field_name: z.string(),
  type: z.number(),
  ui_type: z.string().nullish(),
  is_primary: z.boolean().nullish(),
  property: z.record(z.string(), z.json()).nullish(),
});
const nodeSchema = z.looseObject({ node: z.looseObject({ obj_token: z.string(), obj_type: z.string() }) });
type TableCalls = Pick<FeishuClient, 'resolveBase' | 'listTables' | 'listFields' | 'createTable' | 'createField'>;

export function createTableCalls(call: Call, random: Random): TableCalls {
  const resolved = new Map<string, string>();
  return {
    resolveBase: async (tokenOrLink, signal) => {
      const parsed = parseBaseSetting(tokenOrLink);
      if (!parsed.ok) return fail(localFailure('config', parsed.failure));
      if (parsed.value.kind === 'base') return ok(parsed.value.token);
      const known = resolved.get(parsed.value.token);
      if (known !== undefined) return ok(known);
      const found = await resolveWikiNode(call, parsed.value.token, signal);
      if (found.ok) resolved.set(parsed.value.token, found.value);
      return found;
    },
    listTables: async (appToken, signal) => {
      const request = { path: { app_token: appToken }, query: { page_size: listPageSize }, signal };
      const tables = await allPages(call, 'bitable.tables.list', tableSchema, request);
      return tables.ok ? ok(tables.value.map(({ table_id, name }) => ({ tableId: table_id, name }))) : tables;
    },
    listFields: async (table, signal) => {
      const request = { path: pathOf(table), query: { page_size: listPageSize }, signal };
      const fields = await allPages(call, 'bitable.fields.list', fieldSchema, request);
      return fields.ok ? ok(fields.value.map(fieldInfo)) : fields;
    },
    createTable: async (appToken, name, fields, signal) => {
      const json = { table: { name, fields: fields.map(newField) } };
      const answer = await call('bitable.tables.create', { path: { app_token: appToken }, json, signal });
      if (!answer.ok) return answer;
      const data = readData('bitable.tables.create', z.looseObject({ table_id: z.string() }), answer.value.body);
      return data.ok ? ok(data.value.table_id) : data;
    },
    createField: async (table, field, signal) => {
      const name = 'bitable.fields.create';
      const query = { client_token: uuidV4(random) };
      const answer = await call(name, { path: pathOf(table), query, json: newField(field), signal });
      if (!answer.ok) return answer;
      const made = z.looseObject({ field: z.looseObject({ field_id: z.string() }) });
      const data = readData(name, made, answer.value.body);
      return data.ok ? ok(data.value.field.field_id) : data;
    },
  };
}

/** For a base inside a wiki, reads, writes and uploads need the object's own token, not the page's. */
async function resolveWikiNode(
  call: Call,
  node: string,
  signal: AbortSignal | undefined,
): Promise<FeishuResult<string>> {
  const answer = await call('wiki.get-node', { query: { token: node }, signal });
  if (!answer.ok) return answer;
  const data = readData('wiki.get-node', nodeSchema, answer.value.body);
  if (!data.ok) return data;
  const { obj_type: type, obj_token: token } = data.value.node;
  if (type === 'bitable') return ok(token);
  return fail(
    localFailure('config', `the wiki page holds a ${type}, not a base (bitable); open the base and copy again`),
  );
}

function fieldInfo(field: z.infer<typeof fieldSchema>): FieldInfo {
  return {
    fieldId: field.field_id,
    name: field.field_name,
    type: field.type,
    ...(typeof field.ui_type === 'string' ? { uiType: field.ui_type } : {}),
    ...(typeof field.is_primary === 'boolean' ? { isPrimary: field.is_primary } : {}),
    ...(field.property === null || field.property === undefined ? {} : { property: field.property }),
  };
}

function newField(field: NewField): JsonObject {
  return {
    field_name: field.name,
    type: field.type,
    ...(field.uiType === undefined ? {} : { ui_type: field.uiType }),
    ...(field.property === undefined ? {} : { property: field.property }),
    ...(field.description === undefined ? {} : { description: { text: field.description } }),
  };
}
