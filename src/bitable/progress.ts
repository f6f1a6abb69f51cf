import type { EventRecord } from '../engine/ports/index.ts';
import { attemptId, type ExecutionId, executionId } from '../kernel/index.ts';
import { protocolCells } from './cells.ts';
import { changeRow } from './change-row.ts';
import { patienceMs } from './deps.ts';
import { goneOn } from './gone-on.ts';
import { type Hub, isReady, refOf, type RowPlace, stageLabel } from './hub.ts';
import { parseSourceRef, rowKey, tableKey } from './refs.ts';
import { loadRow, type RowDocument } from './row-documents.ts';
import { createDoorbell } from './signal.ts';
import { showRerun, takeRerun } from './take-rerun.ts';

/**
 * 进度, from the engine's events and at transitions only: `②分镜 · kie · 14:03 起`, or 排队 and why. Nobody decides by it, so
 * it waits long for company and is never retried for its own sake; what happened before this start is not told again.
 */
export interface ProgressWatch {
  ring(): void;
  run(): Promise<void>;
  drain(): Promise<void>;
}

const told = [
  'execution-resumed',
  'execution-queued',
  'node-waiting',
  'attempt-intended',
  'attempt-accepted',
  'cancel-requested',
] as const;
const pageSize = 500;
/** Rows whose words are remembered; those of others are written once more, which hurts nobody. */
const mostShown = 10_000;

export function createProgressWatch(hub: Hub, timeZone: string): ProgressWatch {
  const bell = createDoorbell(hub.deps.clock);
  const shown = new Map<string, string>();
  const clockTime = new Intl.DateTimeFormat('zh-CN', { timeZone, hour: '2-digit', minute: '2-digit', hour12: false });
  let cursor: number | undefined;

  const drain = async (): Promise<void> => {
    cursor ??= await hub.deps.store.lastEventSeq();
    for (;;) {
      const events = await hub.deps.store.events(cursor, pageSize, { types: told });
      const latest = new Map<string, EventRecord>();
      for (const event of events) if (event.sourceRef !== undefined) latest.set(event.sourceRef, event);
      for (const event of latest.values()) await show(event);
      cursor = events.at(-1)?.seq ?? cursor;
      if (events.length < pageSize) return;
    }
  };
  const show = async (event: EventRecord): Promise<void> => {
    const ref = parseSourceRef(event.sourceRef ?? '');
    const table = ref === undefined ? undefined : hub.tables.get(tableKey(ref.table));
    if (ref === undefined || table === undefined || !isReady(table) || event.executionId === undefined) return;
    const place = { table, recordId: ref.recordId };
    const key = rowKey(refOf(place));
    const row = await currentRow(place, ref.stage, executionId(event.executionId));
    if (row === undefined) return;
    // Told by the first event after it where the process died between the two.
    if (row.status === '待核对') await resume(hub, place);
    if (row.status !== '生成中' || event.type === 'execution-resumed') return;
    const execution = await hub.deps.store.execution(executionId(event.executionId));
    if (execution?.endedAt !== undefined) return;
    const index = table.agent.stages.findIndex((stage) => stage.stage === ref.stage);
    const words = await wordsOf(event, stageLabel(table.agent, index));
    if (words === undefined || shown.get(key) === words) return;
    shown.delete(key);
    shown.set(key, words);
    for (const [oldest] of shown) {
      if (shown.size <= mostShown) break;
      shown.delete(oldest);
    }
    void hub.writerOf(ref.table.appToken).write({
      tableId: ref.table.tableId,
      recordId: ref.recordId,
      cells: protocolCells(table.columns, { 进度: words }),
      withinMs: patienceMs.lazy,
    });
  };
  /** The row while this execution is its own; a rerun that it can take becomes so. */
  const currentRow = async (place: RowPlace, stage: string, id: ExecutionId): Promise<RowDocument | undefined> => {
    const row = await loadRow(hub.deps.store, rowKey(refOf(place)));
    if (row?.current?.executionId === id) return row;
    const execution = await hub.deps.store.execution(id);
    const taken = execution?.endedAt === undefined ? await takeRerun(hub, place, stage, execution) : undefined;
    if (taken !== undefined) showRerun(hub, place, taken);
    return taken;
  };
  const wordsOf = async (event: EventRecord, label: string): Promise<string | undefined> => {
    const since = `${clockTime.format(event.at)} 起`;
    switch (event.type) {
      case 'execution-queued':
        return `排队 · ${label} · ${since}`;
      case 'node-waiting': {
        const reason = textMember(event, ['words', 'text']);
        return reason === '' ? undefined : `排队 · ${label} · ${reason} · ${since}`;
      }
      case 'cancel-requested':
        return `取消中 · ${label}`;
      default: {
        const vendor = await vendorOf(hub, event);
        return [label, vendor, since].filter((part) => part !== '').join(' · ');
      }
    }
  };
  return {
    ring: () => bell.ring(),
    drain,
    run: async () => {
      while (!hub.signal.aborted) {
        await drain().catch((error: unknown) => {
          if (!hub.signal.aborted) hub.deps.logger.warn('progress could not be shown', { error });
        });
        await bell.wait(Number.POSITIVE_INFINITY, hub.signal);
      }
    },
  };
}

/** A call in doubt was found, or the operator's word came: the row runs again, unless it is in doubt once more. */
async function resume(hub: Hub, place: RowPlace): Promise<void> {
  const changed = await changeRow(hub, place, async (now) => {
    const row = await goneOn(hub, now);
    return row === undefined ? undefined : { row };
  });
  if (changed === undefined) return;
  void hub.writerOf(place.table.table.appToken).write({
    tableId: place.table.table.tableId,
    recordId: place.recordId,
    cells: protocolCells(place.table.columns, { 状态: '生成中', 报错: null }),
    withinMs: patienceMs.gather,
  });
}

async function vendorOf(hub: Hub, event: EventRecord): Promise<string> {
  const named = textMember(event, ['provider', 'account']);
  const id = textMember(event, ['attemptId', 'attempt']);
  if (named !== '' || id === '') return named;
  return (await hub.deps.store.attempt(attemptId(id)))?.provider ?? '';
}

function textMember(event: EventRecord, names: readonly string[]): string {
  for (const name of names) {
    const value = event.data[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return '';
}
