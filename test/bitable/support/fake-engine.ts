import type { Artifact } from '../../../src/contract/index.ts';
import type {
  AttemptRecord,
  Engine,
  ExecutionRecord,
  OutboxMessage,
  ResolveVerdict,
  Store,
  SubmitRequest,
} from '../../../src/engine/ports/index.ts';
import {
  attemptId,
  type Clock,
  chargeId,
  type ExecutionId,
  executionId,
  type IdSource,
  type JsonObject,
  money,
  ok,
} from '../../../src/kernel/index.ts';

export interface FakeEngine extends Engine {
  readonly submits: (SubmitRequest & { readonly executionId: ExecutionId })[];
  readonly cancels: ExecutionId[];
  readonly resolves: { readonly attemptId: string; readonly verdict: ResolveVerdict }[];
  /** Called after each new submit: `finish` may be called inside. */
  onSubmit: ((request: SubmitRequest & { readonly executionId: ExecutionId }) => Promise<void>) | undefined;
  /** What the next submits are refused with. */
  refusal: { readonly kind: 'invalid-input'; readonly advice: string } | undefined;
  finish(id: ExecutionId, changes: Partial<Extract<OutboxMessage, { kind: 'ended' }>>): Promise<void>;
  hold(id: ExecutionId): Promise<string>;
  /** The call in doubt was found: the execution runs again. */
  goOn(id: ExecutionId): Promise<void>;
  late(id: ExecutionId, output: JsonObject): Promise<void>;
  charge(id: ExecutionId, cnyMicros: number): Promise<void>;
  event(
    id: ExecutionId,
    type: 'attempt-accepted' | 'node-waiting' | 'execution-queued',
    data: JsonObject,
  ): Promise<void>;
  last(): SubmitRequest & { readonly executionId: ExecutionId };
}

