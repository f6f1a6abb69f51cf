import type { WakeSource } from '../feishu/index.ts';
import { isJsonObject, type Json, type JsonObject } from '../kernel/index.ts';
import type { Sandbox } from '../sandbox/index.ts';

type RecordChange = Parameters<Parameters<Sandbox['platform']['onRecordChanged']>[0]>[0];

/** The sandbox tells of edits as the long connection would, without a socket: a typed word is taken up at once. */
export function createSandboxWake(sandbox: Pick<Sandbox, 'platform'>): WakeSource {
  let stop: (() => void) | undefined;
  let lastEventAtMs: number | undefined;
  return {
    start: async (onWake) => {
      stop ??= sandbox.platform.onRecordChanged((change) => {
        lastEventAtMs = change.atMs;
        onWake({
          eventId: change.eventId,
          tableId: change.tableId,
          appToken: change.appToken,
          operatorId: change.operatorId,
          records: [
            { recordId: change.recordId, action: change.action, fieldIds: fieldIdsOf(change), after: afterOf(change) },
          ],
        });
      });
      await Promise.resolve();
    },
    isAlive: () => stop !== undefined,
    lastEventAtMs: () => lastEventAtMs,
    stop: async () => {
      stop?.();
      stop = undefined;
      await Promise.resolve();
    },
  };
}

function fieldIdsOf(change: RecordChange): readonly string[] {
  return change.fields.map((field) => field.fieldId);
}

function afterOf(change: RecordChange): JsonObject {
  return Object.fromEntries(
    change.fields.flatMap(({ fieldId, after }) => (isJson(after) ? [[fieldId, after] as const] : [])),
  );
}

function isJson(value: unknown): value is Json {
  if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return true;
  return Array.isArray(value) ? value.every(isJson) : isJsonObject(value);
}
