import { z } from 'zod';
import { type Json, type JsonObject } from '../../kernel/index.ts';
import { addEndpoint, type Call, type EndpointDefinition, jsonResponse } from '../endpoint.ts';
import { findTable, readRecord, setRawCell } from '../feishu/base-book.ts';
import { optionsOf } from '../feishu/cells.ts';
import { mediaResponse } from '../feishu/media-download-api.ts';
import { Refusal } from '../feishu/refusal.ts';
import type { BaseState, FieldState, TableState } from '../state.ts';
import { createTableDoor, type TableDoor } from '../table-door.ts';
import { staffFallback, type World } from '../world.ts';
import { pageAssets } from './assets/index.ts';
import { hostAllowed, mediaHeaders, originAllowed, pageHeaders } from './guard.ts';

const maxUploadBytes = 64 * 1024 * 1024;
const fieldsSchema = z.object({ fields: z.record(z.string(), z.json()) });
const root = '/table/api/tables/:table_id';

/** The table page and the little API behind it: what a person does in Feishu's own table. */
export function addPageApi(world: World, appToken: string): void {
  const door = createTableDoor(world, appToken);
  for (const [path, asset] of Object.entries(pageAssets)) {
    addGuarded(world, {
      name: 'page.asset',
      method: 'GET',
      path,
      handle: () => new Response(asset.text, { headers: { ...pageHeaders, 'content-type': asset.type } }),
    });
  }
  addReads(world, door);
  addRowWrites(world, door);
  addFileWrites(world, door);
}

/** Guards an endpoint, and turns refusals into words for the page. */
function addGuarded(world: World, definition: EndpointDefinition): void {
  addEndpoint(world, {
    ...definition,
    handle: async (call) => {
      if (!hostAllowed(call.request, world.baseUrl())) return jsonResponse({ error: '这个地址不是本机' }, 421);
      if (definition.method !== 'GET' && !originAllowed(call.request)) {
        return jsonResponse({ error: '只接受本页面发出的修改' }, 403);
      }
      try {
        return await definition.handle(call);
      } catch (error) {
        if (error instanceof Refusal) return jsonResponse({ error: error.message, code: error.code }, 400);
        throw error;
      }
    },
  });
}

function placeOf(world: World, call: Call): { base: BaseState; table: TableState } {
  const tableId = call.params['table_id'] ?? '';
  const base = Object.values(world.state.bases).find((one) => one.tables.some((table) => table.tableId === tableId));
  if (base === undefined) throw new Refusal(1254041, '没有这张表', 404);
  return { base, table: findTable(base, tableId) };
}

const hand = { kind: 'staff', id: staffFallback.openId } as const;

function fieldJson(field: FieldState): JsonObject {
  return {
    name: field.name,
    type: field.type,
    options: optionsOf(field).map(({ name, color }) => ({ name, color })),
    description: field.description ?? '',
  };
}

function addReads(world: World, door: TableDoor): void {
  addGuarded(world, {
    name: 'page.world',
    method: 'GET',
    path: '/table/api/world',
    handle: () =>
      jsonResponse({ tables: door.tables(), person: world.people[0]?.name ?? staffFallback.name }, 200, pageHeaders),
  });
  addGuarded(world, {
    name: 'page.table',
    method: 'GET',
    path: root,
    handle: (call) => {
      const { base, table } = placeOf(world, call);
      const version = String(base.revision);
      if (call.url.searchParams.get('version') === version)
        return jsonResponse({ version, unchanged: true }, 200, pageHeaders);
      const rows = Object.values(table.records).map((record) =>
        readRecord(world, { base, table }, record, { hand, automatic: true }),
      );
      return jsonResponse({ version, name: table.name, fields: table.fields.map(fieldJson), rows }, 200, pageHeaders);
    },
  });
  addGuarded(world, {
    name: 'page.media',
    method: 'GET',
    path: '/table/media/:token',
    handle: async (call) => {
      const media = world.state.media[call.params['token'] ?? ''];
      if (media === undefined) return new Response('not found', { status: 404 });
      const response = await mediaResponse(world, media, call.request.headers.get('range'));
      const headers = new Headers(response.headers);
      for (const [name, value] of Object.entries(mediaHeaders)) headers.set(name, value);
      const shown = /^(image\/(png|jpeg|webp|gif)|video\/mp4)$/.test(media.mime);
      if (shown) headers.set('content-disposition', 'inline');
      return new Response(response.body, { status: response.status, headers });
    },
  });
}

function addRowWrites(world: World, door: TableDoor): void {
  const person = (): string => world.people[0]?.openId ?? staffFallback.openId;
  const fieldsOf = (call: Call): Record<string, Json> => {
    const parsed = fieldsSchema.safeParse(call.json());
    if (!parsed.success) throw new Refusal(1254001, '内容格式不对');
    return parsed.data.fields;
  };
  addGuarded(world, {
    name: 'page.row.create',
    method: 'POST',
    path: `${root}/rows`,
    handle: (call) =>
      jsonResponse({ recordId: door.createRow(call.params['table_id'] ?? '', fieldsOf(call), person()) }),
  });
  addGuarded(world, {
    name: 'page.row.update',
    method: 'PUT',
    path: `${root}/rows/:record_id`,
    handle: (call) => {
      door.setCells(call.params['table_id'] ?? '', call.params['record_id'] ?? '', fieldsOf(call), person());
      return jsonResponse({ ok: true });
    },
  });
  addGuarded(world, {
    name: 'page.row.delete',
    method: 'DELETE',
    path: `${root}/rows/:record_id`,
    handle: (call) => {
      door.deleteRow(call.params['table_id'] ?? '', call.params['record_id'] ?? '', person());
      return jsonResponse({ ok: true });
    },
  });
}

function tokensOf(value: unknown): string[] {
  const parsed = z.array(z.looseObject({ file_token: z.string() })).safeParse(value);
  return parsed.success ? parsed.data.map((item) => item.file_token) : [];
}

function addFileWrites(world: World, door: TableDoor): void {
  addGuarded(world, {
    name: 'page.file.add',
    method: 'POST',
    path: `${root}/rows/:record_id/files`,
    maxBodyBytes: maxUploadBytes,
    handle: async (call) => {
      const { base, table } = placeOf(world, call);
      const recordId = call.params['record_id'] ?? '';
      const column = call.url.searchParams.get('column') ?? '';
      const name = (call.url.searchParams.get('name') ?? 'file').slice(0, 200);
      const fileToken = await door.uploadFile(name, call.body, base.appToken);
      const held = tokensOf(door.row(table.tableId, recordId)?.[column]);
      const value = [...held, fileToken].map((token) => ({ file_token: token }));
      door.setCells(table.tableId, recordId, { [column]: value });
      return jsonResponse({ fileToken });
    },
  });
  addGuarded(world, {
    name: 'page.file.remove',
    method: 'DELETE',
    path: `${root}/rows/:record_id/files/:token`,
    handle: (call) => {
      const { base, table } = placeOf(world, call);
      const recordId = call.params['record_id'] ?? '';
      const column = call.url.searchParams.get('column') ?? '';
      const kept = tokensOf(door.row(table.tableId, recordId)?.[column]).filter(
        (token) => token !== call.params['token'],
      );
      if (kept.length === 0) setRawCell(world, { base, table }, { recordId, column, value: undefined }, hand);
      else door.setCells(table.tableId, recordId, { [column]: kept.map((token) => ({ file_token: token })) });
      return jsonResponse({ ok: true });
    },
  });
}
