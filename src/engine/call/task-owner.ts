import { attemptId, type AttemptId, isJsonObject, type Json, type JsonObject } from '../../kernel/index.ts';
import type { AttemptRecord, Store } from '../ports/index.ts';

const page = 500;
const handleEvents = ['attempt-accepted', 'attempt-found', 'attempt-resolved'] as const;

/**
 * How much earlier than a call's own intent a neighbour's task may have been accepted, for the one to be taken for the
 * other: far beyond what an adapter's `find` looks back, and beyond the difference of two workers' clocks.
 */
const earlierMs = 3_600_000;
/** Calls without an outcome that are looked through; more of them than this, and none is ruled out. */
const mostUndecided = 1_000;

/**
 * Which other call of ours already has this task. A task id that a person copied from the vendor's page may belong to a
 * neighbour, and so may one that was found by its looks: two calls on one task would give a row another row's picture, and
 * book one charge twice. The log is read from an hour before the call's intent on, by number and not by an index: dear for
 * every look, cheap enough for a person's word or a task that was found, of which a call has one or a few.
 */
export async function ownerOfTask(
  store: Store,
  attempt: AttemptRecord,
  handle: JsonObject,
): Promise<AttemptId | undefined> {
  const wanted = taskIdOf(handle);
  if (wanted === undefined) return undefined;
  let after = await startOfLog(store, attempt);
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

/**
 * Another call of ours that looks the same to the vendor and whose outcome is open: its answer is on its way, or lost as
 * well. A task that shows no key of ours may be its task just as well.
 */
export async function undecidedTwin(store: Store, attempt: AttemptRecord): Promise<AttemptId | undefined> {
  const { likeness } = attempt.request;
  if (likeness === undefined) return undefined;
  const undecided = await store.attemptsInState(['intended', 'unknown'], mostUndecided);
  const others = undecided.filter(
    (each) =>
      each.id !== attempt.id &&
      each.provider === attempt.provider &&
      each.intendedAt >= attempt.intendedAt - earlierMs &&
      (each.request['likeness'] === likeness || undecided.length === mostUndecided),
  );
  return others[0]?.id;
}

/** The number after which the log is read; found by steps that double, since no index knows the times of events. */
async function startOfLog(store: Store, attempt: AttemptRecord): Promise<number> {
  const own = await store.events(0, page, { executionId: attempt.executionId, types: ['attempt-intended'] });
  const intended = own.find((event) => event.data['attemptId'] === attempt.id)?.seq ?? 0;
  for (let back = page; back < intended; back *= 2) {
    const [event] = await store.events(intended - back, 1);
    if (event === undefined || event.at < attempt.intendedAt - earlierMs) return intended - back;
  }
  return 0;
}

function taskIdOf(handle: Json | undefined): string | undefined {
  if (!isJsonObject(handle)) return undefined;
  const { taskId } = handle;
  return typeof taskId === 'string' ? taskId : undefined;
}
