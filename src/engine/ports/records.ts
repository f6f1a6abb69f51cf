import type { CapabilityId, Failure, MediaClass, ReportedCost } from '../../contract/index.ts';
import type { AttemptId, ChargeId, ExecutionId, Json, JsonObject, Money } from '../../kernel/index.ts';

/** `queued → running ⇄ held → succeeded | partial | failed | canceled`. */
export type ExecutionStatus = 'queued' | 'running' | 'held' | 'succeeded' | 'partial' | 'failed' | 'canceled';
/** `pending → running → waiting_provider → succeeded | skipped | failed | held | canceled`. */
export type NodeStatus =
  | 'pending'
  | 'running'
  | 'waiting_provider'
  | 'succeeded'
  | 'skipped'
  | 'failed'
  | 'held'
  | 'canceled';

/**
 * `intended → accepted → succeeded | failed | expired | canceled | overdue`, or `intended → refused | unknown`, and
 * `unknown → accepted (found) | not-accepted (not found, or a person's word)`. `overdue` may still settle.
 */
export type AttemptState =
  | 'intended'
  | 'accepted'
  | 'refused'
  | 'unknown'
  | 'not-accepted'
  | 'succeeded'
  | 'failed'
  | 'expired'
  | 'canceled'
  | 'overdue';

/** A thing that staff must be told on success: degraded, another vendor used, an estimated cost, a missing item. */
export interface Mark {
  readonly kind: 'degraded' | 'switched' | 'estimated' | 'partial' | 'late' | 'adjusted';
  readonly node: string;
  /** Words for 提示. */
  readonly text: string;
}

/** Who it was run for; the ledger and the budgets group by these. */
export interface Labels {
  readonly agent?: string;
  /** The agent's definition as it stood then: a blob, as the plan is. */
  readonly agentHash?: string;
  readonly stage?: string;
  readonly submitter?: string;
}

export interface ExecutionRecord {
  readonly id: ExecutionId;
  /** Opaque to the engine: who asked (`bitable:<base>/<table>/<record>/<stage>`, `cli`). */
  readonly sourceRef: string;
  readonly labels: Labels;
  readonly workflow: string;
  /** Hash of the compiled plan and of everything it used (blob `plan`). */
  readonly planHash: string;
  readonly status: ExecutionStatus;
  readonly generation: number;
  readonly idempotencyKey: string;
  readonly parentId?: ExecutionId;
  readonly input: JsonObject;
  readonly output?: JsonObject;
  readonly failure?: Failure;
  readonly marks: readonly Mark[];
  /** Fencing: who drives it may only write with the epoch it took it up with. */
  readonly epoch: number;
  readonly owner?: string;
  readonly createdAt: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
  /** A person or the operator asked for its end. */
  readonly cancelRequestedAt?: number;
  /** Time spent without waiting for people, so far. */
  readonly activeMs: number;
}

export interface NodeRecord {
  readonly executionId: ExecutionId;
  /** Place in the plan: `draw`, `shots[3]`, `sub/draw`, `shots[3]/draw`. */
  readonly path: string;
  readonly status: NodeStatus;
  /** The branch that a condition took. */
  readonly branch?: string;
  readonly output?: Json;
  readonly failure?: Failure;
  readonly degraded: boolean;
  readonly fingerprint?: string;
  readonly startedAt?: number;
  readonly endedAt?: number;
  /** Small state of a node between its attempts: candidate index, tries, reasons of refused outputs. */
  readonly progress?: JsonObject;
}

export interface AttemptRecord {
  readonly id: AttemptId;
  readonly executionId: ExecutionId;
  readonly nodePath: string;
  /** 1, 2, 3 … within the node. */
  readonly ordinal: number;
  readonly sourceRef: string;
  readonly generation: number;
  readonly provider: string;
  readonly model: string;
  readonly implementation: string;
  readonly adapterVersion: number;
  readonly capability: CapabilityId;
  readonly mediaClass: MediaClass;
  readonly state: AttemptState;
  /** The purchase's key, sent where a vendor takes a client id. */
  readonly key: string;
  readonly fingerprint: string;
  /** The prepared request, as stored with the intent. */
  readonly request: JsonObject;
  readonly handle?: JsonObject;
  readonly intendedAt: number;
  /** Among several workers: whose process sends the request, and alone can bring its answer. */
  readonly sender?: string;
  readonly acceptedAt?: number;
  readonly settledAt?: number;
  /** Waiting that was really observed; deadlines count this. */
  readonly observedWaitMs: number;
  readonly deadlineMs: number;
  readonly polls: number;
  /** Misses of a `find`, or of a poll that did not see the task. */
  readonly misses: number;
  readonly failure?: Failure;
  /** The vendor's output, kept so that collecting can be done again without buying again. */
  readonly output?: JsonObject;
  readonly cost?: ReportedCost;
  /** The output was refused by a check (the purchase itself was fine). */
  readonly refusedOutput?: readonly string[];
}

