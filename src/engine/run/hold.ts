import type { Failure } from '../../contract/index.ts';
import { formatMicros, money } from '../../kernel/index.ts';
import { eventOf, failureData } from '../call/events.ts';
import type { LiveAttempt, WaitReason } from '../call/types.ts';
import { waitWords } from '../call/words.ts';
import type { StoreCommand } from '../ports/index.ts';
import { happen } from './apply.ts';
import { type Leaf, pathOf, putExecution, type Run } from './run.ts';

/** The vendor works on it, or it waits its turn: no slot is held meanwhile. */
export function leafWaits(run: Run, path: string, why: WaitReason | undefined): void {
  const leaf = run.leaves.get(path);
  if (leaf === undefined) return;
  const at = run.services.deps.clock.nowMs();
  release(run, leaf);
  leaf.status = 'waiting';
  leaf.waitsFor = why;
  const node = leaf.frame.state.nodes.get(leaf.id);
  const isTold = why === leaf.toldWait;
  if (!isTold) leaf.sinceMs = at;
  leaf.toldWait = why;
  if (why !== undefined && !isTold) {
    run.journal.push([
      eventOf(run.record, at, 'node-waiting', { node: path, title: titleOf(leaf), reason: why, words: waitWords(why) }),
    ]);
  }
  if (node?.status === 'running') happen(leaf.frame, { kind: 'parked', id: leaf.id, status: 'waiting_provider' });
  void run.services.track(run.journal.write([]));
}

export function leafWorks(run: Run, path: string): void {
  const leaf = run.leaves.get(path);
  if (leaf === undefined) return;
  release(run, leaf);
  leaf.status = 'working';
  leaf.waitsFor = undefined;
  const node = leaf.frame.state.nodes.get(leaf.id);
  if (node?.status === 'waiting_provider' || node?.status === 'held')
    happen(leaf.frame, { kind: 'unparked', id: leaf.id });
}

/** A paid call is in doubt or overdue: the node stands still until a verdict, and holds nothing. */
export function leafHeld(run: Run, path: string, attempt: LiveAttempt, failure: Failure): void {
  const leaf = run.leaves.get(path);
  if (leaf === undefined) return;
  const at = run.services.deps.clock.nowMs();
  const isNew = leaf.held?.attempt !== attempt;
  leaf.status = 'held';
  leaf.waitsFor = undefined;
  leaf.sinceMs = at;
  leaf.held = { attempt, failure };
  if (isNew && !run.notedHeld.has(path)) {
    const facts = {
      node: path,
      title: titleOf(leaf),
      attemptId: attempt.record.id,
      provider: attempt.record.provider,
      failure: failureData(failure),
    };
    run.notedHeld.add(path);
    run.journal.push([eventOf(run.record, at, 'node-held', facts)]);
  }
  const isParked = leaf.frame.state.nodes.get(leaf.id)?.status === 'held';
  if (!isParked) happen(leaf.frame, { kind: 'parked', id: leaf.id, status: 'held' });
  void run.services.track(run.journal.write([]));
  checkHeld(run);
}

/** The execution is held when something of it is, and nothing else of it is under way. */
export function checkHeld(run: Run): void {
  if (run.isOver || run.journal.isLost || run.record.status === 'held') return;
  const held = [...run.leaves].filter(([, leaf]) => leaf.held !== undefined);
  if (held.length === 0 || isAnythingUnderWay(run)) return;
  const untold = held.filter(([path]) => !run.toldHeld.has(path));
  const commands = untold.flatMap(([path, leaf]) =>
    leaf.held === undefined ? [] : tellHeld(run, path, titleOf(leaf), leaf.held),
  );
  holdExecution(run, commands);
}

/**
 * One of several doubts has had its verdict while the execution stands still for the others: the row names a call that is
 * settled, so it is told of one that is not. Whoever acts on the row acts on what it names.
 */
export function tellNextHeld(run: Run): void {
  if (run.isOver || run.journal.isLost || run.record.status !== 'held') return;
  // On its way to the end: the others follow at once.
  if (run.record.cancelRequestedAt !== undefined || run.root?.state.stopping !== undefined) return;
  for (const [path, leaf] of run.leaves) {
    if (leaf.held === undefined) continue;
    void run.services.track(run.journal.write(tellHeld(run, path, titleOf(leaf), leaf.held)));
    return;
  }
}

function isAnythingUnderWay(run: Run): boolean {
  for (const { state } of run.frames) {
    for (const node of state.nodes.values()) {
      if ((node.status !== 'running' && node.status !== 'waiting_provider') || node.awaiting !== undefined) continue;
      const kind = state.graph.nodes.get(node.id)?.definition.kind;
      // Maps and inner workflows are as busy as what is inside them, which has a frame of its own.
      if (kind !== 'map' && kind !== 'workflow') return true;
    }
  }
  return false;
}

export function holdExecution(run: Run, commands: readonly StoreCommand[]): void {
  run.journal.push([putExecution(run, { status: 'held' })]);
  run.activeSinceMs = undefined;
  void run.services.track(run.journal.write(commands));
}

/** The hold in the log and, for the row, in the outbox; once for each hold. */
export function tellHeld(
  run: Run,
  path: string,
  title: string,
  held: NonNullable<Leaf['held']>,
): readonly StoreCommand[] {
  const { record, charge } = held.attempt;
  const at = run.services.deps.clock.nowMs();
  const atRisk = charge?.amount ?? money('CNY', 0);
  const facts = {
    node: path,
    title,
    attemptId: record.id,
    provider: record.provider,
    model: record.model,
    failure: failureData(held.failure),
    atRiskCny: formatMicros(charge?.cnyMicros ?? 0, 4),
  };
  run.toldHeld.add(path);
  return [
    eventOf(run.record, at, 'execution-held', facts),
    {
      type: 'append-outbox',
      entry: {
        at,
        executionId: run.record.id,
        sourceRef: run.record.sourceRef,
        generation: run.record.generation,
        message: { kind: 'held', failure: held.failure, attemptId: record.id, failedNode: title, atRisk },
      },
    },
  ];
}

/** A verdict has come: the execution goes on. */
function release(run: Run, leaf: Leaf): void {
  if (leaf.held !== undefined) run.notedHeld.delete(pathOf(leaf.frame, leaf.id));
  leaf.held = undefined;
  resumeExecution(run);
}

export function resumeExecution(run: Run): void {
  if (run.record.status !== 'held') return;
  const { clock } = run.services.deps;
  const command = putExecution(run, { status: 'running' });
  run.activeSinceMs = clock.monotonicMs();
  run.toldHeld.clear();
  run.journal.push([command, eventOf(run.record, clock.nowMs(), 'execution-resumed')]);
}

function titleOf(leaf: Leaf): string {
  return leaf.frame.state.graph.nodes.get(leaf.id)?.title ?? leaf.id;
}
