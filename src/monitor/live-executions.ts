import type { EventRecord, ExecutionRecord, ExecutionStatus } from '../engine/ports/index.ts';
import type { ExecutionId } from '../kernel/index.ts';
import type { CallFacts } from './call-facts.ts';

/** One line of the page's list. No row content, no names of staff. */
export interface ExecutionLine {
  readonly id: ExecutionId;
  readonly agent: string;
  readonly stage: string;
  readonly workflow: string;
  readonly status: ExecutionStatus;
  readonly createdAt: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
  /** The node that moved last, by path; its title where it has one. */
  readonly node: string;
  readonly title: string;
  readonly vendor: string;
  readonly model: string;
  /** Since when it stands where it stands. */
  readonly since: number;
  readonly attempts: number;
  readonly degraded: boolean;
  readonly failureKind: string;
}

type MutableLine = { -readonly [Key in keyof ExecutionLine]: ExecutionLine[Key] } & {
  /** The call made last: shown again when the execution has ended. */
  lastCall?: { readonly vendor: string; readonly model: string };
};

/** Executions that are under way, and the last that ended, by id; ids sort by the time of their making. */
export interface LiveExecutions {
  has(id: ExecutionId): boolean;
  put(record: ExecutionRecord): void;
  /** Takes an event in; tells whether a line changed. */
  apply(event: EventRecord, call?: CallFacts): boolean;
  /** Takes in a call without an event (at a start). */
  applyCall(id: ExecutionId, call: CallFacts, since: number): void;
  line(id: ExecutionId): ExecutionLine | undefined;
  /** Unfinished first (oldest first), then the ended, newest first. */
  lines(): readonly ExecutionLine[];
  counts(): ExecutionCounts;
}

export interface ExecutionCounts {
  queued: number;
  running: number;
  held: number;
  byAgent: Record<string, { queued: number; running: number; held: number }>;
  byVendor: Record<string, number>;
}

/** Most lines in the list; the oldest ended ones go first. */
const mostLines = 5_000;
const mostEnded = 1_000;

export function createLiveExecutions(): LiveExecutions {
  const open = new Map<string, MutableLine>();
  const ended = new Map<string, MutableLine>();
  const find = (id: ExecutionId | undefined): MutableLine | undefined =>
    id === undefined ? undefined : (open.get(id) ?? ended.get(id));
  const file = (line: MutableLine): void => {
    const isEnded = line.endedAt !== undefined;
    (isEnded ? open : ended).delete(line.id);
    (isEnded ? ended : open).set(line.id, line);
    const keep = Math.max(0, Math.min(mostEnded, mostLines - open.size));
    for (const [oldest] of ended) {
      if (ended.size <= keep) break;
      ended.delete(oldest);
    }
  };
  return {
    has: (id) => open.has(id) || ended.has(id),
    line: find,
    put: (record) => {
      file(lineOf(record));
    },
    apply: (event, call) => {
      const line = find(event.executionId);
      if (line === undefined) return false;
      moveLine(line, event, call);
      file(line);
      return true;
    },
    applyCall: (id, call, since) => {
      const line = find(id);
      if (line === undefined) return;
      placeAtCall(line, call, since);
      line.attempts = Math.max(line.attempts, call.ordinal);
    },
    lines: () => [...open.values(), ...[...ended.values()].reverse()].slice(0, mostLines),
    counts: () => countLines(open.values()),
  };
}

function lineOf(record: ExecutionRecord): MutableLine {
  return {
    id: record.id,
    agent: record.labels.agent ?? '',
    stage: record.labels.stage ?? '',
    workflow: record.workflow,
    status: record.status,
    createdAt: record.createdAt,
    ...(record.startedAt === undefined ? {} : { startedAt: record.startedAt }),
    ...(record.endedAt === undefined ? {} : { endedAt: record.endedAt }),
    node: '',
    title: '',
    vendor: '',
    model: '',
    since: record.endedAt ?? record.startedAt ?? record.createdAt,
    attempts: 0,
    degraded: record.marks.some((mark) => mark.kind === 'degraded'),
    failureKind: record.failure?.kind ?? '',
  };
}

function moveLine(line: MutableLine, event: EventRecord, call: CallFacts | undefined): void {
  const node = nodeOf(event);
  switch (event.type) {
    case 'execution-started':
    case 'execution-resumed':
      if (line.endedAt === undefined) line.status = 'running';
      line.startedAt ??= event.at;
      line.since = event.at;
      return;
    case 'execution-held':
      if (line.endedAt === undefined) line.status = 'held';
      line.since = event.at;
      return;
    case 'execution-ended': {
      const { status, failure } = event.data;
      if (status === 'succeeded' || status === 'partial' || status === 'failed' || status === 'canceled')
        line.status = status;
      if (typeof failure === 'object' && failure !== null && 'kind' in failure && typeof failure.kind === 'string')
        line.failureKind = failure.kind;
      line.endedAt = event.at;
      line.since = event.at;
      line.vendor = line.lastCall?.vendor ?? '';
      line.model = line.lastCall?.model ?? '';
      return;
    }
    case 'node-degraded':
      line.degraded = true;
      return;
    case 'node-started':
    case 'node-waiting':
    case 'node-held':
      if (node !== '') {
        const { title } = event.data;
        line.title = typeof title === 'string' ? title : node === line.node ? line.title : '';
        line.node = node;
      }
      if (event.type !== 'node-held') {
        line.vendor = '';
        line.model = '';
      }
      line.since = event.at;
      return;
    case 'attempt-intended':
      line.attempts += 1;
      if (call !== undefined) placeAtCall(line, call, event.at);
      return;
    case 'attempt-accepted':
    case 'attempt-found':
      if (call !== undefined) placeAtCall(line, call, event.at);
      return;
    default:
  }
}

function placeAtCall(line: MutableLine, call: CallFacts, since: number): void {
  if (withoutItem(line.node) !== withoutItem(call.node)) line.title = '';
  line.node = call.node;
  line.vendor = call.provider;
  line.model = call.model;
  line.lastCall = { vendor: call.provider, model: call.model };
  line.since = since;
}

/** Items of a map share its title: `draw[2]` → `draw`. */
const withoutItem = (path: string): string => path.replace(/\[\d+\]/g, '');

function nodeOf(event: EventRecord): string {
  for (const name of ['node', 'nodePath', 'path'] as const) {
    const value = event.data[name];
    if (typeof value === 'string') return value;
  }
  return '';
}

function countLines(lines: Iterable<ExecutionLine>): ExecutionCounts {
  const counts: ExecutionCounts = { queued: 0, running: 0, held: 0, byAgent: {}, byVendor: {} };
  for (const line of lines) {
    const { status } = line;
    if (status !== 'queued' && status !== 'running' && status !== 'held') continue;
    const agent = (counts.byAgent[line.agent === '' ? '-' : line.agent] ??= { queued: 0, running: 0, held: 0 });
    counts[status] += 1;
    agent[status] += 1;
    if (line.vendor !== '' && status === 'running')
      counts.byVendor[line.vendor] = (counts.byVendor[line.vendor] ?? 0) + 1;
  }
  return counts;
}
