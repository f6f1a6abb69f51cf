import type { ExecutionLine } from './live-executions.ts';

/** Compact: one array a line, its members named once. */
export function listJson(lines: readonly ExecutionLine[], nowMs: number): string {
  return JSON.stringify({
    updated_at: new Date(nowMs).toISOString(),
    columns: listColumns,
    executions: lines.map((line) => listColumns.map((name) => line[camel(name)] ?? null)),
  });
}

const listColumns = [
  'id',
  'agent',
  'stage',
  'workflow',
  'status',
  'created_at',
  'started_at',
  'ended_at',
  'node',
  'title',
  'vendor',
  'model',
  'since',
  'attempts',
  'degraded',
  'failure_kind',
] as const;

function camel(name: (typeof listColumns)[number]): keyof ExecutionLine {
  switch (name) {
    case 'created_at':
      return 'createdAt';
    case 'started_at':
      return 'startedAt';
    case 'ended_at':
      return 'endedAt';
    case 'failure_kind':
      return 'failureKind';
    default:
      return name;
  }
}
