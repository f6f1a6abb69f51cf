import type { Json, JsonObject } from '../kernel/index.ts';
import {
  createRecords,
  deleteRecord,
  findBase,
  findTable,
  type Hand,
  readRecord,
  setRawCell,
  updateRecords,
} from './feishu/base-book.ts';
import { cellText } from './feishu/cells.ts';
import { addMedia } from './feishu/media-api.ts';
import type { FieldState } from './state.ts';
import { staffFallback, type World } from './world.ts';

/** The table as its people use it: for tests, the demo, the simulator and the page. */
export interface TableDoor {
  tables(): readonly { readonly tableId: string; readonly name: string }[];
  fields(tableId: string): readonly FieldState[];
  recordIds(tableId: string): readonly string[];
  /** Write shapes, as a person types them; `openId` says who. */
  createRow(tableId: string, fields: JsonObject, openId?: string): string;
  setCells(tableId: string, recordId: string, fields: JsonObject, openId?: string): void;
  /** Any cell in its raw read shape: segments, formulas, odd things. */
  setRawCell(tableId: string, recordId: string, column: string, value: Json | undefined, openId?: string): void;
  deleteRow(tableId: string, recordId: string, openId?: string): void;
  /** Read shapes by column name; undefined when the row is gone. */
  row(tableId: string, recordId: string): JsonObject | undefined;
  /** The plain text of a cell; empty when absent. */
  text(tableId: string, recordId: string, column: string): string;
  renameColumn(tableId: string, from: string, to: string): void;
  /** Adds a file to the base; its token can be written into attachment cells. */
  uploadFile(name: string, bytes: Uint8Array, appToken?: string): Promise<string>;
  /** SHA-256 of the bytes behind a file token. */
  fileHash(fileToken: string): string | undefined;
  /** The bytes behind a file token. */
  fileBytes(fileToken: string): Promise<Uint8Array | undefined>;
}

export function createTableDoor(world: World, appToken: string): TableDoor {
  const place = (tableId: string): { base: ReturnType<typeof findBase>; table: ReturnType<typeof findTable> } => {
    const base =
      Object.values(world.state.bases).find((one) => one.tables.some((table) => table.tableId === tableId)) ??
      findBase(world, appToken);
    return { base, table: findTable(base, tableId) };
  };
  const staff = (openId = world.people[0]?.openId ?? staffFallback.openId): Hand => ({ kind: 'staff', id: openId });
  const row = (tableId: string, recordId: string): JsonObject | undefined => {
    const where = place(tableId);
    const record = where.table.records[recordId];
    if (record === undefined) return undefined;
    const { fields } = readRecord(world, where, record, { hand: staff() });
    return fields as JsonObject; // eslint-disable-line @typescript-eslint/no-unsafe-type-assertion -- made two lines above
  };
  return {
    tables: () =>
      Object.values(world.state.bases).flatMap((base) => base.tables.map(({ tableId, name }) => ({ tableId, name }))),
    fields: (tableId) => place(tableId).table.fields,
    recordIds: (tableId) => Object.keys(place(tableId).table.records),
    createRow: (tableId, fields, openId) =>
      createRecords(world, place(tableId), [fields], staff(openId))[0]?.recordId ?? '',
    setCells: (tableId, recordId, fields, openId) => {
      updateRecords(world, place(tableId), [{ recordId, fields }], staff(openId));
    },
    setRawCell: (tableId, recordId, column, value, openId) => {
      setRawCell(world, place(tableId), { recordId, column, value }, staff(openId));
    },
    deleteRow: (tableId, recordId, openId) => {
      deleteRecord(world, place(tableId), recordId, staff(openId));
    },
    row,
    text: (tableId, recordId, column) => cellText(row(tableId, recordId)?.[column]),
    renameColumn: (tableId, from, to) => {
      const field = place(tableId).table.fields.find((candidate) => candidate.name === from);
      if (field !== undefined) field.name = to;
    },
    uploadFile: async (name, bytes, base = appToken) => (await addMedia(world, base, name, bytes)).fileToken,
    fileHash: (fileToken) => world.state.media[fileToken]?.hash,
    fileBytes: (fileToken) => {
      const media = world.state.media[fileToken];
      return media === undefined ? Promise.resolve(undefined) : world.blobs.read(media.hash);
    },
  };
}
