import type { EventRecord, ExecutionRecord, Store } from '../../engine/ports/index.ts';
import { type Clock, type ExecutionId, sleep } from '../../kernel/index.ts';
import type { CommandIo } from '../command.ts';

const lookMs = 250;

/**
 * Waits until an execution has ended or waits for a person's word, telling its steps on the way. The workflow's own
 * deadline bounds it; `leave` ends it at once.
 */
export async function waitForEnd(
  place: { readonly store: Store; readonly clock: Clock },
  id: ExecutionId,
  io: CommandIo | undefined,
  leave: AbortSignal,
): Promise<ExecutionRecord | undefined> {
  let after = 0;
  for (;;) {
    const events = await place.store.events(after, 1_000, { executionId: id });
    for (const event of events) tell(event, io);
    after = events.at(-1)?.seq ?? after;
    const execution = await place.store.execution(id);
    const isOver = execution === undefined || execution.endedAt !== undefined || execution.status === 'held';
    if (isOver || leave.aborted) return execution;
    await sleep(place.clock, lookMs, leave).catch(() => undefined);
  }
}

/** Steps go to standard error, so that the result alone is on standard output. */
function tell(event: EventRecord, io: CommandIo | undefined): void {
  const node = event.data['node'];
  if (io === undefined || typeof node !== 'string') return;
  const words = ['provider', 'model', 'reason', 'message'].flatMap((name) => {
    const value = event.data[name];
    return typeof value === 'string' ? [value] : [];
  });
  io.err(`${new Date(event.at).toISOString().slice(11, 19)}  ${event.type}  ${node}  ${words.join(' ')}`.trimEnd());
}
