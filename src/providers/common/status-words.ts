export type TaskStatus = 'running' | 'succeeded' | 'failed' | 'expired' | 'canceled';

/** Gateways pass through each maker's own words: one table for all, trimmed and case-folded. */
const words: Readonly<Record<TaskStatus, readonly string[]>> = {
  running: [
    'waiting',
    'wait',
    'queuing',
    'queueing',
    'queued',
    'in_queue',
    'pending',
    'submitted',
    'created',
    'starting',
    'preparing',
    'processing',
    'in_progress',
    'in-progress',
    'running',
    'generating',
    'not_start',
  ],
  succeeded: ['success', 'succeeded', 'succeed', 'completed', 'complete', 'done', 'finish', 'finished'],
  failed: ['fail', 'failed', 'failure', 'error', 'rejected', 'create_task_failed', 'generate_failed'],
  expired: ['expired'],
  canceled: ['canceled', 'cancelled', 'aborted'],
};

/** What a status word means; undefined for one that nobody has seen (unfinished until the deadline, with an alarm). */
export function readStatusWord(word: string): TaskStatus | undefined {
  const folded = word.trim().toLowerCase();
  for (const status of ['running', 'succeeded', 'failed', 'expired', 'canceled'] as const) {
    if (words[status].includes(folded)) return status;
  }
  return undefined;
}