export type ChargeSource = 'vendor' | 'price_table' | 'unpriced' | 'unknown';
export interface ChargeRecord {
  readonly id: ChargeId;
  readonly attemptId: AttemptId;
  readonly executionId: ExecutionId;
  readonly sourceRef: string;
  readonly labels: Labels;
  readonly provider: string;
  readonly model: string;
  /** `reserved`: an estimate, from the intent on. `settled`: final. `released`: nothing was bought; counts 0. */
  readonly state: 'reserved' | 'settled' | 'released';
  readonly source: ChargeSource;
  readonly amount: Money;
  /** In yuan at the dated rate, micro-units; what 成本 sums. */
  readonly cnyMicros: number;
  readonly usage?: Readonly<Record<string, number>>;
  readonly reservedAt: number;
  readonly settledAt?: number;
}

export interface EventRecord {
  /** 1, 2, 3 … without gaps that a reader could miss. */
  readonly seq: number;
  readonly at: number;
  readonly executionId?: ExecutionId;
  readonly sourceRef?: string;
  readonly type: EventType;
  readonly data: JsonObject;
}

export type EventType =
  | 'execution-queued'
  | 'execution-started'
  | 'execution-held'
  | 'execution-resumed'
  | 'execution-ended'
  | 'workflow-chosen'
  | 'cancel-requested'
  | 'node-started'
  | 'node-waiting'
  | 'node-reused'
  | 'node-succeeded'
  | 'node-skipped'
  | 'node-failed'
  | 'node-degraded'
  | 'node-held'
  | 'attempt-intended'
  | 'attempt-accepted'
  | 'attempt-refused'
  | 'attempt-unknown'
  | 'attempt-found'
  | 'attempt-settled'
  | 'attempt-overdue'
  | 'attempt-resolved'
  | 'output-refused'
  | 'candidate-switched'
  | 'candidates-exhausted'
  | 'charge-settled'
  | 'late-result'
  | 'provider-paused'
  | 'provider-resumed'
  | 'budget-warning'
  | 'budget-reached'
  | 'status-unrecognised'
  | 'worker-started'
  | 'worker-stopped'
  /** Rooms outside the engine tell the operator through the same log: `data.name` says what. */
  | 'notice';

/** What happened to an execution that someone outside must act on; in the same transaction as the state change. */
export interface OutboxRecord {
  readonly seq: number;
  readonly at: number;
  readonly executionId: ExecutionId;
  readonly sourceRef: string;
  readonly generation: number;
  readonly message: OutboxMessage;
}

export type OutboxMessage =
  | {
      readonly kind: 'ended';
      readonly status: 'succeeded' | 'partial' | 'failed' | 'canceled';
      /** The workflow's output (for `partial` and `failed` with keep_partial: what there is). */
      readonly output?: JsonObject;
      readonly failure?: Failure;
      readonly marks: readonly Mark[];
      readonly activeMs: number;
      /** The node that failed, in words. */
      readonly failedNode?: string;
    }
  | {
      readonly kind: 'held';
      readonly failure: Failure;
      readonly attemptId: AttemptId;
      readonly failedNode: string;
      readonly atRisk: Money;
    }
  /** A paid result of an execution that had already ended or moved on. */
  | {
      readonly kind: 'late-result';
      readonly attemptId: AttemptId;
      readonly nodePath: string;
      readonly output: JsonObject;
    };

/** A small durable JSON value of a room outside the engine (intake commands, file tokens, cursors, alert state). */
export interface DocumentRecord {
  readonly collection: string;
  readonly key: string;
  readonly value: JsonObject;
  readonly updatedAt: number;
}

/** A node's result under its fingerprint. */
export interface RememberedRecord {
  readonly fingerprint: string;
  readonly sourceRef: string;
  readonly nodePath: string;
  readonly output: Json;
  readonly degraded: boolean;
  readonly attemptId?: AttemptId;
  readonly at: number;
}

/** Filters of the ledger. */
export interface ChargeFilter {
  readonly sourceRefPrefix?: string;
  readonly executionId?: ExecutionId;
  readonly fromMs?: number;
  readonly toMs?: number;
  readonly agent?: string;
  readonly submitter?: string;
  readonly states?: readonly ChargeRecord['state'][];
}
