import { isArtifact } from '../../src/contract/index.ts';
import type { ExecutionRecord } from '../../src/engine/ports/index.ts';
import { type Json, isJsonObject } from '../../src/kernel/index.ts';
import { living } from './check-rows.ts';
import type { Accuse, OwnBooks } from './checks.ts';
import type { SimRow, Staff } from './staff.ts';
import type { SimWorld } from './world.ts';

/**
 * What the newest execution of a stage has brought is in its row, before all older versions, unless people took it out or
 * put something else there.
 */
export function checkArtifacts(world: SimWorld, staff: Staff, own: OwnBooks, accuse: Accuse): void {
  const newest = new Map<string, ExecutionRecord>();
  const placeOf = ({ id }: ExecutionRecord): number => own.order.queued.get(id) ?? 0;
  for (const execution of own.executions) {
    const known = newest.get(execution.sourceRef);
    if (known === undefined || placeOf(known) < placeOf(execution)) newest.set(execution.sourceRef, execution);
  }
  const rows = new Map(living(staff).map((row) => [row.recordId, row]));
  for (const execution of newest.values()) {
    const [, recordId = '', stage = ''] = /\/([^/#]+)#(.+)$/.exec(execution.sourceRef) ?? [];
    const row = rows.get(recordId);
    if (row !== undefined && execution.status === 'succeeded')
      checkStage(world, { staff, row, stage, execution, accuse });
  }
}

function checkStage(
  world: SimWorld,
  of: { staff: Staff; row: SimRow; stage: string; execution: ExecutionRecord; accuse: Accuse },
): void {
  const { staff, row, stage, execution, accuse } = of;
  const { table, recordId } = row;
  const door = world.sandbox.table;
  const artifacts = table.agent.stages.find((each) => each.stage === stage)?.artifacts ?? [];
  for (const artifact of artifacts) {
    if (artifact.type !== 'attachment' || staff.touched.has(`${recordId}/${artifact.column}`)) continue;
    const wanted = hashesIn(execution.output?.[artifact.from]);
    const shown = tokensIn(door.row(table.tableId, recordId)?.[artifact.column]).map((token) => door.fileHash(token));
    const missing = [...wanted].filter((hash) => !shown.includes(hash));
    const couldBeRefused = staff.renamed.has(`${table.tableId}/${artifact.column}`);
    if (missing.length > 0 && !isNamedAsKept(world, row, stage, couldBeRefused))
      accuse(
        'lost_artifact',
        `${recordId} ${artifact.column}: ${missing.length} of ${wanted.size} files of ${execution.id} are not in the cell`,
      );
    else if (missing.length === 0 && wanted.size > 0 && !wanted.has(shown[0] ?? ''))
      accuse('lost_artifact', `${recordId} ${artifact.column}: an older file stands before those of ${execution.id}`);
  }
}

/**
 * The platform took the file in no try, or not its cell because the column bore another name: the row said so by the stage's
 * name, and that the next 提交 sends it again. Nobody may have had the patience to type it.
 */
function isNamedAsKept(
  { sandbox }: SimWorld,
  { table, recordId }: SimRow,
  stage: string,
  couldBeRefused: boolean,
): boolean {
  const title = table.agent.stages.find((each) => each.stage === stage)?.title ?? stage;
  const whats = couldBeRefused ? ['回传', '写回'] : ['回传'];
  return sandbox.books
    .cellWrites()
    .some(
      (write) =>
        write.recordId === recordId &&
        write.hand === 'app' &&
        write.column === '报错' &&
        whats.some((what) => JSON.stringify(write.after ?? null).includes(`${title}：已生成，但${what}表格失败`)),
    );
}

function hashesIn(value: Json | undefined): ReadonlySet<string> {
  if (isArtifact(value)) return new Set([value.hash]);
  if (Array.isArray(value)) return new Set(value.flatMap((each: Json) => [...hashesIn(each)]));
  return new Set();
}

function tokensIn(cell: Json | undefined): readonly string[] {
  if (!Array.isArray(cell)) return [];
  return cell.flatMap((file: Json) =>
    isJsonObject(file) && typeof file['file_token'] === 'string' ? [file['file_token']] : [],
  );
}
