export type {
  Collector,
  Engine,
  EngineActivity,
  NodeFunction,
  ResolveVerdict,
  SubmitReceipt,
  SubmitRequest,
} from './front-door.ts';
export type {
  AttemptRecord,
  AttemptState,
  ChargeFilter,
  ChargeRecord,
  ChargeSource,
  DocumentRecord,
  EventRecord,
  EventType,
  ExecutionRecord,
  ExecutionStatus,
  Labels,
  Mark,
  NodeRecord,
  NodeStatus,
  OutboxMessage,
  OutboxRecord,
  RememberedRecord,
} from './records.ts';
export { type ConflictCode, ConflictError, StorageError, type Store, type StoreCommand } from './store.ts';
