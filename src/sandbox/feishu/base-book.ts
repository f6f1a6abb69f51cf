import { isJsonObject, type Json, type JsonObject } from '../../kernel/index.ts';
import type { BaseState, FieldState, RecordState, TableState } from '../state.ts';
import { newToken, type World } from '../world.ts';
import { fieldType, personJson, toCell } from './cells.ts';
import { Refusal } from './refusal.ts';

/** Who changes a record. */
export interface Hand {
  readonly kind: 'app' | 'staff';
  readonly id: string;
}

export function findBase(world: World, appToken: string): BaseState {
  return world.state.bases[appToken] ?? refuse(1254040, 'BaseTokenNotFound');
}

export function findTable(base: BaseState, tableId: string): TableState {
  return base.tables.find((table) => table.tableId === tableId) ?? refuse(1254041, 'TableIdNotFound');
}

function findRecord(table: TableState, recordId: string): RecordState {
  return table.records[recordId] ?? refuse(1254043, 'RecordIdNotFound');
}

function refuse(code: number, message: string): never {
  throw new Refusal(code, message, 404);
}

/** The column of that name that this hand may see. */
function findField(table: TableState, name: string, hand: Hand): FieldState {
  const field = table.fields.find((candidate) => candidate.name === name);
  if (field === undefined || (hand.kind === 'app' && field.hidden === true)) {
    return refuse(1254045, `FieldNameNotFound: ${name}`);
  }
  return field;
}

interface CheckedCells {
  readonly record?: RecordState;
  readonly cells: readonly { readonly field: FieldState; readonly value: Json | undefined }[];
}

function checkCells(
  world: World,
  place: { base: BaseState; table: TableState },
  fields: JsonObject,
  hand: Hand,
): CheckedCells['cells'] {
  return Object.entries(fields).map(([name, value]) => {
    const field = findField(place.table, name, hand);
    return { field, value: toCell(world, place.base.appToken, field, value ?? null) };
  });
}

/** Updates rows, all or nothing: everything is checked before the first cell changes. */
export function updateRecords(
  world: World,
  place: { base: BaseState; table: TableState },
  writes: readonly { readonly recordId: string; readonly fields: JsonObject }[],
  hand: Hand,
): RecordState[] {
  const checked = writes.map((write) => ({
    record: findRecord(place.table, write.recordId),
    cells: checkCells(world, place, write.fields, hand),
  }));
  for (const { record, cells } of checked) applyCells(world, place, { record, cells }, hand);
  return checked.map(({ record }) => record);
}

/** Creates rows, all or nothing. */
export function createRecords(
  world: World,
  place: { base: BaseState; table: TableState },
  rows: readonly JsonObject[],
  hand: Hand,
): RecordState[] {
  const checked = rows.map((fields) => checkCells(world, place, fields, hand));
  return checked.map((cells) => {
    const nowMs = world.clock.nowMs();
    const recordId = newToken(world, 'rec', 11);
    const record: RecordState = {
      recordId,
      cells: {},
      createdBy: hand.id,
      createdAtMs: nowMs,
      modifiedBy: hand.id,
      modifiedAtMs: nowMs,
    };
    place.table.records[recordId] = record;
    applyCells(world, place, { record, cells }, hand, 'record_added');
    return record;
  });
}

export function deleteRecord(
  world: World,
  place: { base: BaseState; table: TableState },
  recordId: string,
  hand: Hand,
): void {
  const record = findRecord(place.table, recordId);
  delete place.table.records[recordId]; // eslint-disable-line @typescript-eslint/no-dynamic-delete -- a JSON object, saved as it is
  announce(world, place, { record, changed: [], action: 'record_deleted' }, hand);
}

/** Sets one cell to a raw read shape, as a person, a formula or another tool could have left it. */
export function setRawCell(
  world: World,
  place: { base: BaseState; table: TableState },
  at: { recordId: string; column: string; value: Json | undefined },
  hand: Hand,
): void {
  const record = findRecord(place.table, at.recordId);
  const field = findField(place.table, at.column, { ...hand, kind: 'staff' });
  applyCells(world, place, { record, cells: [{ field, value: at.value }] }, hand);
}

