import type { ExecutionRecord, Store } from '../engine/ports/index.ts';
import { type DayCounts } from './day-counts.ts';

/**
 * How people decide at the confirmation points, read from what they caused: the next execution of the same row. Another
 * stage means 通过; the same stage under a higher generation means 打回. Only stages that wait for a person count, and only
 * where somebody had to act: a stage that chained straight on was never a question.
 */
export async function countDecision(
  store: Store,
  next: ExecutionRecord,
  counts: DayCounts,
  isConfirmPoint: (agent: string, stage: string) => boolean,
): Promise<void> {
  const row = rowOf(next.sourceRef);
  if (row === undefined) return;
  const [before] = await store.executions({
    sourceRefPrefix: `${row}#`,
    statuses: ['succeeded'],
    before: next.id,
    limit: 1,
  });
  const { agent, stage } = before?.labels ?? {};
  if (before?.endedAt === undefined || agent === undefined || stage === undefined) return;
  if (!isConfirmPoint(agent, stage)) return;
  const waitMs = next.createdAt - before.endedAt;
  if (waitMs < chainedMs) return;
  const point = (counts.points[`${agent}/${stage}`] ??= { approved: 0, rejected: 0, waitMs: 0, waits: 0 });
  if (next.labels.stage === stage) point.rejected += 1;
  else point.approved += 1;
  point.waitMs += waitMs;
  point.waits += 1;
}

/** Nobody looks at a picture and types a word faster than this. */
const chainedMs = 1_500;

/** The row of a stage's source: everything before the `#`. */
function rowOf(sourceRef: string): string | undefined {
  const hash = sourceRef.lastIndexOf('#');
  return sourceRef.startsWith('bitable:') && hash > 0 ? sourceRef.slice(0, hash) : undefined;
}
