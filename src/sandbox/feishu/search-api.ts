import { z } from 'zod';
import type { JsonObject } from '../../kernel/index.ts';
import type { Call } from '../endpoint.ts';
import type { FaultAction } from '../faults.ts';
import type { RecordState, TableState } from '../state.ts';
import type { World } from '../world.ts';
import { readRecord } from './base-book.ts';
import { cellText } from './cells.ts';
import { compileFilter } from './filter.ts';
import { type FeishuGate, requireJson } from './gate.ts';
import { type Page, takePage } from './paging.ts';
import { appHand, placeOf } from './records-api.ts';
import { Refusal, success } from './refusal.ts';

const searchSchema = z.object({
  filter: z.unknown().optional(),
  field_names: z.array(z.string()).max(200).optional(),
  sort: z
    .array(z.object({ field_name: z.string(), desc: z.boolean().optional() }))
    .max(100)
    .optional(),
  automatic_fields: z.boolean().optional(),
});

type SearchTwist = Extract<FaultAction, { kind: 'search' }>;

/** records/search: filters, sorts, pages; and the twists that make it stale, unfiltered, doubled or short. */
export function addSearchApi(world: World, gate: FeishuGate): void {
  gate.add({
    name: 'feishu.records.search',
    method: 'POST',
    path: '/feishu/open-apis/bitable/v1/apps/:app_token/tables/:table_id/records/search',
    latency: 'feishuReadMs',
    perSecond: 20,
    handle: (call) => search(world, call),
  });
}

function search(world: World, call: Call): Response {
  const place = placeOf(world, call, 'read');
  const parsed = searchSchema.safeParse(requireJson(call));
  if (!parsed.success) throw new Refusal(1254001, 'WrongRequestBody');
  const query = parsed.data;
  const only = checkNames(place.table, query.field_names);
  const twist = call.faults.find((action): action is SearchTwist => action.kind === 'search');
  const blind = place.base.advancedPermission && place.base.appRole !== 'manager';
  const rows = blind ? [] : asSearched(world, place.table, twist);
  const filter = compileFilter(place.table, query.filter);
  const kept = twist?.twist === 'unfiltered' ? rows : rows.filter(filter);
  const sorted = sortRows(place.table, kept, query.sort ?? []);
  const page = twistPage(takePage(sorted, call.url.searchParams, { usual: 20, most: 500 }), twist);
  const automatic = query.automatic_fields ?? false;
  const items: JsonObject[] = page.items.map((record) =>
    readRecord(world, place, record, { automatic, hand: appHand, ...(only === undefined ? {} : { only }) }),
  );
  return success({
    items,
    has_more: page.hasMore,
    total: sorted.length,
    ...(page.pageToken === undefined ? {} : { page_token: page.pageToken }),
  });
}

function checkNames(table: TableState, names: readonly string[] | undefined): ReadonlySet<string> | undefined {
  if (names === undefined) return undefined;
  const known = new Set(table.fields.filter((field) => field.hidden !== true).map((field) => field.name));
  if (names.some((name) => !known.has(name))) throw new Refusal(1254024, 'InvalidFieldNames');
  return new Set(names);
}

/** Rows as the search index has them: perhaps as they were before their last change. */
function asSearched(world: World, table: TableState, twist: SearchTwist | undefined): RecordState[] {
  const rows = Object.values(table.records);
  if (twist?.twist === 'empty') return [];
  const withinMs = twist?.twist === 'stale' ? (twist.withinMs ?? 60_000) : world.controls.searchLagMs;
  if (withinMs <= 0) return rows;
  const sinceMs = world.clock.nowMs() - withinMs;
  return rows
    .filter((row) => row.createdAtMs <= sinceMs || twist?.twist === 'stale')
    .map((row) => (row.modifiedAtMs > sinceMs && row.previous !== undefined ? { ...row, cells: row.previous } : row));
}

function sortRows(
  table: TableState,
  rows: readonly RecordState[],
  sort: readonly { field_name: string; desc?: boolean | undefined }[],
): readonly RecordState[] {
  if (sort.length === 0) return rows;
  const keys = sort.map((key) => {
    const field = table.fields.find((candidate) => candidate.name === key.field_name);
    if (field === undefined) throw new Refusal(1254016, 'InvalidSort');
    return { fieldId: field.fieldId, sign: key.desc === true ? -1 : 1 };
  });
  return rows.toSorted((left, right) => {
    for (const { fieldId, sign } of keys) {
      const order = cellText(left.cells[fieldId]).localeCompare(cellText(right.cells[fieldId]), 'zh', {
        numeric: true,
      });
      if (order !== 0) return order * sign;
    }
    return 0;
  });
}

function twistPage(page: Page<RecordState>, twist: SearchTwist | undefined): Page<RecordState> {
  const first = page.items[0];
  switch (twist?.twist) {
    case 'repeat-row':
      return first === undefined ? page : { ...page, items: [...page.items, first] };
    case 'lose-page':
      return { items: page.items, hasMore: false, pageToken: undefined };
    case 'repeat-token':
      return { items: page.items, hasMore: true, pageToken: 'pg0' };
    case 'unfiltered':
    case 'stale':
    case 'empty':
    case undefined:
      return page;
  }
}