function applyCells(
  world: World,
  place: { base: BaseState; table: TableState },
  change: { record: RecordState; cells: CheckedCells['cells'] },
  hand: Hand,
  action: 'record_added' | 'record_edited' = 'record_edited',
): void {
  const { record, cells } = change;
  record.previous = record.cells;
  const next = { ...record.cells };
  const changed = cells.map(({ field, value }) => {
    const before = next[field.fieldId];
    if (value === undefined)
      delete next[field.fieldId]; // eslint-disable-line @typescript-eslint/no-dynamic-delete -- a JSON object, saved as it is
    else next[field.fieldId] = value;
    journal(world, place, { record, field, before, after: value }, hand);
    return { fieldId: field.fieldId, before, after: value };
  });
  record.cells = next;
  record.modifiedBy = hand.id;
  record.modifiedAtMs = world.clock.nowMs();
  announce(world, place, { record, changed, action }, hand);
}

function journal(
  world: World,
  place: { base: BaseState; table: TableState },
  cell: { record: RecordState; field: FieldState; before: Json | undefined; after: Json | undefined },
  hand: Hand,
): void {
  world.journal.cellWrites.push({
    by: hand.id,
    hand: hand.kind,
    appToken: place.base.appToken,
    tableId: place.table.tableId,
    recordId: cell.record.recordId,
    column: cell.field.name,
    ...(cell.before === undefined ? {} : { before: cell.before }),
    ...(cell.after === undefined ? {} : { after: cell.after }),
    atMs: world.clock.nowMs(),
  });
}

function announce(
  world: World,
  place: { base: BaseState; table: TableState },
  what: {
    record: RecordState;
    changed: readonly { fieldId: string; before: unknown; after: unknown }[];
    action: 'record_added' | 'record_edited' | 'record_deleted';
  },
  hand: Hand,
): void {
  place.base.revision += 1;
  if (world.changeListeners.size === 0) return;
  const change = {
    eventId: newToken(world, '', 32).toLowerCase(),
    appToken: place.base.appToken,
    tableId: place.table.tableId,
    recordId: what.record.recordId,
    action: what.action,
    operatorId: hand.id,
    revision: place.base.revision,
    atMs: world.clock.nowMs(),
    fields: what.changed,
  };
  for (const listener of world.changeListeners) listener(change);
}

/** A row as search and batch_get show it: by column name, empty cells absent, attachments with their addresses. */
export function readRecord(
  world: World,
  place: { base: BaseState; table: TableState },
  record: RecordState,
  options: { cells?: RecordState['cells']; only?: ReadonlySet<string>; automatic?: boolean; hand: Hand },
): JsonObject {
  const fields: Record<string, Json> = {};
  const cells = options.cells ?? record.cells;
  for (const field of place.table.fields) {
    if (options.only !== undefined && !options.only.has(field.name)) continue;
    if (field.hidden === true && options.hand.kind === 'app') continue;
    const value = automaticCell(world, field, record) ?? cells[field.fieldId];
    if (value !== undefined) fields[field.name] = withAddresses(world, place.table.tableId, field, value);
  }
  const automatic = {
    created_by: personJson(world, record.createdBy),
    created_time: record.createdAtMs,
    last_modified_by: personJson(world, record.modifiedBy),
    last_modified_time: record.modifiedAtMs,
  };
  return { record_id: record.recordId, fields, ...(options.automatic === true ? automatic : {}) };
}

function automaticCell(world: World, field: FieldState, record: RecordState): Json | undefined {
  switch (field.type) {
    case fieldType.createdTime:
      return record.createdAtMs;
    case fieldType.modifiedTime:
      return record.modifiedAtMs;
    case fieldType.createdBy:
      return [personJson(world, record.createdBy)];
    case fieldType.modifiedBy:
      return [personJson(world, record.modifiedBy)];
    default:
      return undefined;
  }
}

function withAddresses(world: World, tableId: string, field: FieldState, value: Json): Json {
  if (field.type !== fieldType.attachment || !Array.isArray(value)) return value;
  return value.map((item: Json) => {
    if (!isJsonObject(item)) return item;
    const token = typeof item['file_token'] === 'string' ? item['file_token'] : '';
    const extra = encodeURIComponent(JSON.stringify({ bitablePerm: { tableId, rev: 1 } }));
    const root = `${world.baseUrl()}/feishu/open-apis/drive/v1/medias`;
    return {
      ...item,
      url: `${root}/${token}/download?extra=${extra}`,
      tmp_url: `${root}/batch_get_tmp_download_url?file_tokens=${token}&extra=${extra}`,
    };
  });
}
