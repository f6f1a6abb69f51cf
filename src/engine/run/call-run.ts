import type { CallRun, SkillCall } from '../call/types.ts';
import type { LivePlan } from '../graph/live.ts';
import type { AttemptRecord, ExecutionRecord, StoreCommand } from '../ports/index.ts';
import type { Stopping } from './frame.ts';
import type { Frame, Run } from './run.ts';

/** A call's view of its execution; `frame` is the graph that it stands in, none for the planner's. */
export function createCallRun(run: Run): FrameCallRun {
  return new FrameCallRun(run);
}

/** Why a graph stops: for a reason of its own, or of one around it. */
export function stoppingOf(frame: Frame | undefined): Stopping | undefined {
  return frame === undefined ? undefined : (frame.state.stopping ?? stoppingOf(frame.parent));
}

/** A class, since every waiting execution has one: methods are shared where closures would be made anew. */
class FrameCallRun implements CallRun {
  frame: Frame | undefined;
  readonly #run: Run;

  constructor(run: Run) {
    this.#run = run;
    this.frame = undefined;
  }

  get plan(): LivePlan {
    return this.#run.plan;
  }

  execution(): ExecutionRecord {
    return this.#run.record;
  }

  epoch(): number | undefined {
    return this.#run.isOver || this.#run.journal.isLost ? undefined : this.#run.record.epoch;
  }

  stopping(): 'failed' | 'canceled' | undefined {
    const isCanceled = this.#run.record.cancelRequestedAt !== undefined;
    return (stoppingOf(this.frame) ?? this.#run.stopping)?.status ?? (isCanceled ? 'canceled' : undefined);
  }

  attemptsOf(path: string): readonly AttemptRecord[] {
    return this.#run.storedAttempts.get(path) ?? [];
  }

  tookAttempts(path: string): void {
    this.#run.storedAttempts.delete(path);
  }

  opened(call: SkillCall): void {
    this.#run.calls.add(call);
  }

  closed(call: SkillCall): void {
    this.#run.calls.delete(call);
  }

  write(commands: readonly StoreCommand[]): Promise<boolean> {
    return this.#run.journal.write(commands);
  }

  push(commands: readonly StoreCommand[]): void {
    this.#run.journal.push(commands);
  }
}
