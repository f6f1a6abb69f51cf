import type { JsonObject } from '../kernel/index.ts';
import { createRecords } from './feishu/base-book.ts';
import { addMedia } from './feishu/media-api.ts';
import { buildTable, newBase } from './feishu/tables-api.ts';
import type { RowSpec, TableSpec } from './options.ts';
import { drawSample } from './samples/draw.ts';
import { staffFallback, type World } from './world.ts';

/** Makes the default base with its tables and their sample rows; what is there already is left alone. */
export async function seedWorld(
  world: World,
  plan: { readonly appToken: string; readonly tables: readonly TableSpec[] },
): Promise<void> {
  const base = world.state.bases[plan.appToken] ?? newBase(world, 'Gridloom 演示', plan.appToken);
  const hand = { kind: 'staff', id: world.people[0]?.openId ?? staffFallback.openId } as const;
  for (const spec of plan.tables) {
    if (base.tables.some((table) => table.tableId === spec.tableId)) continue;
    const columns = spec.columns.map((column) => ({
      field_name: column.name,
      type: column.type,
      ...(column.options === undefined ? {} : { property: { options: column.options.map((name) => ({ name })) } }),
      ...(column.description === undefined ? {} : { description: column.description }),
    }));
    const table = buildTable(world, spec.name, columns, spec.tableId);
    base.tables.push(table);
    for (const row of spec.rows ?? []) {
      const cells = { ...row.cells, ...(await pictureCells(world, plan.appToken, row)) };
      createRecords(world, { base, table }, [cells], hand);
    }
  }
}

async function pictureCells(world: World, appToken: string, row: RowSpec): Promise<JsonObject> {
  const cells: Record<string, readonly JsonObject[]> = {};
  for (const [column, names] of Object.entries(row.pictures ?? {})) {
    const tokens: JsonObject[] = [];
    for (const name of names) {
      const bytes = await drawSample(world.painter, name);
      const media = await addMedia(world, appToken, `${name}.png`, bytes);
      tokens.push({ file_token: media.fileToken });
    }
    cells[column] = tokens;
  }
  return cells;
}
