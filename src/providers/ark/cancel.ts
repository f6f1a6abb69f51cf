import type { CancelOutcome, ProviderDeps } from '../../contract/index.ts';
import type { JsonObject } from '../../kernel/index.ts';
import { checkFailure, isAboutAnother, parseHandle, type VendorLine } from '../common/index.ts';
import { taskSchema } from './wire.ts';

/**
 * DELETE cancels a queued task, but wipes the record of a finished one: so the state is read first, and only a queued task
 * is touched. One that starts in between is refused by the vendor.
 */
export async function cancelTask(
  path: string,
  handle: JsonObject,
  line: VendorLine,
  deps: ProviderDeps,
  signal: AbortSignal,
): Promise<CancelOutcome> {
  const own = parseHandle(handle);
  const url = `${path}/${encodeURIComponent(own.taskId)}`;
  const look = await line.send({ method: 'GET', url }, deps.timeouts.queryMs, signal);
  const task = look.kind === 'json' && look.status < 300 ? taskSchema.safeParse(look.json).data : undefined;
  if (task === undefined || isAboutAnother(task.id, own))
    return { kind: 'check-failed', failure: checkFailure(look, line.context()) };
  if (task.status !== 'queued') return { kind: 'not-cancelable' };
  const answer = await line.send({ method: 'DELETE', url }, deps.timeouts.queryMs, signal);
  if (answer.kind !== 'none' && answer.status < 300) return { kind: 'canceled', cost: { usage: { calls: 0 } } };
  if (answer.kind !== 'none' && answer.status < 500) return { kind: 'not-cancelable' };
  return { kind: 'check-failed', failure: checkFailure(answer, line.context()) };
}
