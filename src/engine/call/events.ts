import type { Failure } from '../../contract/index.ts';
import { formatMicros, type JsonObject } from '../../kernel/index.ts';
import type { AttemptRecord, ChargeRecord, EventType, ExecutionRecord, StoreCommand } from '../ports/index.ts';

/** An event of an execution. `agent` and `stage` go along, so that readers need not look them up. */
export function eventOf(execution: ExecutionRecord, at: number, type: EventType, data: JsonObject = {}): StoreCommand {
  const { agent, stage } = execution.labels;
  return {
    type: 'append-event',
    event: {
      at,
      executionId: execution.id,
      sourceRef: execution.sourceRef,
      type,
      data: { ...(agent === undefined ? {} : { agent }), ...(stage === undefined ? {} : { stage }), ...data },
    },
  };
}

/** An event about an attempt; works without its execution at hand. */
export function attemptEvent(record: AttemptRecord, at: number, type: EventType, data: JsonObject = {}): StoreCommand {
  const facts = { node: record.nodePath, provider: record.provider, model: record.model, attemptId: record.id };
  return {
    type: 'append-event',
    event: { at, executionId: record.executionId, sourceRef: record.sourceRef, type, data: { ...facts, ...data } },
  };
}

export function failureData(failure: Failure): JsonObject {
  return { ...failure };
}

export function chargeData(charge: ChargeRecord): JsonObject {
  return {
    chargeId: charge.id,
    source: charge.source,
    state: charge.state,
    cny: formatMicros(charge.cnyMicros, 6),
    currency: charge.amount.currency,
    micros: charge.amount.micros,
  };
}
