import type { Failure } from '../../contract/index.ts';
import type { JsonObject } from '../../kernel/index.ts';
import type { Services } from '../call/services.ts';
import type { CallRun, LiveAttempt, SkillCall, WaitReason } from '../call/types.ts';
import type { LivePlan } from '../graph/live.ts';
import type { AttemptRecord, ExecutionRecord, Mark, NodeRecord, StoreCommand } from '../ports/index.ts';
import type { Timed } from '../worker/timers.ts';
import type { GraphEnd } from './decide.ts';
import type { FrameState, NodeState, Stopping } from './frame.ts';
import type { Journal } from './journal.ts';

/** A graph that runs, with its place in the execution. */
export interface Frame {
  readonly run: Run;
  readonly state: FrameState;
  /** `''` for the root, `sub` inside a workflow node, `shots[3]` for an item of a map. */
  readonly prefix: string;
  readonly parent: Frame | undefined;
  /** The root graph's node that it is inside of. */
  readonly rootNode: string | undefined;
  readonly occurrence: number | string;
  readonly deadlineAt: number | undefined;
  readonly onEnd: (end: GraphEnd) => void;
  readonly callRun: CallRun;
  /** Where the graph has a deadline of its own. */
  timer: Timed | undefined;
  /** Where inside a nested graph it failed, in words. */
  failedInside: string | undefined;
}

/** A leaf that is under way: a skill call or a function. */
export interface Leaf {
  readonly frame: Frame;
  readonly id: string;
  readonly abort?: { abort(reason: Error): void };
  status: 'working' | 'waiting' | 'held';
  waitsFor: WaitReason | undefined;
  /** The reason that was last told: looking again for the same one is not told again. */
  toldWait: WaitReason | undefined;
  sinceMs: number;
  held: { readonly attempt: LiveAttempt; readonly failure: Failure } | undefined;
}

/** One execution, driven by this process. */
export interface Run {
  readonly services: Services;
  readonly plan: LivePlan;
  readonly journal: Journal;
  record: ExecutionRecord;
  readonly params: JsonObject;
  /** Something of its submission lies beside its record, to be forgotten with its end. */
  readonly hasRequest: boolean;
  /** Nodes of the root graph that must be run anew. */
  anew: ReadonlySet<string>;
  /** What lay in the store when it was taken up; emptied as it is used. */
  readonly storedNodes: Map<string, NodeRecord>;
  readonly storedAttempts: Map<string, AttemptRecord[]>;
  readonly leaves: Map<string, Leaf>;
  /** Every call that has not ended: its nodes', their judges', and the planner's, which stands in no graph. */
  readonly calls: Set<SkillCall>;
  readonly frames: Set<Frame>;
  root: Frame | undefined;
  /** Why it stops, where it was told so before it had a graph: the planner was being asked. */
  stopping: Stopping | undefined;
  /** Monotonic time since which it counts as active; undefined while held. */
  activeSinceMs: number | undefined;
  /** Paths whose hold stands in the log. */
  readonly notedHeld: Set<string>;
  /** Paths of which the row was told since the execution was held last: whoever it held anew must be told anew. */
  readonly toldHeld: Set<string>;
  isOver: boolean;
  readonly startNode: (frame: Frame, id: string) => void;
  readonly onOver: (run: Run) => void;
}

export function pathOf(frame: Frame, id: string): string {
  if (frame.state.graph.isSingle) return frame.prefix;
  return frame.prefix === '' ? id : `${frame.prefix}/${id}`;
}

function nodeRecord(frame: Frame, node: NodeState): NodeRecord {
  return {
    executionId: frame.run.record.id,
    path: pathOf(frame, node.id),
    status: node.status,
    degraded: node.degraded,
    ...(node.branch === undefined ? {} : { branch: node.branch }),
    ...(node.output === undefined ? {} : { output: node.output }),
    ...(node.failure === undefined ? {} : { failure: node.failure }),
    ...(node.fingerprint === undefined ? {} : { fingerprint: node.fingerprint }),
    ...(node.startedAt === undefined ? {} : { startedAt: node.startedAt }),
    ...(node.endedAt === undefined ? {} : { endedAt: node.endedAt }),
    ...(node.partial === undefined ? {} : { progress: { partial: { ...node.partial } } }),
  };
}

export function putNode(frame: Frame, node: NodeState): StoreCommand {
  return { type: 'put-node', record: nodeRecord(frame, node), epoch: frame.run.record.epoch };
}

/** Changes the execution's record, in memory now and on disk with the next write. */
export function putExecution(run: Run, change: Partial<ExecutionRecord>): StoreCommand {
  const nowMs = run.services.deps.clock.monotonicMs();
  const elapsedMs = run.activeSinceMs === undefined ? 0 : Math.max(0, Math.round(nowMs - run.activeSinceMs));
  if (run.activeSinceMs !== undefined) run.activeSinceMs = nowMs;
  run.record = { ...run.record, activeMs: run.record.activeMs + elapsedMs, ...change };
  return { type: 'put-execution', record: run.record };
}

export function addMarks(run: Run, marks: readonly Mark[]): readonly StoreCommand[] {
  const fresh = marks.filter(
    (mark) =>
      !run.record.marks.some(
        (known) => known.kind === mark.kind && known.node === mark.node && known.text === mark.text,
      ),
  );
  return fresh.length === 0 ? [] : [putExecution(run, { marks: [...run.record.marks, ...fresh] })];
}