/** An engine that does as the test says: it stores executions and writes the outbox as the real one would. */
export function createFakeEngine(store: Store, clock: Clock, ids: IdSource): FakeEngine {
  const submits: FakeEngine['submits'] = [];
  const cancels: ExecutionId[] = [];
  const running = new Set<ExecutionId>();
  const resolves: FakeEngine['resolves'] = [];
  const load = async (id: ExecutionId): Promise<ExecutionRecord> => {
    const record = await store.execution(id);
    if (record === undefined) throw new Error(`no execution ${id}`);
    return record;
  };
  const tell = async (record: ExecutionRecord, message: OutboxMessage, ended: boolean): Promise<void> => {
    const changed: ExecutionRecord = {
      ...record,
      ...(message.kind === 'ended' ? { status: message.status, endedAt: clock.nowMs() } : {}),
      ...(message.kind === 'held' ? { status: 'held' } : {}),
    };
    await store.commit([
      { type: 'put-execution', record: changed },
      ...(ended
        ? [
            {
              type: 'append-event' as const,
              event: {
                at: clock.nowMs(),
                executionId: record.id,
                sourceRef: record.sourceRef,
                type: 'execution-ended' as const,
                data: {},
              },
            },
          ]
        : []),
      {
        type: 'append-outbox',
        entry: {
          at: clock.nowMs(),
          executionId: record.id,
          sourceRef: record.sourceRef,
          generation: record.generation,
          message,
        },
      },
    ]);
  };
  const anAttempt = async (record: ExecutionRecord): Promise<AttemptRecord> => {
    const attempt: AttemptRecord = {
      id: attemptId(ids.uuid()),
      executionId: record.id,
      nodePath: 'draw',
      ordinal: 1,
      sourceRef: record.sourceRef,
      generation: record.generation,
      provider: 'kie',
      model: 'm',
      implementation: 'kie.market',
      adapterVersion: 1,
      capability: 'image.generate',
      mediaClass: 'image',
      state: 'intended',
      key: ids.uuid(),
      fingerprint: ids.uuid(),
      request: {},
      intendedAt: clock.nowMs(),
      observedWaitMs: 0,
      deadlineMs: 1_000,
      polls: 0,
      misses: 0,
    };
    await store.commit([{ type: 'create-attempt', record: attempt, epoch: record.epoch }]);
    return attempt;
  };
  const engine: FakeEngine = {
    submits,
    cancels,
    resolves,
    onSubmit: undefined,
    refusal: undefined,
    submit: async (request) => {
      if (engine.refusal !== undefined) {
        return { ok: false, failure: { ...engine.refusal, code: 'refused', message: 'refused' } };
      }
      const known = await store.executionByKey(request.idempotencyKey);
      if (known !== undefined) return ok({ executionId: known.id, created: false });
      const id = executionId(ids.uuid());
      const record: ExecutionRecord = {
        id,
        sourceRef: request.sourceRef,
        labels: request.labels,
        workflow: typeof request.workflow === 'string' ? request.workflow : (request.workflow[0] ?? ''),
        planHash: 'plan',
        status: 'running',
        generation: request.generation,
        idempotencyKey: request.idempotencyKey,
        input: request.input,
        marks: [],
        epoch: 0,
        createdAt: clock.nowMs(),
        activeMs: 0,
        ...(request.parentId === undefined ? {} : { parentId: request.parentId }),
      };
      await store.commit([{ type: 'create-execution', record }]);
      const submitted = { ...request, executionId: id };
      submits.push(submitted);
      running.add(id);
      await engine.onSubmit?.(submitted);
      return ok({ executionId: id, created: true });
    },
    cancel: async (id) => {
      cancels.push(id);
      const record = await store.execution(id);
      if (record === undefined || record.endedAt !== undefined) return;
      await engine.finish(id, { status: 'canceled' });
    },
    resolve: async (id, verdict) => {
      resolves.push({ attemptId: id, verdict });
      const attempt = await store.attempt(id);
      if (attempt !== undefined && verdict.kind === 'not-accepted' && verdict.endExecution) {
        await engine.finish(attempt.executionId, { status: 'failed' });
      }
      return ok(undefined);
    },
    pause: () => Promise.resolve(),
    resume: () => Promise.resolve(),
    isPaused: () => false,
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    activity: () => ({ driving: running.size, waiting: [] }),
    finish: async (id, changes) => {
      running.delete(id);
      const message = { kind: 'ended', status: 'succeeded', marks: [], activeMs: 10_000, ...changes } as const;
      await tell(await load(id), message, true);
    },
    hold: async (id) => {
      const record = await load(id);
      const attempt = await anAttempt(record);
      const failed = { kind: 'unknown-outcome', code: 'TIMEOUT', message: 'no answer', provider: 'kie' } as const;
      await tell(
        record,
        {
          kind: 'held',
          failure: failed,
          attemptId: attempt.id,
          failedNode: '画图',
          atRisk: money('CNY', 350_000),
        },
        false,
      );
      return attempt.id;
    },
    goOn: async (id) => {
      const record = await load(id);
      const event = { at: clock.nowMs(), executionId: id, sourceRef: record.sourceRef, data: {} };
      await store.commit([
        { type: 'put-execution', record: { ...record, status: 'running' } },
        { type: 'append-event', event: { ...event, type: 'execution-resumed' } },
      ]);
    },
    late: async (id, output) => {
      const record = await load(id);
      const attempt = await anAttempt(record);
      await tell(record, { kind: 'late-result', attemptId: attempt.id, nodePath: 'draw', output }, false);
    },
    charge: async (id, cnyMicros) => {
      const record = await load(id);
      const attempt = await anAttempt(record);
      await store.commit([
        {
          type: 'create-charge',
          record: {
            id: chargeId(ids.uuid()),
            attemptId: attempt.id,
            executionId: id,
            sourceRef: record.sourceRef,
            labels: record.labels,
            provider: 'kie',
            model: 'm',
            state: 'settled',
            source: 'vendor',
            amount: money('CNY', cnyMicros),
            cnyMicros,
            reservedAt: clock.nowMs(),
            settledAt: clock.nowMs(),
          },
        },
      ]);
    },
    event: async (id, type, data) => {
      const record = await load(id);
      const event = { at: clock.nowMs(), executionId: id, sourceRef: record.sourceRef, type, data };
      await store.commit([{ type: 'append-event', event }]);
    },
    last: () => {
      const found = submits.at(-1);
      if (found === undefined) throw new Error('nothing was submitted');
      return found;
    },
  };
  return engine;
}

/** What collectors hand back: an artifact whose bytes lie in the spool. */
export type Made = Artifact;
