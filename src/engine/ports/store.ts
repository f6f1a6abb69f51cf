import type { AttemptId, ExecutionId, JsonObject } from '../../kernel/index.ts';
import type {
  AttemptRecord,
  AttemptState,
  ChargeFilter,
  ChargeRecord,
  DocumentRecord,
  EventRecord,
  ExecutionRecord,
  ExecutionStatus,
  NodeRecord,
  OutboxRecord,
  RememberedRecord,
} from './records.ts';

/** A command that another process left for the worker; what `value` means is the application's. */
export interface ControlRecord {
  readonly seq: number;
  readonly at: number;
  readonly value: JsonObject;
}

/** What a sweep needs to know of an execution. */
export type ExecutionHead = Pick<ExecutionRecord, 'id' | 'owner' | 'epoch'>;

/** An execution with all that a worker needs to go on with it. */
export interface ExecutionParts {
  readonly record: ExecutionRecord;
  readonly nodes: readonly NodeRecord[];
  readonly attempts: readonly AttemptRecord[];
}

/** One change. Records are written whole; what must not be lost to a race names what it expects to find. */
export type StoreCommand =
  /** Refused (ConflictError `duplicate-key`) when another execution has the idempotency key. */
  | { readonly type: 'create-execution'; readonly record: ExecutionRecord }
  /** Refused (`fenced`) when the stored epoch differs from the record's. */
  | { readonly type: 'put-execution'; readonly record: ExecutionRecord }
  /** Takes the execution up: sets owner, raises the epoch from `expectedEpoch`; refused (`fenced`) otherwise. */
  | {
      readonly type: 'claim-execution';
      readonly id: ExecutionId;
      readonly owner: string;
      readonly expectedEpoch: number;
    }
  /** Refused (`fenced`) when the execution's epoch differs. */
  | { readonly type: 'put-node'; readonly record: NodeRecord; readonly epoch: number }
  | { readonly type: 'create-attempt'; readonly record: AttemptRecord; readonly epoch: number }
  /** Refused (`stale-attempt`) unless the stored state is one of `expected`: one winner among racing settlements. */
  | { readonly type: 'put-attempt'; readonly record: AttemptRecord; readonly expected: readonly AttemptState[] }
  | { readonly type: 'create-charge'; readonly record: ChargeRecord }
  /** Refused (`stale-charge`) when it is settled already, unless `correction`. */
  | { readonly type: 'put-charge'; readonly record: ChargeRecord; readonly correction?: boolean }
  | { readonly type: 'append-event'; readonly event: Omit<EventRecord, 'seq'> }
  | { readonly type: 'append-outbox'; readonly entry: Omit<OutboxRecord, 'seq'> }
  | { readonly type: 'ack-outbox'; readonly seq: number }
  /** Content-addressed JSON (plans, snapshots); writing what is there already is no fault. */
  | { readonly type: 'put-blob'; readonly hash: string; readonly value: JsonObject }
  /** With `ifAbsent`, refused (`document-exists`) when the key is there. */
  | { readonly type: 'put-document'; readonly record: DocumentRecord; readonly ifAbsent?: boolean }
  | { readonly type: 'delete-document'; readonly collection: string; readonly key: string }
  | { readonly type: 'remember'; readonly record: RememberedRecord }
  /** A command from beside the worker is done; until then it is handed out again after a restart. */
  | { readonly type: 'ack-control'; readonly seq: number };

export type ConflictCode = 'duplicate-key' | 'fenced' | 'stale-attempt' | 'stale-charge' | 'document-exists';

/** A commit was refused because the stored state was not what the command expected; nothing of it was written. */
export class ConflictError extends Error {
  override readonly name = 'ConflictError';
  readonly code: ConflictCode;

