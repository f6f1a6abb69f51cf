import { z } from 'zod';
import { fail, isJsonObject, type Json, type JsonObject, ok, type Random } from '../kernel/index.ts';
import type { Call } from './caller.ts';
import type { FeishuClient, RawRecord, TableRef } from './client.ts';
import { localFailure, readData } from './failure.ts';
import { allPages, smallestPage, tooLargeCode } from './pages.ts';
import { uuidV4 } from './uuid-v4.ts';

/** The largest page of a search, and of a batch read (platform limits). */
const searchPageSize = 500;
const batchGetSize = 100;
/** The platform takes 1,000; error texts and its own tools still say 500. */
const maxBatchSize = 500;

const personSchema = z.looseObject({ id: z.string().optional() }).nullish().catch(undefined);
const recordSchema = z.looseObject({
  record_id: z.string(),
  /** Out of JSON.parse, so only the outer shape needs a look. */
  fields: z.custom<JsonObject>(isJsonObject).nullish(),
  created_by: personSchema,
  last_modified_by: personSchema,
  last_modified_time: z.number().nullish().catch(undefined),
});

type RecordCalls = Pick<
  FeishuClient,
  'searchRecords' | 'getRecords' | 'updateRecords' | 'createRecords' | 'deleteRecord'
>;

export function createRecordCalls(call: Call, random: Random): RecordCalls {
  return {
    searchRecords: async (table, query, signal) => {
      const json: JsonObject = {
        ...(query.filter === undefined ? {} : { filter: query.filter }),
        ...(query.fieldNames === undefined ? {} : { field_names: query.fieldNames }),
        ...(query.automaticFields === undefined ? {} : { automatic_fields: query.automaticFields }),
      };
      const request = { path: pathOf(table), query: { page_size: searchPageSize }, json, signal };
      const rows = await allPages(call, 'bitable.records.search', recordSchema, request);
      return rows.ok ? ok(withoutRepeats(rows.value.map(rawRecord))) : rows;
    },
    getRecords: async (table, recordIds, signal) => getRecords(call, table, recordIds, signal),
    updateRecords: async (table, writes, signal) => {
      const records = writes.map(({ recordId, fields }) => ({ record_id: recordId, fields }));
      const fault = batchFault(records);
      if (fault !== undefined) return fail(localFailure('invalid', fault));
      if (records.length === 0) return ok(undefined);
      const answer = await call('bitable.records.batch-update', { path: pathOf(table), json: { records }, signal });
      return answer.ok ? ok(undefined) : answer;
    },
    createRecords: async (table, rows, signal) => {
      const records = rows.map((fields) => ({ fields }));
      const fault = batchFault(records);
      if (fault !== undefined) return fail(localFailure('invalid', fault));
      if (records.length === 0) return ok([]);
      const name = 'bitable.records.batch-create';
      // The client token makes a repeat after a lost answer give the same rows.
      const query = { client_token: uuidV4(random) };
      const answer = await call(name, { path: pathOf(table), query, json: { records }, signal });
      if (!answer.ok) return answer;
      const made = readData(name, z.looseObject({ records: z.array(recordSchema) }), answer.value.body);
      return made.ok ? ok(made.value.records.map((record) => record.record_id)) : made;
    },
    deleteRecord: async (table, recordId, signal) => {
      const path = { ...pathOf(table), record_id: recordId };
      const answer = await call('bitable.records.delete', { path, signal });
      return answer.ok ? ok(undefined) : answer;
    },
  };
}

export function pathOf(table: TableRef): { readonly app_token: string; readonly table_id: string } {
  return { app_token: table.appToken, table_id: table.tableId };
}

const batchGetSchema = z.looseObject({
  records: z.array(recordSchema).nullish(),
  absent_record_ids: z.array(z.string()).nullish(),
  forbidden_record_ids: z.array(z.string()).nullish(),
});

async function getRecords(
  call: Call,
  table: TableRef,
  recordIds: readonly string[],
  signal: AbortSignal | undefined,
): ReturnType<FeishuClient['getRecords']> {
  const name = 'bitable.records.batch-get';
  const records: RawRecord[] = [];
  const absent: string[] = [];
  const forbidden: string[] = [];
  let size = batchGetSize;
  for (let start = 0; start < recordIds.length; ) {
    const json = { record_ids: recordIds.slice(start, start + size), automatic_fields: true };
    const answer = await call(name, { path: pathOf(table), json, signal });
    if (!answer.ok && answer.failure.code === tooLargeCode && size > smallestPage) {
      size = smallestPage;
      continue;
    }
    if (!answer.ok) return answer;
    start += size;
    const data = readData(name, batchGetSchema, answer.value.body);
    if (!data.ok) return data;
    records.push(...(data.value.records ?? []).map(rawRecord));
    absent.push(...(data.value.absent_record_ids ?? []));
    forbidden.push(...(data.value.forbidden_record_ids ?? []));
  }
  return ok({ records, absent, forbidden });
}

function rawRecord(record: z.infer<typeof recordSchema>): RawRecord {
  const createdById = record.created_by?.id;
  const lastModifiedById = record.last_modified_by?.id;
  const lastModifiedAt = record.last_modified_time ?? undefined;
  return {
    recordId: record.record_id,
    fields: record.fields ?? {},
    ...(createdById === undefined ? {} : { createdById }),
    ...(lastModifiedById === undefined ? {} : { lastModifiedById }),
    ...(lastModifiedAt === undefined ? {} : { lastModifiedAt }),
  };
}

/** A row that moved between two pages comes twice; the later reading counts. */
function withoutRepeats(records: readonly RawRecord[]): readonly RawRecord[] {
  return [...new Map(records.map((record) => [record.recordId, record])).values()];
}

function batchFault(records: readonly { readonly fields: JsonObject }[]): string | undefined {
  if (records.length > maxBatchSize) return `a batch holds at most ${maxBatchSize} rows, not ${records.length}`;
  const isSound = records.every(({ fields }) => Object.values(fields).every(isWritable));
  return isSound ? undefined : 'a cell holds a number that is not finite; JSON would turn it into an emptied cell';
}

function isWritable(value: Json | undefined): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every(isWritable);
}
