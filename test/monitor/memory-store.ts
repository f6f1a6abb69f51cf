import {
  type AttemptRecord,
  type ChargeRecord,
  ConflictError,
  type DocumentRecord,
  type EventRecord,
  type ExecutionRecord,
  type NodeRecord,
  type OutboxRecord,
  type Store,
  type StoreCommand,
} from '../../src/engine/ports/index.ts';
import type { JsonObject } from '../../src/kernel/index.ts';

export interface MemoryStore extends Store {
  /** Commits so far, for tests that count writes. */
  commits(): number;
  /** Reads so far. */
  reads(): number;
  failNext(error: Error): void;
}

/** The Store port in memory: what this room uses of it, with the same refusals. */
export function createMemoryStore(): MemoryStore {
  const executions = new Map<string, ExecutionRecord>();
  const nodes = new Map<string, Map<string, NodeRecord>>();
  const attempts = new Map<string, AttemptRecord>();
  const attemptsOf = new Map<string, Set<string>>();
  const charges = new Map<string, ChargeRecord>();
  const chargesOf = new Map<string, Set<string>>();
  const documents = new Map<string, DocumentRecord>();
  const blobs = new Map<string, JsonObject>();
  const events: EventRecord[] = [];
  const outbox: OutboxRecord[] = [];
  const listeners = new Set<() => void>();
  let commits = 0;
  let reads = 0;
  let nextFailure: Error | undefined;

  const add = (index: Map<string, Set<string>>, key: string, value: string): void => {
    const found = index.get(key) ?? new Set<string>();
    found.add(value);
    index.set(key, found);
  };
  const apply = (command: StoreCommand): void => {
    switch (command.type) {
      case 'create-execution':
      case 'put-execution':
        executions.set(command.record.id, command.record);
        return;
      case 'put-node': {
        const own = nodes.get(command.record.executionId) ?? new Map<string, NodeRecord>();
        own.set(command.record.path, command.record);
        nodes.set(command.record.executionId, own);
        return;
      }
      case 'create-attempt':
      case 'put-attempt':
        attempts.set(command.record.id, command.record);
        add(attemptsOf, command.record.executionId, command.record.id);
        return;
      case 'create-charge':
      case 'put-charge':
        charges.set(command.record.id, command.record);
        add(chargesOf, command.record.attemptId, command.record.id);
        return;
      case 'append-event':
        events.push({ seq: events.length + 1, ...command.event });
        return;
      case 'append-outbox':
        outbox.push({ seq: outbox.length + 1, ...command.entry });
        return;
      case 'put-document': {
        const key = `${command.record.collection}/${command.record.key}`;
        if (command.ifAbsent === true && documents.has(key)) throw new ConflictError('document-exists', key);
        documents.set(key, command.record);
        return;
      }
      case 'delete-document':
        documents.delete(`${command.collection}/${command.key}`);
        return;
      case 'put-blob':
        blobs.set(command.hash, command.value);
        return;
      default:
    }
  };
  const read = async <T>(value: () => T): Promise<T> => {
    reads += 1;
    await Promise.resolve();
    return value();
  };
  const pick = <T>(all: ReadonlyMap<string, T>, keys: ReadonlySet<string> | undefined): T[] =>
    [...(keys ?? [])].map((key) => all.get(key)).filter((value) => value !== undefined);
  const store: MemoryStore = {
    commits: () => commits,
    reads: () => reads,
    failNext: (error) => {
      nextFailure = error;
    },
    commit: async (commands) => {
      await Promise.resolve();
      if (nextFailure !== undefined) {
        const failure = nextFailure;
        nextFailure = undefined;
        throw failure;
      }
      commits += 1;
      for (const command of commands) apply(command);
      if (commands.some((command) => command.type === 'append-event' || command.type === 'append-outbox'))
        for (const listener of listeners) listener();
    },
    execution: (id) => read(() => executions.get(id)),
    executionByKey: (key) => read(() => [...executions.values()].find((record) => record.idempotencyKey === key)),
    executions: ({ statuses, limit, before, sourceRefPrefix }) =>
      read(() =>
        [...executions.values()]
          .filter(
            (record) =>
              (statuses === undefined || statuses.includes(record.status)) &&
              (before === undefined || record.id < before) &&
              (sourceRefPrefix === undefined || record.sourceRef.startsWith(sourceRefPrefix)),
          )
          .sort((left, right) => (left.id < right.id ? 1 : -1))
          .slice(0, limit),
      ),
    unfinished: (limit, after) =>
      read(() =>
        [...executions.values()]
          .filter(
            (record) =>
              ['queued', 'running', 'held'].includes(record.status) && (after === undefined || record.id > after),
          )
          .sort((left, right) => (left.id < right.id ? -1 : 1))
          .slice(0, limit),
      ),
    nodes: (id) => read(() => [...(nodes.get(id)?.values() ?? [])]),
    attempts: (id) => read(() => pick(attempts, attemptsOf.get(id))),
    attempt: (id) => read(() => attempts.get(id)),
    attemptsInState: (states, limit) =>
      read(() => [...attempts.values()].filter((record) => states.includes(record.state)).slice(0, limit)),
    attemptsByFingerprint: () => read(() => []),
    charges: (filter) =>
      read(() =>
        [...charges.values()].filter(
          (charge) =>
            (filter.fromMs === undefined || charge.reservedAt >= filter.fromMs) &&
            (filter.toMs === undefined || charge.reservedAt < filter.toMs) &&
            (filter.executionId === undefined || charge.executionId === filter.executionId),
        ),
      ),
    chargesOfAttempt: (id) => read(() => pick(charges, chargesOf.get(id))),
    events: (afterSeq, limit, filter) =>
      read(() => {
        const found: EventRecord[] = [];
        for (let index = afterSeq; index < events.length && found.length < limit; index += 1) {
          const event = events[index];
          if (event === undefined) continue;
          if (filter?.types !== undefined && !filter.types.includes(event.type)) continue;
          if (filter?.executionId !== undefined && filter.executionId !== event.executionId) continue;
          found.push(event);
        }
        return found;
      }),
    lastEventSeq: () => read(() => events.length),
    outbox: (limit, afterSeq) => read(() => outbox.filter((entry) => entry.seq > (afterSeq ?? 0)).slice(0, limit)),
    blob: (hash) => read(() => blobs.get(hash)),
    document: (collection, key) => read(() => documents.get(`${collection}/${key}`)),
    documents: (collection, options) =>
      read(() =>
        [...documents.values()]
          .filter(
            (record) =>
              record.collection === collection &&
              record.key.startsWith(options?.prefix ?? '') &&
              (options?.after === undefined || record.key > options.after),
          )
          .sort((left, right) => (left.key < right.key ? -1 : 1))
          .slice(0, options?.limit ?? 1_000),
      ),
    remembered: () => read(() => undefined),
    lastGood: () => read(() => undefined),
    onAppend: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => Promise.resolve(),
  };
  return store;
}
