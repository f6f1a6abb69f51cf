import { z } from 'zod';
import type { JsonObject } from '../kernel/index.ts';
import type { WakeEvent } from './client.ts';

/** The record event of a base, as the long connection hands it over (header and event in one flat object). */
export const recordChangedEvent = 'drive.file.bitable_record_changed_v1';

const cellSchema = z.looseObject({ field_id: z.string(), field_value: z.string().catch('') });
const eventSchema = z.looseObject({
  event_id: z.string().min(1),
  file_token: z.string().optional().catch(undefined),
  table_id: z.string().min(1),
  revision: z.number().optional().catch(undefined),
  operator_id: z
    .looseObject({ open_id: z.string().optional().catch(undefined) })
    .nullish()
    .catch(undefined),
  action_list: z
    .array(
      z.looseObject({
        record_id: z.string(),
        action: z.string().catch(''),
        before_value: z.array(cellSchema).nullish().catch(undefined),
        after_value: z.array(cellSchema).nullish().catch(undefined),
      }),
    )
    .catch([]),
});

/** Reads the event leniently: what cannot be read is left out, and the tick finds the change anyway. */
export function parseRecordEvent(raw: unknown, ownId: string | undefined): WakeEvent | undefined {
  const parsed = eventSchema.safeParse(raw);
  if (!parsed.success) return undefined;
  const { event_id: eventId, table_id: tableId, file_token: appToken, operator_id: operator, revision } = parsed.data;
  const operatorId = operator?.open_id;
  return {
    eventId,
    tableId,
    ...(appToken === undefined ? {} : { appToken }),
    ...(operatorId === undefined ? {} : { operatorId }),
    ...(revision === undefined ? {} : { revision }),
    ...(operatorId === undefined || ownId === undefined ? {} : { isOwn: operatorId === ownId }),
    records: parsed.data.action_list.map((entry) => {
      const after = entry.after_value ?? [];
      const touched = [...(entry.before_value ?? []), ...after].map((cell) => cell.field_id);
      return {
        recordId: entry.record_id,
        action: entry.action,
        fieldIds: [...new Set(touched)],
        ...(after.length === 0 ? {} : { after: cellsOf(after) }),
      };
    }),
  };
}

function cellsOf(cells: readonly z.infer<typeof cellSchema>[]): JsonObject {
  return Object.fromEntries(cells.map((cell) => [cell.field_id, valueOf(cell.field_value)]));
}

/** `field_value` is JSON in a string; text may also come bare. */
function valueOf(text: string): JsonObject[string] {
  try {
    return jsonSchema.parse(JSON.parse(text));
  } catch {
    return text;
  }
}

const jsonSchema = z.json();
