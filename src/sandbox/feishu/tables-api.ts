import { z } from 'zod';
import type { JsonObject } from '../../kernel/index.ts';
import type { Call } from '../endpoint.ts';
import type { BaseState, FieldState, TableState } from '../state.ts';
import { newToken, type World } from '../world.ts';
import { findBase } from './base-book.ts';
import { fieldType } from './cells.ts';
import { type FeishuGate, param, requireJson } from './gate.ts';
import { takePage } from './paging.ts';
import { placeOf } from './records-api.ts';
import { Refusal, success } from './refusal.ts';

const root = '/feishu/open-apis/bitable/v1/apps';
const firstColumnTypes: readonly number[] = [1, 2, 5, 13, 15, 20, 22];
const maxFields = 300;
const maxTables = 100;

const newFieldSchema = z.object({
  field_name: z.string(),
  type: z.int(),
  ui_type: z.string().optional(),
  property: z.record(z.string(), z.json()).nullish(),
  description: z.union([z.string(), z.object({ text: z.string() })]).nullish(),
});
export type NewFieldBody = z.infer<typeof newFieldSchema>;

const newTableSchema = z.object({
  table: z.object({
    name: z.string().min(1).max(100),
    default_view_name: z.string().optional(),
    fields: z.array(newFieldSchema).optional(),
  }),
});
const newBaseSchema = z.object({ name: z.string().optional() });

const uiTypes: Readonly<Record<number, string>> = {
  1: 'Text',
  2: 'Number',
  3: 'SingleSelect',
  4: 'MultiSelect',
  5: 'DateTime',
  7: 'Checkbox',
  11: 'User',
  13: 'Phone',
  15: 'Url',
  17: 'Attachment',
  18: 'SingleLink',
  20: 'Formula',
  1003: 'CreatedUser',
};

/** A column as it is kept, its options given ids. */
function buildField(world: World, spec: NewFieldBody, isPrimary: boolean): FieldState {
  const options = z
    .array(z.object({ name: z.string(), color: z.int().optional() }))
    .safeParse(spec.property?.['options']);
  const property = {
    ...spec.property,
    ...(options.success
      ? {
          options: options.data.map((option, index) => ({
            id: newToken(world, 'opt', 10),
            name: option.name,
            color: option.color ?? index % 55,
          })),
        }
      : {}),
  };
  const description = typeof spec.description === 'string' ? spec.description : spec.description?.text;
  return {
    fieldId: newToken(world, 'fld', 8),
    name: spec.field_name.trim(),
    type: spec.type,
    uiType: spec.ui_type ?? uiTypes[spec.type] ?? 'Text',
    isPrimary,
    ...(description === undefined ? {} : { description }),
    ...(Object.keys(property).length === 0 ? {} : { property }),
  };
}

export function buildTable(world: World, name: string, specs: readonly NewFieldBody[], tableId?: string): TableState {
  const fields = specs.map((spec, index) => buildField(world, spec, index === 0));
  return { tableId: tableId ?? newToken(world, 'tbl', 13), name, fields, records: {} };
}

function checkNewField(table: { fields: readonly FieldState[] }, spec: NewFieldBody): void {
  const name = spec.field_name.trim();
  if (name === '') throw new Refusal(1254028, 'FieldNameEmpty');
  if (name.length > 100) throw new Refusal(1254029, 'FieldNameTooLong');
  if (uiTypes[spec.type] === undefined && ![19, 21, 22, 23, 1001, 1002, 1004, 1005].includes(spec.type)) {
    throw new Refusal(1254012, 'unsupported field type');
  }
  if (spec.type === fieldType.lookup) throw new Refusal(1254012, 'lookup fields cannot be created');
  if (table.fields.some((field) => field.name === name)) throw new Refusal(1254014, 'FieldNameDuplicated');
  if (table.fields.length >= maxFields) throw new Refusal(1254105, 'FieldExceedLimit');
}

function fieldJson(field: FieldState): JsonObject {
  return {
    field_id: field.fieldId,
    field_name: field.name,
    type: field.type,
    ui_type: field.uiType ?? 'Text',
    is_primary: field.isPrimary,
    property: field.property ?? null,
    ...(field.description === undefined ? {} : { description: field.description }),
  };
}

function readBase(world: World, call: Call): BaseState {
  const base = findBase(world, param(call, 'app_token'));
  if (base.appRole === 'none') throw new Refusal(91403, 'Forbidden', 403);
  return base;
}

