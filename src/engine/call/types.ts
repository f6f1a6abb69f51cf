import type { Failure, ReportedCost, RetryDefinition } from '../../contract/index.ts';
import type { AttemptId, Json, JsonObject } from '../../kernel/index.ts';
import type { LivePlan, LiveSkill } from '../graph/live.ts';
import type { Waiter } from '../policy/gates.ts';
import type { AttemptRecord, ChargeRecord, ExecutionRecord, Mark, StoreCommand } from '../ports/index.ts';
import type { Timed } from '../worker/timers.ts';

/** An attempt with its charge, as last written. `record` is replaced at each change. */
export interface LiveAttempt {
  record: AttemptRecord;
  charge: ChargeRecord | undefined;
}

/** One try of one candidate, bought or refused before buying. In order of their happening. */
export interface CallTry {
  readonly candidate: number;
  readonly attempt?: LiveAttempt;
  /** Why nothing was bought: `prepare` said no. */
  readonly refusal?: Failure;
  readonly at: number;
}

/** What a call needs of the execution it belongs to. */
export interface CallRun {
  readonly plan: LivePlan;
  readonly execution: () => ExecutionRecord;
  /** The epoch it was taken up with; undefined once another worker has it, or it is over. */
  readonly epoch: () => number | undefined;
  /** Why nothing new may be bought, or undefined. */
  readonly stopping: () => 'failed' | 'canceled' | undefined;
  /** Attempts of this execution that lay in the store when it was taken up, by the path of their call. */
  attemptsOf(path: string): readonly AttemptRecord[];
  /** They are a call's from now on. Until then they are looked after at the execution's end. */
  tookAttempts(path: string): void;
  /** A call of the execution, whether a node's, a judge's or the planner's: reached by verdicts and stops until it ends. */
  opened(call: SkillCall): void;
  closed(call: SkillCall): void;
  /** Fenced writes, in order; resolves when on disk, false when the execution was lost to another worker. */
  write(commands: readonly StoreCommand[]): Promise<boolean>;
  /** Written along with the next write. */
  push(commands: readonly StoreCommand[]): void;
}

/** How a call tells the node (or the judge's asker) that it belongs to. */
export interface CallOwner {
  /** `why` is undefined while the vendor works on it; else words for 进度. */
  waits(call: SkillCall, why: WaitReason | undefined): void;
  works(call: SkillCall): void;
  held(call: SkillCall, attempt: LiveAttempt, failure: Failure): void;
  ended(call: SkillCall, end: CallEnd): void;
}

export type WaitReason = 'paused' | 'disk' | 'budget' | 'slot' | 'provider-paused' | 'retry';

export type CallEnd =
  | {
      readonly kind: 'succeeded';
      readonly output: Json;
      readonly degraded: boolean;
      readonly marks: readonly Mark[];
      readonly attemptId?: AttemptId;
      readonly isReused: boolean;
    }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'canceled' };

/** Purchases of a node, over its tries, candidates, refused outputs and judges. */
export interface PaidCalls {
  readonly max: number;
  used: number;
}

/** A skill being called for a node: everything in memory that the attempts on disk do not say. */
export interface SkillCall extends Timed, Waiter {
  readonly run: CallRun;
  readonly owner: CallOwner;
  readonly path: string;
  readonly title: string;
  readonly skill: LiveSkill;
  readonly input: JsonObject;
  readonly params: JsonObject;
  readonly retry: RetryDefinition | undefined;
  readonly paid: PaidCalls;
  readonly fingerprint: string;
  /** Wall time after which nothing new is begun, and a call under way counts as overdue. */
  readonly deadlineAt: number | undefined;
  readonly tries: CallTry[];
  /** A settled success of an earlier execution whose output was never collected. */
  inherited: LiveAttempt | undefined;
  /** Monotonic time at which the store was last asked for one; undefined where a rerun asks for this node anew. */
  lookedAtMs: number | undefined;
  /** `busy`: inside a step. `ended`: told its owner. Otherwise what wakes it. */
  state: 'idle' | 'busy' | 'timer' | 'gate' | 'watching' | 'held' | 'ended';
  /** Something happened while it was busy. */
  isAgain: boolean;
  /** Room taken at the gates, for the candidate in `slotsFor`. */
  slots: readonly string[];
  slotsFor: number | undefined;
  /** Rooms shared with other workers may be held in its name, by this worker or one before it. */
  mayHoldClaim: boolean;
  /** They are being given back; nothing may be claimed before that is over. */
  releasing: Promise<void> | undefined;
  /** Room that it waits for at the gates; `go` makes it `slots`. */
  queuedFor: { readonly names: readonly string[]; readonly candidate: number } | undefined;
  /** Monotonic time before which the next try may not start; drawn once for each try. */
  notBefore: { readonly tries: number; readonly atMs: number } | undefined;
}

/** The last word on an attempt. */
export type Settlement =
  | { readonly state: 'succeeded'; readonly output: JsonObject; readonly cost: ReportedCost }
  | { readonly state: 'failed'; readonly failure: Failure; readonly cost: ReportedCost }
  | { readonly state: 'expired'; readonly failure: Failure }
  | { readonly state: 'canceled'; readonly cost: ReportedCost | undefined }
  | { readonly state: 'refused'; readonly failure: Failure }
  | { readonly state: 'not-accepted'; readonly by: 'vendor' | 'person' };
