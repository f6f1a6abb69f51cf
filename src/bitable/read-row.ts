import type { JsonObject } from '../kernel/index.ts';
import type { Hub, RowPlace } from './hub.ts';

/**
 * A row as it is now. `gone` only when the platform says that it is no more; undefined when it cannot be told: the platform
 * is away, or the row is hidden from the app for a while.
 */
export async function readRow(hub: Hub, place: RowPlace): Promise<JsonObject | 'gone' | undefined> {
  const read = await hub.deps.client.getRecords(place.table.table, [place.recordId], hub.signal);
  if (!read.ok) return undefined;
  const { records, absent } = read.value;
  const [record] = records;
  if (record !== undefined) return record.fields;
  if (absent.includes(place.recordId)) return 'gone';
  await hub.notice({
    name: 'row-hidden',
    title: '有一行读不到，将自动再试',
    text: `智能体 ${place.table.agent.agent} 的行 ${place.recordId} 没有被删除，但应用读不到它。若开了高级权限，请允许本应用读写该行。`,
  });
  return undefined;
}
