import type { TableRef } from '../feishu/index.ts';

/** Where a stage's execution came from: `bitable:<appToken>/<tableId>/<recordId>#<stage>`; opaque to the engine. */
export interface RowRef {
  readonly table: TableRef;
  readonly recordId: string;
}

/** `<appToken>/<tableId>`: names a table in documents and maps. */
export function tableKey(table: TableRef): string {
  return `${table.appToken}/${table.tableId}`;
}

/** `<appToken>/<tableId>/<recordId>`: names a row. */
export function rowKey(row: RowRef): string {
  return `${tableKey(row.table)}/${row.recordId}`;
}

/** All executions and charges of a row start with this. */
export function rowSourcePrefix(row: RowRef): string {
  return `bitable:${rowKey(row)}#`;
}

export function stageSourceRef(row: RowRef, stage: string): string {
  return `${rowSourcePrefix(row)}${stage}`;
}

export function parseSourceRef(sourceRef: string): (RowRef & { readonly stage: string }) | undefined {
  const match = /^bitable:([^/#]+)\/([^/#]+)\/([^/#]+)#(.+)$/.exec(sourceRef);
  if (match === null) return undefined;
  const [, appToken = '', tableId = '', recordId = '', stage = ''] = match;
  return { table: { appToken, tableId }, recordId, stage };
}

/** What stands in 执行编号: the execution's id and this installation's tag. Before there is an id, the tag alone. */
export function formatExecutionMark(executionId: string | undefined, tag: string): string {
  return `${executionId ?? ''}@${tag}`;
}

/** The tag of whoever wrote 执行编号; undefined where there is none. */
export function tagOfExecutionMark(text: string): string | undefined {
  const at = text.lastIndexOf('@');
  const tag = at === -1 ? '' : text.slice(at + 1).trim();
  return tag === '' ? undefined : tag;
}
