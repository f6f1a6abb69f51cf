import type {
  AttemptRecord,
  AttemptState,
  ChargeRecord,
  ControlRecord,
  DocumentRecord,
  EventRecord,
  EventType,
  ExecutionHead,
  ExecutionRecord,
  ExecutionStatus,
  NodeRecord,
  NodeStatus,
  OutboxMessage,
  OutboxRecord,
  RememberedRecord,
} from '../../engine/ports/index.ts';
import { attemptId, chargeId, executionId, isJsonObject, type Json, type JsonObject } from '../../kernel/index.ts';
import type { Logger } from '../../kernel/index.ts';
import {
  attemptBody,
  attemptDefaults,
  chargeBody,
  chargeDefaults,
  executionBody,
  executionDefaults,
  nodeBody,
  nodeDefaults,
  outboxDefaults,
  outboxMessage,
  readBody,
} from './bodies.ts';
import { jsonOf, maybeTextOf, numberOf, type Row, textOf } from './rows.ts';

/** Words that this version writes; anything else in the file was written by another version or by hand. */
const executionStatuses = ['queued', 'running', 'held', 'succeeded', 'partial', 'failed', 'canceled'] as const;
const nodeStatuses = [
  'pending',
  'running',
  'waiting_provider',
  'succeeded',
  'skipped',
  'failed',
  'held',
  'canceled',
] as const;
const attemptStates = [
  'intended',
  'accepted',
  'refused',
  'unknown',
  'not-accepted',
  'succeeded',
  'failed',
  'expired',
  'canceled',
  'overdue',
] as const;
const chargeStates = ['reserved', 'settled', 'released'] as const;

/** Reads rows back into records; leniently, since a start must not fail over one odd row (P149). */
export interface Decoder {
  readonly execution: (row: Row) => ExecutionRecord;
  readonly head: (row: Row) => ExecutionHead;
  readonly node: (row: Row) => NodeRecord;
  readonly attempt: (row: Row) => AttemptRecord;
  readonly charge: (row: Row) => ChargeRecord;
  readonly event: (row: Row) => EventRecord;
  /** Undefined for a message that cannot be understood: it is left where it is, and logged. */
  readonly outbox: (row: Row) => OutboxRecord | undefined;
  readonly document: (row: Row) => DocumentRecord;
  readonly remembered: (row: Row) => RememberedRecord;
  readonly control: (row: Row) => ControlRecord;
  readonly blob: (row: Row) => JsonObject;
}

export function createDecoder(logger: Logger): Decoder {
  const warn = (table: string, id: string) => (members: readonly string[]) => {
    logger.warn('a stored row does not fit and is read with defaults', { table, id, members });
  };
  /** The known word, or `fallback` for one that this version does not know. */
  const word = <Word extends string>(known: readonly Word[], row: Row, column: string, fallback: Word): Word => {
    const stored = textOf(row, column);
    const found = known.find((candidate) => candidate === stored);
    if (found === undefined) logger.warn('an unknown status word is read as in doubt', { stored, fallback });
    return found ?? fallback;
  };
  return {
    execution: (row) => decodeExecution(row, word<ExecutionStatus>(executionStatuses, row, 'status', 'held'), warn),
    head: decodeHead,
    node: (row) => {
      const path = textOf(row, 'path');
      return {
        executionId: executionId(textOf(row, 'execution_id')),
        path,
        status: word<NodeStatus>(nodeStatuses, row, 'status', 'held'),
        ...readBody(nodeBody, nodeDefaults, jsonOf(row, 'body'), warn('nodes', path)),
      };
    },
    attempt: (row) => decodeAttempt(row, word<AttemptState>(attemptStates, row, 'state', 'unknown'), warn),
    charge: (row) => {
      const id = chargeId(textOf(row, 'id'));
      return {
        id,
        attemptId: attemptId(textOf(row, 'attempt_id')),
        executionId: executionId(textOf(row, 'execution_id')),
        sourceRef: textOf(row, 'source_ref'),
        state: word<ChargeRecord['state']>(chargeStates, row, 'state', 'reserved'),
        reservedAt: numberOf(row, 'reserved_at'),
        ...readBody(chargeBody, chargeDefaults, jsonOf(row, 'body'), warn('charges', id)),
      };
    },
    event: decodeEvent,
    outbox: (row) => decodeOutbox(row, logger),
    document: (row) => ({
      collection: textOf(row, 'collection'),
      key: textOf(row, 'key'),
      value: objectOf(row, 'value'),
      updatedAt: numberOf(row, 'updated_at'),
    }),
    remembered: decodeRemembered,
    control: (row) => ({ seq: numberOf(row, 'seq'), at: numberOf(row, 'at'), value: objectOf(row, 'value') }),
    blob: (row) => objectOf(row, 'value'),
  };
}

