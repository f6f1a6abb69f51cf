import type { FeishuFailure } from '../feishu/index.ts';
import type { JsonObject } from '../kernel/index.ts';
import { createAttachments } from './attachments.ts';
import { lesserColumns } from './cells.ts';
import type { TableSideDeps } from './deps.ts';
import { createFileMemory } from './file-memory.ts';
import type { Hub, TableState } from './hub.ts';
import { createMessenger } from './messages.ts';
import { tableKey } from './refs.ts';
import { createKeyedLock } from './signal.ts';
import { type BaseWriter, createBaseWriter } from './writer.ts';

/** What the parts share: one writer a base, made when it is first needed. */
export function createHub(deps: TableSideDeps, signal: AbortSignal): Hub {
  const writers = new Map<string, BaseWriter>();
  const tables = new Map<string, TableState>(
    deps.agents.map(({ definition, table }) => [
      tableKey(table),
      { agent: definition, table, columns: undefined, halted: undefined, isStatusProven: false, columnsAreStale: true },
    ]),
  );
  const notice = async (data: JsonObject): Promise<void> => {
    const event = { at: deps.clock.nowMs(), type: 'notice', data } as const;
    await deps.store.commit([{ type: 'append-event', event }]).catch((error: unknown) => {
      if (!signal.aborted) deps.logger.error('a notice could not be stored', { name: data['name'], error });
    });
  };
  const files = createFileMemory(deps.store, deps.clock);
  const hub: Hub = {
    deps,
    files,
    attachments: createAttachments({ ...deps, files }, signal),
    lock: createKeyedLock(),
    messenger: createMessenger(deps, signal),
    signal,
    tables,
    notice,
    halt: async (table, why, text) => {
      if (table.halted === why) return;
      table.halted = why;
      deps.logger.error('intake of a table has stopped', { agent: table.agent.agent, why });
      await notice({ name: why === 'columns' ? 'columns-missing' : why, text, severity: 'error' });
    },
    writerOf: (appToken) => {
      const known = writers.get(appToken);
      if (known !== undefined) return known;
      const writer = createWriter(hub, appToken);
      writers.set(appToken, writer);
      return writer;
    },
  };
  return hub;
}

function createWriter(hub: Hub, appToken: string): BaseWriter {
  const { deps } = hub;
  const stateOf = (tableId: string): TableState | undefined => hub.tables.get(tableKey({ appToken, tableId }));
  const placeOf = (tableId: string | undefined): DownPlace =>
    tableId === undefined
      ? { key: `write-back:${appToken}`, words: '' }
      : { key: `write-back:${appToken}/${tableId}`, words: `智能体 ${stateOf(tableId)?.agent.agent ?? tableId}：` };
  return createBaseWriter({
    ...deps,
    appToken,
    spacingMs: deps.settings.feishu.write_spacing,
    signal: hub.signal,
    columnsOf: (tableId) => {
      const columns = stateOf(tableId)?.columns;
      if (columns === undefined) return { writable: new Set(), lesser: new Set() };
      return { writable: columns.writable, lesser: lesserColumns(columns) };
    },
    onDown: (failure, tableId) => void hub.notice(downNotice(placeOf(tableId), failure)),
    onRecovered: (tableId) =>
      void hub.notice({
        name: 'write-back-down',
        key: placeOf(tableId).key,
        recovered: true,
        title: '表格写入已恢复',
        text: `${placeOf(tableId).words}积压的结果正在写回。`,
      }),
    onDropped: (tableId, column, failure) => {
      const state = stateOf(tableId);
      if (state !== undefined && failure.class === 'schema') state.columnsAreStale = true;
      deps.logger.warn('a cell was refused and left out', { column, code: failure.code, class: failure.class });
    },
    onRowStuck: (tableId, recordId, failure) => {
      deps.logger.warn('a row cannot be written for now', { tableId, recordId, code: failure.code });
      const agent = stateOf(tableId)?.agent.agent ?? tableId;
      void hub.notice(rowStuckNotice(agent, recordId, failure));
    },
  });
}

/** The base that cannot be written to, or the one table of it. */
interface DownPlace {
  readonly key: string;
  readonly words: string;
}

function downNotice(place: DownPlace, failure: FeishuFailure): JsonObject {
  const remedy =
    failure.class === 'permission'
      ? '请在多维表格右上角「…」→ 更多 → 添加文档应用，加入本应用并给可管理权限。'
      : '结果都已保存，恢复后自动写回；在此之前不会启动新的付费任务。';
  return {
    name: 'write-back-down',
    key: place.key,
    title: '表格写不进去',
    text: `${place.words}飞书代码 ${failure.code} ${failure.message}。${remedy}`,
    severity: 'error',
  };
}

function rowStuckNotice(agent: string, recordId: string, failure: FeishuFailure): JsonObject {
  const why =
    failure.class === 'permission'
      ? '应用读写不了它；若开了高级权限，请允许本应用读写该行。'
      : `飞书代码 ${failure.code} ${failure.message}。`;
  return {
    name: 'row-stuck',
    title: '有一行写不进去，其余照常',
    text: `智能体 ${agent} 的行 ${recordId}：${why}结果都已保存，会一直再试。`,
  };
}
