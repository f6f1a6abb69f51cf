import type { Artifact, Failure, RemoteMedia } from '../../contract/index.ts';
import type { AttemptId, ExecutionId, JsonObject, Result } from '../../kernel/index.ts';
import type { Labels } from './records.ts';

/** What rooms outside may ask of the engine. Reading (executions, events, outbox, ledger) goes through the Store's reads. */
export interface Engine {
  /** Stores the execution and returns at once. The same idempotency key gives the same execution (`created: false`). */
  submit(request: SubmitRequest): Promise<Result<SubmitReceipt, Failure>>;
  /** A request: an unanswered submit is awaited, then cancelled at the vendor where possible. No fault when it has ended. */
  cancel(id: ExecutionId, reason: string): Promise<void>;
  /**
   * A person's word on a call in doubt or overdue. `accepted` (with the vendor's task id) takes its result up;
   * `not-accepted` frees the node: the execution goes on by its policy, or fails where `endExecution` is set.
   */
  resolve(id: AttemptId, verdict: ResolveVerdict): Promise<Result<void, Failure>>;
  /** No new paid call; what is in flight is still collected. Durable. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  isPaused(): boolean;
  /** Takes up unfinished executions at once and every 5 s from then on. */
  start(): Promise<void>;
  /** Two stages: no new work and drain up to `drainMs`; then abort. What is left is resumed at the next start. */
  stop(drainMs: number): Promise<void>;
  /** Executions driven by this process, for 排队, metrics and tests. */
  activity(): EngineActivity;
}

export interface SubmitRequest {
  /** Workflow name; or several with a planner skill that chooses. */
  readonly workflow: string | readonly string[];
  readonly planner?: string;
  readonly input: JsonObject;
  readonly sourceRef: string;
  readonly labels: Labels;
  readonly generation: number;
  readonly idempotencyKey: string;
  readonly parentId?: ExecutionId;
  /** Overrides of node parameters for this run. */
  readonly params?: JsonObject;
  /** Reuse earlier results by fingerprint only for nodes that come before this one (`rerun --from`). */
  readonly rerunFrom?: string;
}

export interface SubmitReceipt {
  readonly executionId: ExecutionId;
  readonly created: boolean;
}

export type ResolveVerdict =
  | { readonly kind: 'accepted'; readonly taskId: string }
  | { readonly kind: 'not-accepted'; readonly endExecution: boolean };

export interface EngineActivity {
  readonly driving: number;
  readonly waiting: readonly {
    readonly executionId: ExecutionId;
    readonly sourceRef: string;
    readonly node: string;
    readonly reason: string;
    readonly sinceMs: number;
  }[];
}

/** Moves a vendor's result into the spool: download, check, hash; with its own tries (never by generating again). */
export interface Collector {
  collect(remote: RemoteMedia, nameHint: string, signal: AbortSignal): Promise<Result<Artifact, Failure>>;
  /** Whether the bytes can be had. A remembered result whose files are gone is no result. Default: they can. */
  holds?(artifact: Artifact): Promise<boolean>;
}

/** Code behind `function` nodes. Pure, or using the ports it was built with; called again after a crash. */
export type NodeFunction = (input: JsonObject, signal: AbortSignal) => Promise<Result<JsonObject, Failure>>;
