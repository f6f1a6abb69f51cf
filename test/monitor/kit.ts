import type {
  AttemptRecord,
  ChargeRecord,
  EventRecord,
  ExecutionRecord,
  Store,
  StoreCommand,
} from '../../src/engine/ports/index.ts';
import {
  attemptId,
  chargeId,
  createIdSource,
  createSeededRandom,
  createVirtualClock,
  executionId,
  type IdSource,
  type JsonObject,
  silentLogger,
  type VirtualClock,
} from '../../src/kernel/index.ts';
import type { AlertChannel, AlertMessage, ChannelVerdict } from '../../src/monitor/index.ts';
import { createSqliteStore } from '../../src/store/index.ts';

export const timezone = 'Asia/Shanghai';

export interface Kit {
  readonly clock: VirtualClock;
  readonly store: Store;
  readonly ids: IdSource;
  readonly logger: typeof silentLogger;
}

/** Noon in Shanghai on 30 November 2026. */
const noon = Date.UTC(2026, 10, 30, 4);

export function createKit(startAt = noon): Kit {
  const clock = createVirtualClock(startAt);
  const store = createSqliteStore({ path: ':memory:', clock, logger: silentLogger });
  return { clock, store, ids: createIdSource(clock, createSeededRandom(7)), logger: silentLogger };
}

export interface FakeChannel extends AlertChannel {
  readonly sent: AlertMessage[];
  answer: ChannelVerdict;
}

export function createFakeChannel(name = 'fake'): FakeChannel {
  const channel: FakeChannel = {
    name,
    sent: [],
    answer: { kind: 'sent' },
    send: (message) => {
      if (channel.answer.kind === 'sent') channel.sent.push(message);
      return Promise.resolve(channel.answer);
    },
    status: () => ({ configured: true }),
  };
  return channel;
}

export function executionRecord(kit: Kit, over: Partial<ExecutionRecord> = {}): ExecutionRecord {
  const id = executionId(kit.ids.uuid());
  return {
    id,
    sourceRef: 'bitable:base/table/rec1#draw',
    labels: { agent: 'try-on', stage: 'draw', submitter: 'ou_lin' },
    workflow: 'try-on-draw',
    planHash: 'plan',
    status: 'queued',
    generation: 1,
    idempotencyKey: id,
    input: { 产品说明: '真丝衬衫' },
    marks: [],
    epoch: 0,
    createdAt: kit.clock.nowMs(),
    activeMs: 0,
    ...over,
  };
}

export function attemptRecord(kit: Kit, execution: ExecutionRecord, over: Partial<AttemptRecord> = {}): AttemptRecord {
  const id = attemptId(kit.ids.uuid());
  return {
    id,
    executionId: execution.id,
    nodePath: 'draw',
    ordinal: 1,
    sourceRef: execution.sourceRef,
    generation: execution.generation,
    provider: 'kie',
    model: 'seedream',
    implementation: 'kie.market',
    adapterVersion: 1,
    capability: 'image.generate',
    mediaClass: 'image',
    state: 'intended',
    key: id,
    fingerprint: 'f',
    request: { prompt: 'silk shirt on a model' },
    intendedAt: kit.clock.nowMs(),
    observedWaitMs: 0,
    deadlineMs: 600_000,
    polls: 0,
    misses: 0,
    ...over,
  };
}

export function chargeRecord(kit: Kit, attempt: AttemptRecord, over: Partial<ChargeRecord> = {}): ChargeRecord {
  return {
    id: chargeId(kit.ids.uuid()),
    attemptId: attempt.id,
    executionId: attempt.executionId,
    sourceRef: attempt.sourceRef,
    labels: { agent: 'try-on', stage: 'draw', submitter: 'ou_lin' },
    provider: attempt.provider,
    model: attempt.model,
    state: 'settled',
    source: 'vendor',
    amount: { currency: 'credit:kie', micros: 4_000_000 },
    cnyMicros: 142_000,
    reservedAt: kit.clock.nowMs(),
    settledAt: kit.clock.nowMs(),
    ...over,
  };
}

export function event(
  kit: Kit,
  type: EventRecord['type'],
  data: JsonObject = {},
  execution?: ExecutionRecord,
): StoreCommand {
  return {
    type: 'append-event',
    event: {
      at: kit.clock.nowMs(),
      type,
      data,
      ...(execution === undefined ? {} : { executionId: execution.id, sourceRef: execution.sourceRef }),
    },
  };
}
