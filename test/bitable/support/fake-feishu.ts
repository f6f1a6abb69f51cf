import type {
  FeishuClient,
  FeishuFailure,
  FeishuResult,
  FieldInfo,
  RawRecord,
  RecordWrite,
  TableRef,
} from '../../../src/feishu/client.ts';
import { fail, type Json, type JsonObject, ok } from '../../../src/kernel/index.ts';

/** Before a call is answered: a failure to answer with, and whether the work is done all the same. */
export type Fault = (call: {
  readonly name: string;
  readonly table?: TableRef;
  readonly writes?: readonly RecordWrite[];
  readonly fileToken?: string;
}) => { readonly failure: FeishuFailure; readonly isDone?: boolean } | undefined;

export interface FakeTable {
  fields: FieldInfo[];
  readonly rows: Map<string, Record<string, Json>>;
}

export interface FakeFeishu extends FeishuClient {
  readonly tables: Map<string, FakeTable>;
  readonly calls: { readonly name: string; readonly rows: number }[];
  readonly writes: { readonly tableId: string; readonly recordId: string; readonly fields: JsonObject }[];
  readonly messages: { readonly to: string; readonly text: string; readonly uuid: string }[];
  readonly files: Map<string, { readonly base: string; readonly name: string; readonly bytes: Uint8Array }>;
  fault: Fault | undefined;
  /** What a search returns instead of the truth. */
  searchInstead: ((truth: readonly RawRecord[]) => readonly RawRecord[]) | undefined;
  /** Called in the middle of an update, before it is applied. */
  beforeUpdate: (() => void) | undefined;
  /** Rows that the app may not see or write for now. */
  readonly hidden: Set<string>;
  /** Who made every row, where Feishu tells. */
  creatorId: string | undefined;
  /** Whether downloads need the permission parameter. */
  isAdvanced: boolean;
  addFile(base: string, name: string, bytes: Uint8Array): string;
  count(name: string): number;
}

export function failure(code: number, changes: Partial<FeishuFailure> = {}): FeishuFailure {
  return { code, httpStatus: 400, message: `code ${code}`, outcome: 'refused', class: 'retry', ...changes };
}

/** A platform in memory: cells read back in the shapes of the facts, unknown columns refused, foreign tokens refused. */
export function createFakeFeishu(): FakeFeishu {
  const tables = new Map<string, FakeTable>();
  const calls: FakeFeishu['calls'] = [];
  const writes: FakeFeishu['writes'] = [];
  const messages: FakeFeishu['messages'] = [];
  const files: FakeFeishu['files'] = new Map();
  let counts: Record<string, number> = {};
  let serial = 0;
  const note = (name: string, rows = 0): void => {
    calls.push({ name, rows });
    counts[name] = (counts[name] ?? 0) + 1;
  };
  const tableOf = (table: TableRef): FakeTable => {
    const found = tables.get(table.tableId);
    if (found === undefined) throw new Error(`no table ${table.tableId}`);
    return found;
  };
  const recordOf = (table: FakeTable, recordId: string): RawRecord => ({
    recordId,
    fields: shown(table, table.rows.get(recordId) ?? {}, files),
    ...(feishu.creatorId === undefined ? {} : { createdById: feishu.creatorId }),
  });
  const check = <T>(call: Parameters<Fault>[0], work: () => FeishuResult<T>): Promise<FeishuResult<T>> => {
    const fault = feishu.fault?.(call);
    if (fault === undefined) return Promise.resolve(work());
    if (fault.isDone === true) work();
    return Promise.resolve(fail(fault.failure));
  };
  const feishu: FakeFeishu = {
    tables,
    calls,
    writes,
    messages,
    files,
    hidden: new Set(),
    fault: undefined,
    searchInstead: undefined,
    beforeUpdate: undefined,
    creatorId: undefined,
    isAdvanced: false,
    count: (name) => calls.filter((call) => call.name === name).length,
    addFile: (base, name, bytes) => {
      serial += 1;
      const token = `file${serial}`;
      files.set(token, { base, name, bytes });
      return token;
    },
    resolveBase: (token) => Promise.resolve(ok(token)),
    baseInfo: () => Promise.resolve(ok({ name: 'base', hasAdvancedPermissions: feishu.isAdvanced })),
    listTables: () => Promise.resolve(ok([...tables.keys()].map((tableId) => ({ tableId, name: tableId })))),
    listFields: (table) => {
      note('fields');
      return check({ name: 'fields', table }, () => ok(tableOf(table).fields));
    },
    createTable: (_appToken, name, fields) => {
      note('createTable');
      const tableId = `tbl_${name}`;
      tables.set(tableId, {
        rows: new Map(),
        fields: fields.map((field, index) => ({ fieldId: `fld${index}`, ...field })),
      });
      return Promise.resolve(ok(tableId));
    },
    createField: (table, field) => {
      note('createField');
      const { fields } = tableOf(table);
      fields.push({ fieldId: `fld${fields.length}`, ...field });
      return Promise.resolve(ok(`fld${fields.length}`));
    },
    searchRecords: (table, query) => {
      note('search');
      return check({ name: 'search', table }, () => {
        const own = tableOf(table);
        const matching = [...own.rows.keys()].filter((id) => matches(own.rows.get(id) ?? {}, query.filter));
        const truth = matching.map((id) => recordOf(own, id));
        return ok(feishu.searchInstead?.(truth) ?? truth);
      });
    },
    getRecords: (table, recordIds) => {
      for (let at = 0; at < recordIds.length; at += 100) note('get', Math.min(100, recordIds.length - at));
      return check({ name: 'get', table }, () => {
        const own = tableOf(table);
        const present = recordIds.filter((id) => own.rows.has(id) && !feishu.hidden.has(id));
        return ok({
          records: present.map((id) => recordOf(own, id)),
          absent: recordIds.filter((id) => !own.rows.has(id)),
          forbidden: recordIds.filter((id) => own.rows.has(id) && feishu.hidden.has(id)),
        });
      });
    },
    updateRecords: (table, batch) => {
      note('update', batch.length);
      feishu.beforeUpdate?.();
      return check({ name: 'update', table, writes: batch }, () => {
        const own = tableOf(table);
        if (batch.some((write) => feishu.hidden.has(write.recordId))) {
          return fail(failure(1254302, { class: 'permission' }));
        }
        const refusal = refusalOf(own, table, batch, files);
        if (refusal !== undefined) return fail(refusal);
        for (const write of batch) apply(own, write, writes, table.tableId);
        return ok(undefined);
      });
    },
    createRecords: () => Promise.resolve(ok([])),
    deleteRecord: (table, recordId) => {
      tableOf(table).rows.delete(recordId);
      return Promise.resolve(ok(undefined));
    },
    uploadMedia: async (appToken, source) => {
      note('upload');
      const fault = feishu.fault?.({ name: 'upload' });
      if (fault !== undefined) return fail(fault.failure);
      const parts: Uint8Array[] = [];
      for await (const part of source.open(0, source.sizeBytes)) parts.push(part);
      return ok(feishu.addFile(appToken, source.name, Buffer.concat(parts)));
    },
    downloadMedia: (attachment) => {
      note('download');
      return check({ name: 'download', fileToken: attachment.fileToken }, () => {
        if (feishu.isAdvanced && attachment.permission === undefined) {
          return fail(failure(1254302, { class: 'permission' }));
        }
        const file = files.get(attachment.fileToken);
        return file === undefined ? fail(failure(1061003, { class: 'gone' })) : ok(chunks(file.bytes));
      });
    },
    sendText: (to, text, uuid) => {
      note('message');
      return check({ name: 'message' }, () => {
        const name = 'chatId' in to ? to.chatId : to.openId;
        if (!messages.some((message) => message.uuid === uuid)) messages.push({ to: name, text, uuid });
        return ok(undefined);
      });
    },
    subscribeBase: () => Promise.resolve(ok(undefined)),
    takeCallCounts: () => {
      const taken = counts;
      counts = {};
      return taken;
    },
  } as FakeFeishu;
  return feishu;
}

