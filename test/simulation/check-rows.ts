import { canonicalJson, isJsonObject, type Json } from '../../src/kernel/index.ts';
import type { Accuse, OwnBooks } from './checks.ts';
import { shippedName, type SimRow, type Staff } from './staff.ts';
import type { SimTable, SimWorld } from './world.ts';

const botColumns = ['状态', '报错', '成本(元)', '进度', '提示', '耗时(秒)', '执行编号'];
const outcomes = new Set(['待确认', '完成', '失败', '待核对', '已取消', '']);
/** Words of the orphan search: a row whose work nobody remembers. Durable commands never come to that. */
const orphanWords = '已没有任务在处理';

/** Every word that the worker cleared was answered before the next one was; none lies untouched, none was forgotten. */
export function checkCommands(world: SimWorld, staff: Staff, accuse: Accuse): void {
  const { books, table: door } = world.sandbox;
  const byRow = Map.groupBy(books.cellWrites(), (write) => write.recordId);
  for (const row of living(staff)) {
    const { recordId, table } = row;
    const left = door.text(table.tableId, recordId, '操作');
    if (left !== '') accuse('lost_command', `${recordId}: ${left} was never taken up`);
    const all = byRow.get(recordId) ?? [];
    const names = [recordId, ...all.filter((write) => write.hand === 'staff').flatMap((write) => textsIn(write.after))];
    const isNamedIn = (content: string): boolean => names.some((name) => name !== '' && content.includes(name));
    const writes = all.filter((write) => write.hand === 'app');
    if (writes.some((write) => write.column === '报错' && canonicalJson(write.after).includes(orphanWords)))
      accuse('lost_command', `${recordId}: became an orphan`);
    for (const [at, clear] of writes.entries()) {
      if (clear.column !== '操作' || isBlank(clear.before)) continue;
      const until = writes.findIndex((write, index) => index > at && write.column === '操作' && !isBlank(write.before));
      // In the order of the journal; one update writes its cells at one instant. The world's own clock never jumps.
      const isAnswered =
        writes.slice(at + 1, until === -1 ? undefined : until).some((write) => write.column !== '操作') ||
        writes.some((write) => write.column !== '操作' && write.atMs === clear.atMs) ||
        books.messages().some(({ atMs, content }) => atMs >= clear.atMs && isNamedIn(content));
      if (!isAnswered)
        accuse('lost_command', `${recordId}: ${canonicalJson(clear.before)} was cleared and never answered`);
    }
  }
}

/** Of the protocol pair only 操作 is ever set, and only to nothing; no cell of staff's is touched. */
export function checkWrites(world: SimWorld, accuse: Accuse): void {
  const allowed = new Map(world.tables.map((table) => [table.tableId, allowedColumns(table)]));
  for (const write of world.sandbox.books.cellWrites()) {
    if (write.hand !== 'app') continue;
    const isClear = write.column === '操作' && isBlank(write.after);
    if (!isClear && allowed.get(write.tableId)?.has(shippedName(write.column)) !== true)
      accuse('foreign_column_write', `${write.recordId} ${write.column} := ${canonicalJson(write.after)}`);
  }
}

/** Nothing is left in motion: every execution has ended or is held, and the rows say so. */
export function checkRest(world: SimWorld, staff: Staff, own: OwnBooks, accuse: Accuse): void {
  for (const execution of own.executions) {
    if (execution.status === 'queued' || execution.status === 'running')
      accuse('stuck_row', `execution ${execution.id} (${execution.sourceRef}) is still ${execution.status}`);
  }
  const door = world.sandbox.table;
  const byRow = Map.groupBy(world.sandbox.books.cellWrites(), (write) => write.recordId);
  const writesOf = (recordId: string) => byRow.get(recordId) ?? [];
  for (const { table, recordId } of living(staff)) {
    const text = (column: string): string => door.text(table.tableId, recordId, column);
    const status = text('状态');
    if (!outcomes.has(status)) accuse('stuck_row', `${recordId} stands in ${status}; 进度 ${text('进度')}`);
    if ((status === '失败' || status === '待核对') && text('报错') === '')
      accuse('stuck_row', `${recordId} is ${status} without a word`);
    const wasTaken = writesOf(recordId).some(
      (write) => write.hand === 'app' && write.column === '操作' && write.before === '提交',
    );
    if (status === '' && wasTaken && text('提示') + text('报错') === '')
      accuse('stuck_row', `${recordId} was submitted and shows nothing`);
    const isByHand = writesOf(recordId).findLast(({ column }) => shippedName(column) === '状态')?.hand === 'staff';
    const held = own.executions.some((each) => each.sourceRef.includes(`/${recordId}#`) && each.status === 'held');
    if (!isByHand && held !== (status === '待核对'))
      accuse('stuck_row', `${recordId} is ${status}, its execution ${held ? 'is' : 'is not'} held`);
  }
}

export function living(staff: Staff): readonly SimRow[] {
  return staff.rows().filter((row) => !staff.deleted.has(row.recordId));
}

function allowedColumns({ agent }: SimTable): ReadonlySet<string> {
  return new Set([
    ...botColumns,
    ...agent.stages.flatMap((stage) => stage.artifacts.map((artifact) => artifact.column)),
  ]);
}

/** What messages may call a row: its id, or any text or file name that staff put into it. */
function textsIn(value: Json | undefined): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap((each: Json) => textsIn(each));
  if (!isJsonObject(value)) return [];
  return [value['text'], value['name']].filter((text) => typeof text === 'string');
}

function isBlank(value: Json | undefined): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}
