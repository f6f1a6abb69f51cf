import type {
  AttemptRecord,
  ChargeRecord,
  ExecutionRecord,
  NodeRecord,
  RememberedRecord,
} from '../../src/engine/ports/index.ts';
import { attemptId, type AttemptId, chargeId, executionId, type ExecutionId, money } from '../../src/kernel/index.ts';

/** Ids of tests: small numbers in the shape of a UUID, sorting as the numbers do. */
function uuid(kind: string, number: number): string {
  return `${number.toString(16).padStart(8, '0')}-0000-7000-8000-${kind}00000000000`;
}
export const anExecutionId = (number: number): ExecutionId => executionId(uuid('e', number));
export const anAttemptId = (number: number): AttemptId => attemptId(uuid('a', number));

export function anExecution(number: number, changes: Partial<ExecutionRecord> = {}): ExecutionRecord {
  return {
    id: anExecutionId(number),
    sourceRef: `bitable:app/table/record${number}#video`,
    labels: { agent: 'try-on', agentHash: 'ab12', stage: 'video', submitter: 'ou_1' },
    workflow: 'try-on-video',
    planHash: 'plan-1',
    status: 'queued',
    generation: 0,
    idempotencyKey: `key-${number}`,
    input: { product: '连衣裙', pictures: [1, 2, null] },
    marks: [],
    epoch: 0,
    createdAt: 1_000 + number,
    activeMs: 0,
    ...changes,
  };
}

export function aNode(execution: number, path: string, changes: Partial<NodeRecord> = {}): NodeRecord {
  return { executionId: anExecutionId(execution), path, status: 'running', degraded: false, ...changes };
}

export function anAttempt(number: number, execution: number, changes: Partial<AttemptRecord> = {}): AttemptRecord {
  return {
    id: anAttemptId(number),
    executionId: anExecutionId(execution),
    nodePath: 'draw',
    ordinal: 1,
    sourceRef: `bitable:app/table/record${execution}#video`,
    generation: 0,
    provider: 'kie',
    model: 'veo-3',
    implementation: 'kie.video',
    adapterVersion: 1,
    capability: 'video.generate',
    mediaClass: 'video',
    state: 'intended',
    key: `purchase-${number}`,
    fingerprint: `print-${number}`,
    request: { prompt: 'a dress' },
    intendedAt: 2_000,
    observedWaitMs: 0,
    deadlineMs: 1_800_000,
    polls: 0,
    misses: 0,
    ...changes,
  };
}

export function aCharge(number: number, changes: Partial<ChargeRecord> = {}): ChargeRecord {
  return {
    id: chargeId(uuid('c', number)),
    attemptId: anAttemptId(number),
    executionId: anExecutionId(1),
    sourceRef: 'bitable:app/table/record1#video',
    labels: { agent: 'try-on', submitter: 'ou_1' },
    provider: 'kie',
    model: 'veo-3',
    state: 'reserved',
    source: 'price_table',
    amount: money('credit:kie', 60_000_000),
    cnyMicros: 2_100_000,
    reservedAt: 5_000,
    ...changes,
  };
}

export function aMemory(fingerprint: string, changes: Partial<RememberedRecord> = {}): RememberedRecord {
  return {
    fingerprint,
    sourceRef: 'bitable:app/table/record1#video',
    nodePath: 'draw',
    output: { text: '好' },
    degraded: false,
    at: 1_000,
    ...changes,
  };
}
