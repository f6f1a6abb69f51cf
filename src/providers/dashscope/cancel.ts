import type { CancelOutcome, ProviderDeps } from '../../contract/index.ts';
import type { JsonObject } from '../../kernel/index.ts';
import { checkFailure, parseHandle, type VendorLine } from '../common/index.ts';

/** Only a task that still waits (PENDING) can be stopped; others are refused with a 4xx. */
export async function cancelTask(
  tasksUrl: string,
  handle: JsonObject,
  line: VendorLine,
  deps: ProviderDeps,
  signal: AbortSignal,
): Promise<CancelOutcome> {
  const url = `${tasksUrl}/${encodeURIComponent(parseHandle(handle).taskId)}/cancel`;
  const answer = await line.send({ method: 'POST', url }, deps.timeouts.queryMs, signal);
  if (answer.kind !== 'none' && answer.status < 300) return { kind: 'canceled', cost: { usage: { calls: 0 } } };
  if (answer.kind !== 'none' && answer.status >= 400 && answer.status < 500 && answer.status !== 429) {
    return { kind: 'not-cancelable' };
  }
  return { kind: 'check-failed', failure: checkFailure(answer, line.context()) };
}