  constructor(code: ConflictCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** The disk (or the database) would not take the write: full, read-only, gone. Nothing of the commit was written. */
export class StorageError extends Error {
  override readonly name = 'StorageError';
}

/**
 * Where everything durable lives. `commit` is atomic for its list and resolves when the change is on disk
 * (`synchronous=FULL`); what is committed in one turn of the event loop may share one transaction, each list under a
 * savepoint of its own. Nothing may be told or sent before the promise resolves. Reads see every resolved commit.
 */
export interface Store {
  commit(commands: readonly StoreCommand[]): Promise<void>;

  execution(id: ExecutionId): Promise<ExecutionRecord | undefined>;
  executionByKey(idempotencyKey: string): Promise<ExecutionRecord | undefined>;
  /** Newest first. */
  executions(filter: {
    readonly statuses?: readonly ExecutionStatus[];
    readonly sourceRefPrefix?: string;
    readonly limit: number;
    readonly before?: ExecutionId;
  }): Promise<readonly ExecutionRecord[]>;
  /** Queued, running and held, oldest first, after `after`. */
  unfinished(limit: number, after?: ExecutionId): Promise<readonly ExecutionRecord[]>;
  /** The same executions without their bodies: some 1 µs each instead of 30, for a sweep that looks for a few among many. */
  unfinishedHeads(limit: number, after?: ExecutionId): Promise<readonly ExecutionHead[]>;
  /** Many executions at once, in three queries; those that are not there are left out. At most 1,000 ids. */
  executionParts(ids: readonly ExecutionId[]): Promise<readonly ExecutionParts[]>;
  nodes(id: ExecutionId): Promise<readonly NodeRecord[]>;
  attempts(id: ExecutionId): Promise<readonly AttemptRecord[]>;
  attempt(id: AttemptId): Promise<AttemptRecord | undefined>;
  attemptsInState(states: readonly AttemptState[], limit: number): Promise<readonly AttemptRecord[]>;
  /** Attempts that may still settle whose execution has ended, oldest first. */
  openAttemptsOfEnded(limit: number): Promise<readonly AttemptRecord[]>;
  /** Settled successes under a fingerprint whose output was never collected into a result. */
  attemptsByFingerprint(fingerprint: string): Promise<readonly AttemptRecord[]>;
  charges(filter: ChargeFilter): Promise<readonly ChargeRecord[]>;
  chargesOfAttempt(id: AttemptId): Promise<readonly ChargeRecord[]>;
  events(
    afterSeq: number,
    limit: number,
    filter?: { readonly executionId?: ExecutionId; readonly types?: readonly string[] },
  ): Promise<readonly EventRecord[]>;
  lastEventSeq(): Promise<number>;
  outbox(limit: number, afterSeq?: number): Promise<readonly OutboxRecord[]>;
  blob(hash: string): Promise<JsonObject | undefined>;
  document(collection: string, key: string): Promise<DocumentRecord | undefined>;
  documents(
    collection: string,
    options?: { readonly prefix?: string; readonly limit?: number; readonly after?: string },
  ): Promise<readonly DocumentRecord[]>;
  remembered(fingerprint: string): Promise<RememberedRecord | undefined>;
  /** The last good result of a node for a source, whatever its fingerprint. */
  lastGood(sourceRef: string, nodePath: string): Promise<RememberedRecord | undefined>;
  /** Calls `listener` after commits that appended events or outbox entries (this process's, and others' where known). */
  onAppend(listener: () => void): () => void;
  /** Leaves a command (`cancel`, `resolve`, `pause` …) for the worker, from whatever process; returns its number. */
  sendControl(value: JsonObject): Promise<number>;
  /** Commands not handed out to this process before, oldest first. They stay stored until `ack-control`. */
  takeControls(): Promise<readonly ControlRecord[]>;
  /** True while the command waits; how the command line learns that it was done. */
  isControlWaiting(seq: number): Promise<boolean>;
  /** Calls `listener` when another process left a command; watches cheaply, and only while someone listens. */
  onControl(listener: () => void): () => void;
  close(): Promise<void>;
}
