import type { ConflictCode, StoreCommand } from '../../engine/ports/index.ts';
import { assertNever, type Json } from '../../kernel/index.ts';
import type { SqlValue, WriteName } from './statements.ts';

/** One command as the writer runs it: plain values, so that it may cross to a thread. */
export interface Operation {
  readonly statement: WriteName;
  readonly params: readonly SqlValue[];
  /** What it means when the statement changes no row; without it, that is no fault. */
  readonly conflict?: ConflictCode;
}

/** True where a listener of `onAppend` has something new to read. */
export function appends(command: StoreCommand): boolean {
  return command.type === 'append-event' || command.type === 'append-outbox';
}

/** Turns a command into its statement. Key columns are stored beside the body, never twice. */
export function encodeCommand(command: StoreCommand): Operation {
  switch (command.type) {
    case 'create-execution':
    case 'put-execution':
    case 'claim-execution':
      return encodeExecution(command);
    case 'put-node': {
      const { executionId, path, status, ...body } = command.record;
      return operation('putNode', [executionId, path, status, json(body), command.epoch], 'fenced');
    }
    case 'create-attempt':
    case 'put-attempt':
      return encodeAttempt(command);
    case 'create-charge':
    case 'put-charge':
      return encodeCharge(command);
    case 'append-event': {
      const { at, executionId, sourceRef, type, data } = command.event;
      return operation('appendEvent', [at, executionId ?? null, sourceRef ?? null, type, json(data)]);
    }
    case 'append-outbox': {
      const { at, executionId, sourceRef, generation, message } = command.entry;
      return operation('appendOutbox', [at, executionId, sourceRef, generation, json(message)]);
    }
    case 'ack-outbox':
      return operation('ackOutbox', [command.seq]);
    case 'ack-control':
      return operation('ackControl', [command.seq]);
    case 'put-blob':
      return operation('putBlob', [command.hash, json(command.value)]);
    case 'put-document':
    case 'delete-document':
      return encodeDocument(command);
    case 'remember': {
      const { fingerprint, sourceRef, nodePath, degraded, attemptId, at, output } = command.record;
      const flags = [degraded ? 1 : 0, attemptId ?? null, at];
      return operation('remember', [fingerprint, sourceRef, nodePath, ...flags, json(output)]);
    }
    default:
      return assertNever(command);
  }
}

type CommandOf<Type extends StoreCommand['type']> = Extract<StoreCommand, { readonly type: Type }>;

function encodeExecution(
  command: CommandOf<'create-execution'> | CommandOf<'put-execution'> | CommandOf<'claim-execution'>,
): Operation {
  if (command.type === 'claim-execution') {
    return operation('claimExecution', [command.id, command.owner, command.expectedEpoch], 'fenced');
  }
  const { id, idempotencyKey, sourceRef, status, epoch, owner, ...body } = command.record;
  if (command.type === 'put-execution') {
    return operation('putExecution', [id, status, epoch, owner ?? null, json(body)], 'fenced');
  }
  const keys = [id, idempotencyKey, sourceRef, status, epoch, owner ?? null];
  return operation('createExecution', [...keys, json(body)], 'duplicate-key');
}

function encodeAttempt(command: CommandOf<'create-attempt'> | CommandOf<'put-attempt'>): Operation {
  const { id, executionId, fingerprint, state, ...body } = command.record;
  if (command.type === 'create-attempt') {
    return operation('createAttempt', [id, executionId, fingerprint, state, json(body), command.epoch], 'fenced');
  }
  return operation('putAttempt', [id, state, json(body), `,${command.expected.join(',')},`], 'stale-attempt');
}

function encodeCharge(command: CommandOf<'create-charge'> | CommandOf<'put-charge'>): Operation {
  const { id, attemptId, executionId, sourceRef, state, reservedAt, ...body } = command.record;
  if (command.type === 'put-charge') {
    return command.correction === true
      ? operation('correctCharge', [id, state, json(body)], 'stale-charge')
      : operation('putCharge', [id, state, json(body)], 'stale-charge');
  }
  const { agent, submitter } = body.labels;
  const keys = [id, attemptId, executionId, sourceRef, state, agent ?? null, submitter ?? null, reservedAt];
  return operation('createCharge', [...keys, json(body)]);
}

function encodeDocument(command: CommandOf<'put-document'> | CommandOf<'delete-document'>): Operation {
  if (command.type === 'delete-document') return operation('deleteDocument', [command.collection, command.key]);
  const { collection, key, value, updatedAt } = command.record;
  const params = [collection, key, json(value), updatedAt];
  return command.ifAbsent === true
    ? operation('addDocument', params, 'document-exists')
    : operation('putDocument', params);
}

function operation(statement: WriteName, params: readonly SqlValue[], conflict?: ConflictCode): Operation {
  return conflict === undefined ? { statement, params } : { statement, params, conflict };
}

function json(value: Json | object): string {
  return JSON.stringify(value);
}
