import { z } from 'zod';
import type { Json, JsonObject } from '../../kernel/index.ts';
import type { Call } from '../endpoint.ts';
import type { BaseState, RecordState, TableState } from '../state.ts';
import { botPerson, type World } from '../world.ts';
import { createRecords, deleteRecord, findBase, findTable, type Hand, readRecord, updateRecords } from './base-book.ts';
import { type FeishuGate, param, requireJson } from './gate.ts';
import { dressRefusal, Refusal, success } from './refusal.ts';

const root = '/feishu/open-apis/bitable/v1/apps/:app_token/tables/:table_id/records';

const fieldsSchema = z.record(z.string(), z.json());
const createSchema = z.object({ fields: fieldsSchema });
const batchCreateSchema = z.object({ records: z.array(createSchema).min(1) });
const batchUpdateSchema = z.object({
  records: z.array(z.object({ record_id: z.string(), fields: fieldsSchema })).min(1),
});
const batchDeleteSchema = z.object({ records: z.array(z.string()).min(1) });
const batchGetSchema = z.object({ record_ids: z.array(z.string()).min(1), automatic_fields: z.boolean().optional() });

export interface Place {
  readonly base: BaseState;
  readonly table: TableState;
}

/** The table that a call is about; a base that the app was not added to answers 91403. */
export function placeOf(world: World, call: Call, wants: 'read' | 'write'): Place {
  const base = findBase(world, param(call, 'app_token'));
  if (base.appRole === 'none' || (wants === 'write' && base.appRole === 'reader')) {
    throw new Refusal(91403, 'Forbidden', 403);
  }
  return { base, table: findTable(base, param(call, 'table_id')) };
}

/** The app's hand. */
export const appHand: Hand = { kind: 'app', id: botPerson.openId };

function body<Schema extends z.ZodType>(call: Call, schema: Schema): z.output<Schema> {
  const parsed = schema.safeParse(requireJson(call));
  if (!parsed.success) throw new Refusal(1254001, `WrongRequestBody: ${parsed.error.issues[0]?.message ?? ''}`);
  return parsed.data;
}

function atMost(count: number, most: number): void {
  if (count > most) throw new Refusal(1254104, 'RecordAddOnceExceedLimit');
}

/** What a write echoes: the fields as they were sent, not as they read. */
function echo(records: readonly RecordState[], sent: readonly JsonObject[]): JsonObject[] {
  return records.map(({ recordId }, index) => ({ id: recordId, record_id: recordId, fields: sent[index] ?? {} }));
}

export function addRecordsApi(world: World, gate: FeishuGate): void {
  const lock = {
    key: (call: Call) => `write/${param(call, 'app_token')}`,
    conflict: () => dressRefusal(world, new Refusal(1254291, 'Write conflict')),
  };
  const shared = { latency: 'feishuWriteMs', lock, perSecond: 50 } as const;
  const hand = appHand;
  gate.add({
    ...shared,
    name: 'feishu.records.create',
    method: 'POST',
    path: root,
    handle: (call) => {
      const { fields } = body(call, createSchema);
      const records = createRecords(world, placeOf(world, call, 'write'), [fields], hand);
      return success({ record: echo(records, [fields])[0] ?? null });
    },
  });
  gate.add({
    ...shared,
    name: 'feishu.records.batchCreate',
    method: 'POST',
    path: `${root}/batch_create`,
    handle: (call) => {
      const rows = body(call, batchCreateSchema).records.map((record) => record.fields);
      atMost(rows.length, 1_000);
      return success({ records: echo(createRecords(world, placeOf(world, call, 'write'), rows, hand), rows) });
    },
  });
  gate.add({
    ...shared,
    name: 'feishu.records.update',
    method: 'PUT',
    path: `${root}/:record_id`,
    handle: (call) => {
      const { fields } = body(call, createSchema);
      const write = { recordId: param(call, 'record_id'), fields };
      const records = updateRecords(world, placeOf(world, call, 'write'), [write], hand);
      return success({ record: echo(records, [fields])[0] ?? null });
    },
  });
  gate.add({
    ...shared,
    name: 'feishu.records.batchUpdate',
    method: 'POST',
    path: `${root}/batch_update`,
    handle: (call) => {
      const writes = body(call, batchUpdateSchema).records.map(({ record_id, fields }) => ({
        recordId: record_id,
        fields,
      }));
      atMost(writes.length, 1_000);
      const records = updateRecords(world, placeOf(world, call, 'write'), writes, hand);
      return success({
        records: echo(
          records,
          writes.map((write) => write.fields),
        ),
      });
    },
  });
  addDeletes(world, gate, { shared, hand });
  addGets(world, gate, hand);
}

function addDeletes(
  world: World,
  gate: FeishuGate,
  options: { shared: Pick<Parameters<FeishuGate['add']>[0], 'latency' | 'lock' | 'perSecond'>; hand: Hand },
): void {
  gate.add({
    ...options.shared,
    name: 'feishu.records.delete',
    method: 'DELETE',
    path: `${root}/:record_id`,
    handle: (call) => {
      const recordId = param(call, 'record_id');
      deleteRecord(world, placeOf(world, call, 'write'), recordId, options.hand);
      return success({ deleted: true, record_id: recordId });
    },
  });
  gate.add({
    ...options.shared,
    name: 'feishu.records.batchDelete',
    method: 'POST',
    path: `${root}/batch_delete`,
    handle: (call) => {
      const ids = body(call, batchDeleteSchema).records;
      atMost(ids.length, 500);
      const place = placeOf(world, call, 'write');
      if (ids.some((id) => place.table.records[id] === undefined)) throw new Refusal(1254043, 'RecordIdNotFound', 404);
      for (const id of ids) deleteRecord(world, place, id, options.hand);
      return success({ records: ids.map((id) => ({ deleted: true, record_id: id })) });
    },
  });
}

function addGets(world: World, gate: FeishuGate, hand: Hand): void {
  gate.add({
    name: 'feishu.records.batchGet',
    method: 'POST',
    path: `${root}/batch_get`,
    latency: 'feishuReadMs',
    perSecond: 20,
    handle: (call) => {
      const { record_ids: ids, automatic_fields: automatic = false } = body(call, batchGetSchema);
      atMost(ids.length, 100);
      const place = placeOf(world, call, 'read');
      const found = ids.flatMap((id) => place.table.records[id] ?? []);
      const blind = place.base.advancedPermission && place.base.appRole !== 'manager';
      const records: Json[] = blind ? [] : found.map((record) => readRecord(world, place, record, { automatic, hand }));
      return success({
        records,
        forbidden_record_ids: blind ? found.map((record) => record.recordId) : [],
        absent_record_ids: ids.filter((id) => place.table.records[id] === undefined),
      });
    },
  });
  gate.add({
    name: 'feishu.records.get',
    method: 'GET',
    path: `${root}/:record_id`,
    latency: 'feishuReadMs',
    perSecond: 20,
    handle: (call) => {
      const place = placeOf(world, call, 'read');
      const record = place.table.records[param(call, 'record_id')];
      if (record === undefined) throw new Refusal(1254043, 'RecordIdNotFound', 404);
      return success({ record: readRecord(world, place, record, { hand }) });
    },
  });
}
