import type { AttemptRecord } from '../../src/engine/ports/index.ts';
import { isJsonObject, type Json } from '../../src/kernel/index.ts';
import type { Accuse, Order, OwnBooks } from './checks.ts';
import type { SimWorld } from './world.ts';

/** An attempt in one of these states has its verdict: what follows it is a new purchase by right. */
const settled = new Set(['refused', 'failed', 'expired', 'canceled', 'not-accepted']);
/** Whose answer was lost: the vendor may know more than we do. */
const inDoubt = new Set(['unknown', 'not-accepted', 'intended']);

/**
 * Never pay twice. No purchase began while an earlier one of the same node had no verdict; none was made for what an
 * earlier execution had already; and the vendors took on no task that we know nothing of.
 */
export function checkAttempts(world: SimWorld, own: OwnBooks, accuse: Accuse): void {
  const media = own.attempts.filter((attempt) => attempt.mediaClass === 'image' || attempt.mediaClass === 'video');
  checkOrder(own.order, media, accuse);
  checkReuse(own.order, media, accuse);
  checkTasks(world, media, accuse);
}

function checkOrder(order: Order, attempts: readonly AttemptRecord[], accuse: Accuse): void {
  const groups = Map.groupBy(attempts, (attempt) => `${attempt.executionId} ${attempt.nodePath}`);
  for (const [key, unsorted] of groups) {
    const group = unsorted.toSorted((left, right) => left.ordinal - right.ordinal);
    for (const [index, later] of group.entries()) {
      for (const earlier of group.slice(0, index)) {
        if (hasVerdictBefore(order, earlier, later)) continue;
        accuse(
          'duplicate_submit',
          `${key}: #${later.ordinal} began while #${earlier.ordinal} was ${earlier.state} without a verdict`,
        );
      }
    }
  }
}

function hasVerdictBefore(order: Order, earlier: AttemptRecord, later: AttemptRecord): boolean {
  const isRefused = earlier.state === 'succeeded' && (earlier.refusedOutput?.length ?? 0) > 0;
  if (!settled.has(earlier.state) && !isRefused) return false;
  const over = (isRefused ? order.outputRefused : order.settled).get(earlier.id);
  const begun = order.intended.get(later.id);
  return over !== undefined && begun !== undefined && over < begun;
}

/**
 * The fingerprint holds the generation: the same one again means the same thing for the same try of the row. What is
 * there before a purchase is used instead of it. (A late result that comes while people have already had it bought again
 * stands beside it: that was their word.)
 */
function checkReuse(order: Order, attempts: readonly AttemptRecord[], accuse: Accuse): void {
  for (const [fingerprint, group] of Map.groupBy(
    attempts,
    (attempt) => `${attempt.sourceRef} ${attempt.fingerprint}`,
  )) {
    for (const later of group) {
      const had = group.find(
        (earlier) =>
          earlier.executionId !== later.executionId &&
          earlier.state === 'succeeded' &&
          earlier.refusedOutput === undefined &&
          (order.settled.get(earlier.id) ?? Number.POSITIVE_INFINITY) < (order.intended.get(later.id) ?? 0),
      );
      if (had !== undefined)
        accuse('duplicate_submit', `${fingerprint}: ${later.id} bought what ${had.id} had brought already`);
    }
  }
}

/** Each task at a vendor is one attempt's by its handle, or belongs to one whose answer was lost. */
function checkTasks(world: SimWorld, attempts: readonly AttemptRecord[], accuse: Accuse): void {
  const handles = new Set(attempts.map((attempt) => taskIdOf(attempt)));
  const lost = new Map<string, number>();
  for (const attempt of attempts) {
    const prompt = promptOf(attempt.request);
    if (inDoubt.has(attempt.state)) lost.set(prompt, (lost.get(prompt) ?? 0) + 1);
  }
  for (const task of world.sandbox.books.acceptedTasks()) {
    if (handles.has(task.taskId)) continue;
    const prompt = promptOf(task.request);
    const left = lost.get(prompt) ?? 0;
    lost.set(prompt, left - 1);
    if (left <= 0)
      accuse(
        'duplicate_submit',
        `task ${task.taskId} at ${task.vendor} (${task.model}) belongs to no attempt of ours: ${prompt.slice(0, 80)}`,
      );
  }
}

/** The vendor's task id inside a stored handle, whatever its adapter calls it. */
export function taskIdOf({ handle }: Pick<AttemptRecord, 'handle'>): string | undefined {
  for (const name of ['taskId', 'id', 'task_id']) {
    const value = handle?.[name];
    if (typeof value === 'string') return value;
  }
  return undefined;
}

/** The longest text named `prompt` anywhere in a request. */
function promptOf(value: Json | undefined): string {
  if (Array.isArray(value)) return longest(value.map((each: Json) => promptOf(each)));
  if (!isJsonObject(value)) return '';
  return longest(
    Object.entries(value).map(([name, member]) =>
      name === 'prompt' && typeof member === 'string' ? member : promptOf(member),
    ),
  );
}

function longest(texts: readonly string[]): string {
  return texts.reduce((best, text) => (text.length > best.length ? text : best), '');
}