type Warn = (table: string, id: string) => (members: readonly string[]) => void;

function decodeHead(row: Row): ExecutionHead {
  const owner = maybeTextOf(row, 'owner');
  return {
    id: executionId(textOf(row, 'id')),
    epoch: numberOf(row, 'epoch'),
    ...(owner === undefined ? {} : { owner }),
  };
}

function decodeExecution(row: Row, status: ExecutionStatus, warn: Warn): ExecutionRecord {
  const head = decodeHead(row);
  return {
    ...head,
    idempotencyKey: textOf(row, 'idempotency_key'),
    sourceRef: textOf(row, 'source_ref'),
    status,
    ...readBody(executionBody, executionDefaults, jsonOf(row, 'body'), warn('executions', head.id)),
  };
}

function decodeAttempt(row: Row, state: AttemptState, warn: Warn): AttemptRecord {
  const id = attemptId(textOf(row, 'id'));
  return {
    id,
    executionId: executionId(textOf(row, 'execution_id')),
    fingerprint: textOf(row, 'fingerprint'),
    state,
    ...readBody(attemptBody, attemptDefaults, jsonOf(row, 'body'), warn('attempts', id)),
  };
}

function decodeEvent(row: Row): EventRecord {
  const execution = maybeTextOf(row, 'execution_id');
  const sourceRef = maybeTextOf(row, 'source_ref');
  return {
    seq: numberOf(row, 'seq'),
    at: numberOf(row, 'at'),
    ...(execution === undefined ? {} : { executionId: executionId(execution) }),
    ...(sourceRef === undefined ? {} : { sourceRef }),
    type: eventType(textOf(row, 'type')),
    data: objectOf(row, 'data'),
  };
}

/** Readers of the log skip types that they do not know, so a newer version's event passes through by its own name. */
function eventType(stored: string): EventType {
  return stored as EventType; // eslint-disable-line @typescript-eslint/no-unsafe-type-assertion
}

function decodeOutbox(row: Row, logger: Logger): OutboxRecord | undefined {
  const seq = numberOf(row, 'seq');
  const message = messageOf(row, (members) => {
    logger.error('an outbox message does not fit and is read with defaults, or left in place', { seq, members });
  });
  if (message === undefined) return undefined;
  return {
    seq,
    at: numberOf(row, 'at'),
    executionId: executionId(textOf(row, 'execution_id')),
    sourceRef: textOf(row, 'source_ref'),
    generation: numberOf(row, 'generation'),
    message,
  };
}

function messageOf(row: Row, onFault: (members: readonly string[]) => void): OutboxMessage | undefined {
  try {
    return readBody(outboxMessage, outboxDefaults, jsonOf(row, 'message'), onFault);
  } catch {
    return undefined;
  }
}

function decodeRemembered(row: Row): RememberedRecord {
  const attempt = maybeTextOf(row, 'attempt_id');
  return {
    fingerprint: textOf(row, 'fingerprint'),
    sourceRef: textOf(row, 'source_ref'),
    nodePath: textOf(row, 'node_path'),
    output: jsonValueOf(row, 'output'),
    degraded: numberOf(row, 'degraded') !== 0,
    ...(attempt === undefined ? {} : { attemptId: attemptId(attempt) }),
    at: numberOf(row, 'at'),
  };
}

function objectOf(row: Row, column: string): JsonObject {
  const value = jsonOf(row, column);
  return isJsonObject(value) ? value : {};
}

function jsonValueOf(row: Row, column: string): Json {
  const value = jsonOf(row, column);
  // What JSON.parse returned is JSON; undefined stands for text that did not parse.
  return value === undefined ? null : (value as Json); // eslint-disable-line @typescript-eslint/no-unsafe-type-assertion
}
