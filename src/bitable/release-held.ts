import { type AttemptId, attemptId, executionId, sleep } from '../kernel/index.ts';
import type { Hub } from './hub.ts';
import type { RowDocument } from './row-documents.ts';

export type Release = 'free' | 'accepted' | 'bought-again';

/** Enough for the engine to have written the end of an execution that it drives. */
const settleMs = 500;

/**
 * Gives up the call in doubt before its stage is bought again (`not-accepted`), or ends its execution because the file lies
 * in the row already (`cancel`). `accepted`: meanwhile the call was found at the vendor; `bought-again`: it was found not to be
 * there, and its execution has bought again by itself. Then nothing more may be bought. Repeatable after a crash.
 */
export async function releaseHeld(
  hub: Hub,
  row: RowDocument,
  held: 'none' | 'not-accepted' | 'cancel',
): Promise<Release> {
  const { engine, store, logger } = hub.deps;
  if (held === 'none') return 'free';
  if (held === 'not-accepted' && row.heldAttemptId !== undefined) {
    const id = attemptId(row.heldAttemptId);
    const resolved = await engine.resolve(id, { kind: 'not-accepted', endExecution: true });
    if (!resolved.ok) {
      const state = (await store.attempt(id))?.state;
      logger.warn('a call in doubt was settled before it could be given up', { state, code: resolved.failure.code });
      if (await isOver(hub, row)) return 'free';
      if (state === 'accepted' || state === 'succeeded') return 'accepted';
      if (await hasBoughtAgain(hub, row, id)) return 'bought-again';
    }
  }
  await endCurrent(hub, row);
  return 'free';
}

async function hasBoughtAgain(hub: Hub, row: RowDocument, given: AttemptId): Promise<boolean> {
  if (row.current === undefined) return false;
  const attempts = await hub.deps.store.attempts(executionId(row.current.executionId));
  const up = attempts.find(({ id }) => id === given);
  return attempts.some(({ nodePath, ordinal }) => nodePath === up?.nodePath && ordinal > up.ordinal);
}

/** An execution that nobody drives just now would go on buying by its policy: it is told to stop. */
async function endCurrent(hub: Hub, row: RowDocument): Promise<void> {
  if (row.current === undefined || (await isOver(hub, row))) return;
  await sleep(hub.deps.clock, settleMs, hub.signal);
  if (!(await isOver(hub, row))) await hub.deps.engine.cancel(executionId(row.current.executionId), '员工重新提交');
}

async function isOver(hub: Hub, row: RowDocument): Promise<boolean> {
  if (row.current === undefined) return true;
  const execution = await hub.deps.store.execution(executionId(row.current.executionId));
  return execution === undefined || execution.endedAt !== undefined;
}
