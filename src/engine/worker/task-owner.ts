import { attemptId, type AttemptId, isJsonObject, type Json, type JsonObject } from '../../kernel/index.ts';
import type { AttemptRecord, Store } from '../ports/index.ts';

const page = 500;
const handleEvents = ['attempt-accepted', 'attempt-found', 'attempt-resolved'] as const;

/**
 * Which other call of ours already has this task. A task id that a person copied from the vendor's page may belong to a
 * neighbour: two calls on one task would give a row another row's picture, and book one charge twice. A task was accepted
 * after its call was intended, so the log is read from there on.
 */
export async function ownerOfTask(
  store: Store,
  attempt: AttemptRecord,
  handle: JsonObject,
): Promise<AttemptId | undefined> {
  const wanted = taskIdOf(handle);
  if (wanted === undefined) return undefined;
  const own = await store.events(0, page, { executionId: attempt.executionId, types: ['attempt-intended'] });
  let after = (own.find((event) => event.data['attemptId'] === attempt.id)?.seq ?? 1) - 1;
  for (;;) {
    const events = await store.events(after, page, { types: handleEvents });
    for (const { data } of events) {
      const id = data['attemptId'];
      if (typeof id !== 'string' || id === attempt.id || taskIdOf(data['handle']) !== wanted) continue;
      const other = await store.attempt(attemptId(id));
      if (other !== undefined && other.provider === attempt.provider && taskIdOf(other.handle) === wanted)
        return other.id;
    }
    const last = events.at(-1);
    if (last === undefined || events.length < page) return undefined;
    after = last.seq;
  }
}

function taskIdOf(handle: Json | undefined): string | undefined {
  if (!isJsonObject(handle)) return undefined;
  const { taskId } = handle;
  return typeof taskId === 'string' ? taskId : undefined;
}
