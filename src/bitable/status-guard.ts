import type { WakeEvent } from '../feishu/index.ts';
import type { Clock } from '../kernel/index.ts';
import type { BoundColumn } from './columns.ts';

/**
 * Rows whose 状态 somebody else has just changed, to be looked at soon instead of at the next word or hourly look. A row is
 * named at most once in a while: an automation that answers our every write must not become a loop of calls.
 */
export interface StatusGuard {
  touched(event: WakeEvent, status: BoundColumn | undefined): readonly string[];
}

const againMs = 10 * 60_000;

export function createStatusGuard(clock: Clock): StatusGuard {
  const lookedAtMs = new Map<string, number>();
  return {
    touched: (event, status) => {
      // Where it is not known that the edit was not our own, it costs no look.
      if (status === undefined || event.isOwn !== false) return [];
      const nowMs = clock.monotonicMs();
      for (const [recordId, atMs] of lookedAtMs) if (nowMs - atMs >= againMs) lookedAtMs.delete(recordId);
      const touched = event.records.filter(
        (record) => record.action === 'record_edited' && record.fieldIds.includes(status.fieldId),
      );
      const due = touched.map((record) => record.recordId).filter((recordId) => !lookedAtMs.has(recordId));
      for (const recordId of due) lookedAtMs.set(recordId, nowMs);
      return due;
    },
  };
}
