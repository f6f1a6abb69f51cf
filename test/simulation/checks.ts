import { sandboxTableId } from '../../src/app/index.ts';
import type { AttemptRecord, ChargeRecord, ExecutionRecord } from '../../src/engine/ports/index.ts';
import { canonicalJson } from '../../src/kernel/index.ts';
import { checkAttempts } from './check-attempts.ts';
import { checkLedger } from './check-ledger.ts';
import type { Staff } from './staff.ts';
import type { SimWorld } from './world.ts';

/** Names and meaning are the operator's contract (§4). */
export interface Violations {
  lost_command: number;
  duplicate_submit: number;
  unledgered_charge: number;
  foreign_column_write: number;
  stuck_row: number;
  lost_artifact: number;
}

export function noViolations(): Violations {
  return {
    lost_command: 0,
    duplicate_submit: 0,
    unledgered_charge: 0,
    foreign_column_write: 0,
    stuck_row: 0,
    lost_artifact: 0,
  };
}

/** Our books, read whole. */
export interface OwnBooks {
  readonly executions: readonly ExecutionRecord[];
  readonly attempts: readonly AttemptRecord[];
  readonly charges: readonly ChargeRecord[];
}

export type Accuse = (kind: keyof Violations, what: string) => void;

const table = sandboxTableId('try-on');
const botColumns = new Set([
  '状态',
  '报错',
  '成本(元)',
  '进度',
  '提示',
  '耗时(秒)',
  '执行编号',
  '上身图',
  '脚本方案',
  '一致性关键词',
  '分镜图',
  '视频',
]);
const outcomes = new Set(['待确认', '完成', '失败', '待核对', '已取消', '']);

/** Holds the world's own books against ours, when everything has come to rest. */
export async function checkWorld(
  world: SimWorld,
  staff: Staff,
): Promise<{ violations: Violations; faults: readonly string[] }> {
  const violations = noViolations();
  const faults: string[] = [];
  const accuse: Accuse = (kind, what) => {
    violations[kind] += 1;
    faults.push(`${kind}: ${what}`);
  };
  const own = await readOwnBooks(world);
  checkCommands(world, staff, accuse);
  checkWrites(world, accuse);
  checkRest(world, staff, own, accuse);
  checkAttempts(world, own, accuse);
  checkLedger(world, own, accuse);
  checkArtifacts(world, staff, own, accuse);
  return { violations, faults };
}

async function readOwnBooks(world: SimWorld): Promise<OwnBooks> {
  const { store } = world.basePorts;
  const executions = await store.executions({ limit: 100_000 });
  const attempts = (await Promise.all(executions.map(async (each) => await store.attempts(each.id)))).flat();
  return { executions, attempts, charges: await store.charges({}) };
}

/** Every word that the worker cleared was answered in the row, in a message, or by what happened next; none lies untouched. */
function checkCommands(world: SimWorld, staff: Staff, accuse: Accuse): void {
  const writes = world.sandbox.books.cellWrites().filter((write) => write.tableId === table);
  for (const recordId of staff.rows()) {
    if (staff.deleted.has(recordId)) continue;
    const left = world.sandbox.table.text(table, recordId, '操作');
    if (left !== '') accuse('lost_command', `${recordId}: ${left} was never taken up`);
  }
  for (const clear of writes) {
    if (clear.hand !== 'app' || clear.column !== '操作' || staff.deleted.has(clear.recordId)) continue;
    const isAnswered =
      writes.some(
        (write) =>
          write.recordId === clear.recordId &&
          write.hand === 'app' &&
          write.column !== '操作' &&
          write.atMs >= clear.atMs,
      ) || world.sandbox.books.messages().some((message) => message.atMs >= clear.atMs);
    if (!isAnswered)
      accuse('lost_command', `${clear.recordId}: ${canonicalJson(clear.before)} was cleared and never answered`);
  }
}

/** Of the protocol pair only 操作 is ever set, and only to nothing; no cell of staff's is touched. */
function checkWrites(world: SimWorld, accuse: Accuse): void {
  for (const write of world.sandbox.books.cellWrites()) {
    if (write.hand !== 'app') continue;
    const isClear = write.column === '操作' && (write.after === undefined || write.after === null);
    if (!isClear && !botColumns.has(write.column))
      accuse('foreign_column_write', `${write.recordId} ${write.column} := ${canonicalJson(write.after)}`);
  }
}

/** Nothing is left in motion: every execution has ended or is held, and the rows say so. */
function checkRest(world: SimWorld, staff: Staff, own: OwnBooks, accuse: Accuse): void {
  for (const execution of own.executions) {
    if (execution.status === 'queued' || execution.status === 'running') {
      accuse('stuck_row', `execution ${execution.id} (${execution.sourceRef}) is still ${execution.status}`);
    }
  }
  for (const recordId of staff.rows()) {
    if (staff.deleted.has(recordId)) continue;
    const door = world.sandbox.table;
    const status = door.text(table, recordId, '状态');
    if (!outcomes.has(status))
      accuse('stuck_row', `${recordId} stands in ${status}; 进度 ${door.text(table, recordId, '进度')}`);
    if ((status === '失败' || status === '待核对') && door.text(table, recordId, '报错') === '') {
      accuse('stuck_row', `${recordId} is ${status} without a word`);
    }
  }
}

/** What the newest execution of a stage has brought is in its row, unless people took it out or the row moved on. */
function checkArtifacts(world: SimWorld, staff: Staff, own: OwnBooks, accuse: Accuse): void {
  const stages = { portrait: '上身图', storyboard: '分镜图', film: '视频' } as const;
  const newest = new Map<string, ExecutionRecord>();
  for (const execution of own.executions) {
    const known = newest.get(execution.sourceRef);
    if (known === undefined || known.createdAt < execution.createdAt) newest.set(execution.sourceRef, execution);
  }
  for (const execution of newest.values()) {
    if (execution.status !== 'succeeded') continue;
    const [, recordId = '', stage = ''] = /\/([^/#]+)#(.+)$/.exec(execution.sourceRef) ?? [];
    const column = stage === 'portrait' || stage === 'storyboard' || stage === 'film' ? stages[stage] : undefined;
    if (column === undefined || staff.deleted.has(recordId) || staff.removed.has(`${recordId}/${column}`)) continue;
    const cell = world.sandbox.table.row(table, recordId)?.[column];
    if (!Array.isArray(cell) || cell.length === 0)
      accuse('lost_artifact', `${recordId} ${column}: execution ${execution.id} succeeded, the cell is empty`);
  }
}