async function* chunks(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  await Promise.resolve();
  yield bytes;
}

/** Cells as they are read: text in segments, files with their names, empty keys absent. */
function shown(table: FakeTable, row: Record<string, Json>, files: FakeFeishu['files']): JsonObject {
  const cells: Record<string, Json> = {};
  for (const [name, cell] of Object.entries(row)) {
    const type = table.fields.find((field) => field.name === name)?.type;
    if (cell === null) continue;
    if (type === 1 && typeof cell === 'string') cells[name] = [{ type: 'text', text: cell }];
    else if (type === 17 && Array.isArray(cell)) {
      cells[name] = (cell as unknown as readonly { file_token: string }[]).map((file) => {
        const token = file.file_token;
        const known = files.get(token);
        return { file_token: token, name: known?.name ?? token, size: known?.bytes.byteLength ?? 1, type: 'image/png' };
      });
    } else cells[name] = cell;
  }
  return cells;
}

function matches(row: Record<string, Json>, filter: JsonObject | undefined): boolean {
  if (filter === undefined) return true;
  const conditions = (filter['conditions'] ?? []) as unknown as readonly {
    field_name: string;
    operator: string;
    value: readonly string[];
  }[];
  return conditions.some((condition) => {
    const cell = row[condition.field_name] ?? null;
    return condition.operator === 'isNotEmpty' ? cell !== null : cell === condition.value[0];
  });
}

function refusalOf(
  own: FakeTable,
  table: TableRef,
  batch: readonly RecordWrite[],
  files: FakeFeishu['files'],
): FeishuFailure | undefined {
  for (const write of batch) {
    if (!own.rows.has(write.recordId)) return failure(1254043, { class: 'gone' });
    for (const [name, cell] of Object.entries(write.fields)) {
      const field = own.fields.find((candidate) => candidate.name === name);
      if (field === undefined) return failure(1254045, { class: 'schema' });
      if (field.type === 2 && cell !== null && typeof cell !== 'number') return failure(1254061, { class: 'invalid' });
      if (field.type !== 17 || cell === null) continue;
      const isList = Array.isArray(cell) && (cell as readonly Json[]).every((file) => typeof file === 'object');
      if (!isList) return failure(1254069, { class: 'invalid' });
      const tokens = (cell as unknown as readonly { file_token: string }[]).map((file) => file.file_token);
      if (tokens.some((token) => files.get(token)?.base !== table.appToken)) {
        return failure(1254303, { class: 'foreign-attachment' });
      }
    }
  }
  return undefined;
}

function apply(own: FakeTable, write: RecordWrite, writes: FakeFeishu['writes'], tableId: string): void {
  const row = own.rows.get(write.recordId) ?? {};
  for (const [name, cell] of Object.entries(write.fields)) {
    if (cell === undefined) continue;
    const type = own.fields.find((field) => field.name === name)?.type;
    if (type === 24) continue;
    row[name] = cell;
  }
  own.rows.set(write.recordId, row);
  writes.push({ tableId, recordId: write.recordId, fields: write.fields });
}