export function addTablesApi(world: World, gate: FeishuGate): void {
  addReads(world, gate);
  gate.add({
    name: 'feishu.tables.create',
    method: 'POST',
    path: `${root}/:app_token/tables`,
    latency: 'feishuWriteMs',
    perSecond: 10,
    handle: (call) => createTable(world, call),
  });
  gate.add({
    name: 'feishu.fields.create',
    method: 'POST',
    path: `${root}/:app_token/tables/:table_id/fields`,
    latency: 'feishuWriteMs',
    perSecond: 10,
    handle: (call) => {
      const { table } = placeOf(world, call, 'write');
      const parsed = newFieldSchema.safeParse(requireJson(call));
      if (!parsed.success) throw new Refusal(1254001, 'WrongRequestBody');
      checkNewField(table, parsed.data);
      const field = buildField(world, parsed.data, table.fields.length === 0);
      table.fields.push(field);
      return success({ field: fieldJson(field) });
    },
  });
  gate.add({
    name: 'feishu.base.create',
    method: 'POST',
    path: root,
    latency: 'feishuWriteMs',
    perSecond: 1,
    handle: (call) => {
      const { name = '未命名' } = newBaseSchema.parse(requireJson(call));
      const base = newBase(world, name);
      return success({ app: { app_token: base.appToken, name, url: `${world.baseUrl()}/base/${base.appToken}` } });
    },
  });
}

/** A base as the API makes one: with a default table. */
export function newBase(world: World, name: string, appToken = newToken(world, 'bas', 24)): BaseState {
  const base: BaseState = {
    appToken,
    name,
    revision: 1,
    advancedPermission: false,
    appRole: 'manager',
    tables: [],
    subscribed: false,
  };
  world.state.bases[appToken] = base;
  return base;
}

function createTable(world: World, call: Call): Response {
  const base = readBase(world, call);
  if (base.appRole === 'reader') throw new Refusal(91403, 'Forbidden', 403);
  const parsed = newTableSchema.safeParse(requireJson(call));
  if (!parsed.success) throw new Refusal(1254001, 'WrongRequestBody');
  const { name, fields = [{ field_name: '文本', type: 1 }] } = parsed.data.table;
  if (base.tables.some((table) => table.name === name)) throw new Refusal(1254013, 'TableNameDuplicated');
  if (base.tables.length >= maxTables) throw new Refusal(1254100, 'TableExceedLimit');
  if (!firstColumnTypes.includes(fields[0]?.type ?? 1)) throw new Refusal(1254012, 'unsupported type of first column');
  const seen: { fields: FieldState[] } = { fields: [] };
  for (const spec of fields) {
    checkNewField(seen, spec);
    seen.fields.push(buildField(world, spec, false));
  }
  const table = buildTable(world, name, fields);
  base.tables.push(table);
  return success({
    table_id: table.tableId,
    default_view_id: newToken(world, 'vew', 8),
    field_id_list: table.fields.map((field) => field.fieldId),
  });
}

function addReads(world: World, gate: FeishuGate): void {
  const shared = { method: 'GET', latency: 'feishuReadMs', perSecond: 20 } as const;
  gate.add({
    ...shared,
    name: 'feishu.base.get',
    path: `${root}/:app_token`,
    handle: (call) => {
      const { appToken, name, revision, advancedPermission } = readBase(world, call);
      return success({ app: { app_token: appToken, name, revision, is_advanced: advancedPermission } });
    },
  });
  gate.add({
    ...shared,
    name: 'feishu.tables.list',
    path: `${root}/:app_token/tables`,
    handle: (call) => {
      const base = readBase(world, call);
      const page = takePage(base.tables, call.url.searchParams, { usual: 20, most: 100 });
      const items = page.items.map(({ tableId, name }) => ({ table_id: tableId, name, revision: base.revision }));
      return success({ items, has_more: page.hasMore, page_token: page.pageToken ?? 'end', total: base.tables.length });
    },
  });
  gate.add({
    ...shared,
    name: 'feishu.fields.list',
    path: `${root}/:app_token/tables/:table_id/fields`,
    handle: (call) => {
      const { table } = placeOf(world, call, 'read');
      const visible = table.fields.filter((field) => field.hidden !== true);
      const page = takePage(visible, call.url.searchParams, { usual: 20, most: 100 });
      return success({
        items: page.items.map(fieldJson),
        has_more: page.hasMore,
        page_token: page.pageToken ?? 'end',
        total: visible.length,
      });
    },
  });
}
