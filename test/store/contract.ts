import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConflictError, StorageError, type Store } from '../../src/engine/ports/index.ts';
import { aCharge, aMemory, anAttempt, anAttemptId, anExecution, anExecutionId, aNode } from './records.ts';

/** What a store under test must bring: itself, and a second view of the same data after the first was closed. */
export interface StoreUnderTest {
  readonly store: Store;
  /** The same data opened anew; absent where closing forgets it (`:memory:`). */
  readonly reopen?: () => Promise<Store>;
  readonly dispose: () => Promise<void>;
}

/** The promises of the Store port; every implementation runs this suite. */
export function describeStoreContract(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(`store contract: ${name}`, () => {
    let under: StoreUnderTest;
    let store: Store;
    beforeEach(async () => {
      under = await open();
      store = under.store;
    });
    afterEach(async () => {
      await store.close();
      await under.dispose();
    });
    const codeOf = async (work: Promise<unknown>): Promise<string> =>
      work.then(
        () => 'written',
        (error: unknown) => (error instanceof ConflictError ? error.code : `not a conflict: ${String(error)}`),
      );

    describe('executions', () => {
      it('reads an execution back as it was written, and by its key', async () => {
        const record = anExecution(1, {
          parentId: anExecutionId(9),
          owner: 'worker-1',
          failure: { kind: 'overload', code: '503', message: 'busy', httpStatus: 503, evidence: { id: 'r1' } },
          marks: [{ kind: 'degraded', node: 'draw', text: '已降级' }],
          startedAt: 5,
        });
        await store.commit([{ type: 'create-execution', record }]);
        expect(await store.execution(record.id)).toEqual(record);
        expect(await store.executionByKey(record.idempotencyKey)).toEqual(record);
        expect(await store.execution(anExecutionId(2))).toBeUndefined();
      });

      it('gives one idempotency key to one execution only', async () => {
        await store.commit([{ type: 'create-execution', record: anExecution(1) }]);
        const second = anExecution(2, { idempotencyKey: 'key-1' });
        expect(await codeOf(store.commit([{ type: 'create-execution', record: second }]))).toBe('duplicate-key');
        expect(await store.execution(second.id)).toBeUndefined();
      });

      it('P136 lets one of two claims with the same epoch win', async () => {
        await store.commit([{ type: 'create-execution', record: anExecution(1) }]);
        const claim = (owner: string) =>
          codeOf(store.commit([{ type: 'claim-execution', id: anExecutionId(1), owner, expectedEpoch: 0 }]));
        expect((await Promise.all([claim('worker-1'), claim('worker-2')])).toSorted()).toEqual(['fenced', 'written']);
        expect(await store.execution(anExecutionId(1))).toMatchObject({ epoch: 1 });
      });

      it('refuses every write of a driver whose epoch is over', async () => {
        await store.commit([{ type: 'create-execution', record: anExecution(1) }]);
        await store.commit([{ type: 'claim-execution', id: anExecutionId(1), owner: 'new', expectedEpoch: 0 }]);
        const late = { epoch: 0 };
        const put = anExecution(1, { status: 'failed', epoch: 0 });
        expect(await codeOf(store.commit([{ type: 'put-execution', record: put }]))).toBe('fenced');
        expect(await codeOf(store.commit([{ type: 'put-node', record: aNode(1, 'draw'), ...late }]))).toBe('fenced');
        expect(await codeOf(store.commit([{ type: 'create-attempt', record: anAttempt(1, 1), ...late }]))).toBe(
          'fenced',
        );
        expect(await store.nodes(anExecutionId(1))).toEqual([]);
        expect(await store.attempt(anAttemptId(1))).toBeUndefined();
        await store.commit([{ type: 'put-node', record: aNode(1, 'draw'), epoch: 1 }]);
        expect(await store.nodes(anExecutionId(1))).toHaveLength(1);
      });

      it('lists newest first, by status, by source, page after page', async () => {
        for (const number of [1, 2, 3, 4]) {
          await store.commit([
            { type: 'create-execution', record: anExecution(number, { sourceRef: `bitable:a/t/r${number % 2}#s` }) },
          ]);
        }
        await store.commit([{ type: 'put-execution', record: anExecution(4, { status: 'succeeded' }) }]);
        const ids = async (filter: Parameters<Store['executions']>[0]) =>
          (await store.executions(filter)).map((execution) => execution.createdAt - 1_000);
        expect(await ids({ limit: 2 })).toEqual([4, 3]);
        expect(await ids({ limit: 9, before: anExecutionId(3) })).toEqual([2, 1]);
        expect(await ids({ limit: 9, statuses: ['queued', 'held'] })).toEqual([3, 2, 1]);
        expect(await ids({ limit: 9, sourceRefPrefix: 'bitable:a/t/r1#' })).toEqual([3, 1]);
        expect(await ids({ limit: 9, statuses: [] })).toEqual([]);
      });

      it('lists what is unfinished, oldest first, page after page', async () => {
        const states = ['queued', 'succeeded', 'held', 'running', 'failed', 'partial', 'canceled'] as const;
        for (const [index, status] of states.entries()) {
          await store.commit([{ type: 'create-execution', record: anExecution(index + 1, { status }) }]);
        }
        const first = await store.unfinished(2);
        expect(first.map((execution) => execution.status)).toEqual(['queued', 'held']);
        expect((await store.unfinished(9, first[1]!.id)).map((execution) => execution.status)).toEqual(['running']);
        const claim = { type: 'claim-execution', id: anExecutionId(3), owner: 'worker-1', expectedEpoch: 0 } as const;
        await store.commit([claim]);
        expect(await store.unfinishedHeads(9, first[0]!.id)).toEqual([
          { id: anExecutionId(3), owner: 'worker-1', epoch: 1 },
          { id: anExecutionId(4), epoch: 0 },
        ]);
      });

      it('reads many executions at once, with their nodes and attempts', async () => {
        for (const number of [1, 2, 3]) {
          await store.commit([
            { type: 'create-execution', record: anExecution(number) },
            { type: 'put-node', record: aNode(number, 'draw'), epoch: 0 },
            { type: 'create-attempt', record: anAttempt(number, number), epoch: 0 },
          ]);
        }
        await store.commit([{ type: 'create-attempt', record: anAttempt(4, 3), epoch: 0 }]);
        const parts = await store.executionParts([anExecutionId(3), anExecutionId(1), anExecutionId(9)]);
        expect(parts).toEqual([
          { record: anExecution(1), nodes: [aNode(1, 'draw')], attempts: [anAttempt(1, 1)] },
          { record: anExecution(3), nodes: [aNode(3, 'draw')], attempts: [anAttempt(3, 3), anAttempt(4, 3)] },
        ]);
        expect(await store.executionParts([])).toEqual([]);
      });

      it('finds what may still settle of executions that have ended', async () => {
        const accepted = { state: 'accepted' } as const;
        await store.commit([
          { type: 'create-execution', record: anExecution(1) },
          { type: 'create-execution', record: anExecution(2, { status: 'canceled' }) },
          { type: 'create-attempt', record: anAttempt(1, 1, accepted), epoch: 0 },
          { type: 'create-attempt', record: anAttempt(2, 2, { state: 'succeeded' }), epoch: 0 },
          { type: 'create-attempt', record: anAttempt(3, 2, accepted), epoch: 0 },
        ]);
        expect(await store.openAttemptsOfEnded(9)).toEqual([anAttempt(3, 2, accepted)]);
        expect(await store.openAttemptsOfEnded(0)).toEqual([]);
      });
    });

    describe('atomicity', () => {
      it('writes a list whole or not at all', async () => {
        await store.commit([{ type: 'create-execution', record: anExecution(1) }]);
        const refused = store.commit([
          { type: 'append-event', event: { at: 1, type: 'notice', data: { name: 'first' } } },
          { type: 'put-document', record: { collection: 'c', key: 'k', value: {}, updatedAt: 1 } },
          { type: 'put-node', record: aNode(1, 'draw'), epoch: 7 },
        ]);
        expect(await codeOf(refused)).toBe('fenced');
        expect(await store.events(0, 9)).toEqual([]);
        expect(await store.document('c', 'k')).toBeUndefined();
      });

      it('keeps the good lists of a turn in which one is refused', async () => {
        const work = [1, 2, 3].map((number) =>
          codeOf(
            store.commit([
              { type: 'create-execution', record: anExecution(number, { idempotencyKey: `key-${number % 2}` }) },
              { type: 'append-event', event: { at: number, type: 'notice', data: {} } },
            ]),
          ),
        );
        expect(await Promise.all(work)).toEqual(['written', 'written', 'duplicate-key']);
        expect((await store.events(0, 9)).map((event) => event.at)).toEqual([1, 2]);
      });

      it('takes an empty list for done and refuses a write after closing', async () => {
        await store.commit([]);
        await store.close();
        const late = store.commit([{ type: 'append-event', event: { at: 1, type: 'notice', data: {} } }]);
        await expect(late).rejects.toBeInstanceOf(StorageError);
      });

      it('has everything that resolved after a reopening', async () => {
        if (under.reopen === undefined) return;
        await store.commit([
          { type: 'create-execution', record: anExecution(1) },
          { type: 'append-event', event: { at: 1, type: 'worker-started', data: { pid: 1 } } },
        ]);
        const waiting = store.commit([{ type: 'put-node', record: aNode(1, 'draw'), epoch: 0 }]);
        await store.close();
        await waiting;
        store = await under.reopen();
        expect(await store.execution(anExecutionId(1))).toEqual(anExecution(1));
        expect(await store.nodes(anExecutionId(1))).toEqual([aNode(1, 'draw')]);
        expect(await store.lastEventSeq()).toBe(1);
      });
    });

    describe('attempts', () => {
      beforeEach(async () => {
        await store.commit([{ type: 'create-execution', record: anExecution(1) }]);
      });

      it('reads an attempt back as it was written', async () => {
        const record = anAttempt(1, 1, {
          state: 'succeeded',
          handle: { taskId: 't1', account: 'main' },
          output: { videos: [{ kind: 'remote', url: 'https://vendor.example/v.mp4', media: 'video' }] },
          cost: { amount: { currency: 'credit:kie', micros: 60_000_000 }, usage: { seconds: 8 } },
          failure: { kind: 'network', code: 'ECONNRESET', message: 'reset' },
          refusedOutput: ['too dark'],
        });
        await store.commit([{ type: 'create-attempt', record, epoch: 0 }]);
        expect(await store.attempt(record.id)).toEqual(record);
        expect(await store.attempts(anExecutionId(1))).toEqual([record]);
      });

      it('has one winner among settlements that race', async () => {
        await store.commit([{ type: 'create-attempt', record: anAttempt(1, 1, { state: 'accepted' }), epoch: 0 }]);
        const settle = (state: 'succeeded' | 'failed') =>
          codeOf(
            store.commit([
              { type: 'put-attempt', record: anAttempt(1, 1, { state }), expected: ['accepted', 'overdue'] },
            ]),
          );
        expect(await Promise.all([settle('succeeded'), settle('failed')])).toEqual(['written', 'stale-attempt']);
        expect(await store.attempt(anAttemptId(1))).toMatchObject({ state: 'succeeded' });
      });

      it('does not take one state for another whose name it contains', async () => {
        await store.commit([{ type: 'create-attempt', record: anAttempt(1, 1, { state: 'accepted' }), epoch: 0 }]);
        const record = anAttempt(1, 1, { state: 'failed' });
        expect(await codeOf(store.commit([{ type: 'put-attempt', record, expected: ['not-accepted'] }]))).toBe(
          'stale-attempt',
        );
      });

      it('finds attempts by state, open or final', async () => {
        const states = ['intended', 'accepted', 'unknown', 'succeeded', 'overdue', 'accepted'] as const;
        for (const [index, state] of states.entries()) {
          await store.commit([{ type: 'create-attempt', record: anAttempt(index + 1, 1, { state }), epoch: 0 }]);
        }
        const found = async (wanted: Parameters<Store['attemptsInState']>[0], limit = 9) =>
          (await store.attemptsInState(wanted, limit)).map((attempt) => attempt.key);
        expect(await found(['accepted', 'overdue'])).toEqual(['purchase-2', 'purchase-5', 'purchase-6']);
        expect(await found(['accepted'], 1)).toEqual(['purchase-2']);
        expect(await found(['succeeded', 'intended'])).toEqual(['purchase-1', 'purchase-4']);
        expect(await found([])).toEqual([]);
      });

      it('finds a paid success under its fingerprint until its result is remembered', async () => {
        const succeeded = anAttempt(1, 1, { state: 'succeeded', fingerprint: 'p' });
        await store.commit([
          { type: 'create-attempt', record: succeeded, epoch: 0 },
          { type: 'create-attempt', record: anAttempt(2, 1, { state: 'failed', fingerprint: 'p' }), epoch: 0 },
        ]);
        expect(await store.attemptsByFingerprint('p')).toEqual([succeeded]);
        await store.commit([{ type: 'remember', record: aMemory('p', { attemptId: succeeded.id }) }]);
        expect(await store.attemptsByFingerprint('p')).toEqual([]);
      });
    });

    describe('charges', () => {
      it('reads a charge back and settles it once; a correction may change it', async () => {
        const charge = aCharge(1, { usage: { seconds: 8 } });
        const settled = aCharge(1, { state: 'settled', cnyMicros: 1_900_000, settledAt: 9_000, source: 'vendor' });
        await store.commit([{ type: 'create-charge', record: charge }]);
        expect(await store.charges({})).toEqual([charge]);
        await store.commit([{ type: 'put-charge', record: settled }]);
        const again = aCharge(1, { state: 'released', cnyMicros: 0 });
        expect(await codeOf(store.commit([{ type: 'put-charge', record: again }]))).toBe('stale-charge');
        expect(await store.chargesOfAttempt(charge.attemptId)).toEqual([settled]);
        const corrected = { ...settled, cnyMicros: 2_000_000 };
        await store.commit([{ type: 'put-charge', record: corrected, correction: true }]);
        expect(await store.charges({})).toEqual([corrected]);
      });

      it('filters by source, execution, time, agent, submitter and state', async () => {
        const charges = [
          aCharge(1, { reservedAt: 100 }),
          aCharge(2, { reservedAt: 200, state: 'settled', sourceRef: 'bitable:app/table/record10#video' }),
          aCharge(3, { reservedAt: 300, labels: { agent: 'deck' }, executionId: anExecutionId(2) }),
        ];
        for (const record of charges) await store.commit([{ type: 'create-charge', record }]);
        const found = async (filter: Parameters<Store['charges']>[0]) =>
          (await store.charges(filter)).map((charge) => charge.reservedAt / 100);
        expect(await found({ sourceRefPrefix: 'bitable:app/table/record1#' })).toEqual([1, 3]);
        expect(await found({ sourceRefPrefix: 'bitable:app/table/record1' })).toEqual([1, 2, 3]);
        expect(await found({ executionId: anExecutionId(2) })).toEqual([3]);
        expect(await found({ fromMs: 200, toMs: 300 })).toEqual([2]);
        expect(await found({ agent: 'try-on', submitter: 'ou_1' })).toEqual([1, 2]);
        expect(await found({ states: ['settled', 'released'] })).toEqual([2]);
      });
    });

    describe('events and outbox', () => {
      it('numbers events 1, 2, 3 … and reads on from a number, by execution and by type', async () => {
        await store.commit([
          {
            type: 'append-event',
            event: { at: 1, executionId: anExecutionId(1), sourceRef: 's', type: 'node-started', data: { node: 'a' } },
          },
          { type: 'append-event', event: { at: 2, type: 'notice', data: { name: 'x' } } },
        ]);
        await store.commit([
          { type: 'append-event', event: { at: 3, executionId: anExecutionId(1), type: 'node-succeeded', data: {} } },
        ]);
        expect(await store.events(0, 1)).toEqual([
          { seq: 1, at: 1, executionId: anExecutionId(1), sourceRef: 's', type: 'node-started', data: { node: 'a' } },
        ]);
        expect((await store.events(1, 9)).map((event) => event.seq)).toEqual([2, 3]);
        expect((await store.events(0, 9, { executionId: anExecutionId(1) })).map((event) => event.seq)).toEqual([1, 3]);
        expect((await store.events(0, 9, { types: ['notice'] })).map((event) => event.seq)).toEqual([2]);
        expect(await store.lastEventSeq()).toBe(3);
      });

      it('keeps outbox entries until they are acknowledged and never uses a number twice', async () => {
        const entry = {
          at: 1,
          executionId: anExecutionId(1),
          sourceRef: 's',
          generation: 2,
          message: { kind: 'ended', status: 'succeeded', output: { a: 1 }, marks: [], activeMs: 5 },
        } as const;
        await store.commit([{ type: 'append-outbox', entry }]);
        const [first] = await store.outbox(9);
        expect(first).toEqual({ seq: first?.seq, ...entry });
        await store.commit([{ type: 'ack-outbox', seq: first!.seq }]);
        expect(await store.outbox(9)).toEqual([]);
        await store.commit([{ type: 'append-outbox', entry }]);
        const [second] = await store.outbox(9, first!.seq);
        expect(second!.seq).toBeGreaterThan(first!.seq);
      });

      it('tells listeners after commits that appended, and only then', async () => {
        let heard = 0;
        const stop = store.onAppend(() => {
          heard += 1;
        });
        await store.commit([{ type: 'put-document', record: { collection: 'c', key: 'k', value: {}, updatedAt: 1 } }]);
        expect(heard).toBe(0);
        await store.commit([{ type: 'append-event', event: { at: 1, type: 'notice', data: {} } }]);
        expect(heard).toBe(1);
        stop();
        await store.commit([{ type: 'append-event', event: { at: 1, type: 'notice', data: {} } }]);
        expect(heard).toBe(1);
      });
    });

    describe('documents, blobs, memory, controls', () => {
      it('puts, guards, lists and deletes documents', async () => {
        const put = (key: string, value: number, ifAbsent = false) =>
          store.commit([
            { type: 'put-document', record: { collection: 'c', key, value: { value }, updatedAt: value }, ifAbsent },
          ]);
        for (const [index, key] of ['b/2', 'a', 'b/1', '表'].entries()) await put(key, index);
        await put('a', 7);
        expect(await codeOf(put('a', 8, true))).toBe('document-exists');
        expect(await store.document('c', 'a')).toEqual({
          collection: 'c',
          key: 'a',
          value: { value: 7 },
          updatedAt: 7,
        });
        const keys = async (options?: Parameters<Store['documents']>[1]) =>
          (await store.documents('c', options)).map((document) => document.key);
        expect(await keys()).toEqual(['a', 'b/1', 'b/2', '表']);
        expect(await keys({ prefix: 'b/' })).toEqual(['b/1', 'b/2']);
        expect(await keys({ after: 'a', limit: 2 })).toEqual(['b/1', 'b/2']);
        await store.commit([{ type: 'delete-document', collection: 'c', key: 'a' }]);
        expect(await store.document('c', 'a')).toBeUndefined();
        expect(await store.documents('other')).toEqual([]);
      });

      it('keeps a blob under its hash, however often it is written', async () => {
        await store.commit([{ type: 'put-blob', hash: 'h', value: { plan: [1] } }]);
        await store.commit([{ type: 'put-blob', hash: 'h', value: { plan: [2] } }]);
        expect(await store.blob('h')).toEqual({ plan: [1] });
        expect(await store.blob('other')).toBeUndefined();
      });

      it('remembers results and the last good one of a node', async () => {
        const good = aMemory('p1', { at: 1 });
        await store.commit([
          { type: 'remember', record: good },
          { type: 'remember', record: aMemory('p2', { at: 2, degraded: true, output: [1, 'x', null] }) },
          { type: 'remember', record: aMemory('p3', { at: 3, nodePath: 'other', attemptId: anAttemptId(1) }) },
        ]);
        expect(await store.remembered('p2')).toEqual(aMemory('p2', { at: 2, degraded: true, output: [1, 'x', null] }));
        expect(await store.lastGood(good.sourceRef, 'draw')).toEqual(good);
        expect(await store.lastGood('nobody', 'draw')).toBeUndefined();
      });

      it('hands a control out once, keeps it until it is acknowledged, and says whether it waits', async () => {
        const heard: string[] = [];
        const stop = store.onControl(() => heard.push('told'));
        const seq = await store.sendControl({ command: 'pause' });
        expect(heard).toEqual(['told']);
        expect(await store.takeControls()).toMatchObject([{ seq, value: { command: 'pause' } }]);
        expect(await store.takeControls()).toEqual([]);
        expect(await store.isControlWaiting(seq)).toBe(true);
        await store.commit([{ type: 'ack-control', seq }]);
        expect(await store.isControlWaiting(seq)).toBe(false);
        expect(await store.sendControl({ command: 'resume' })).toBeGreaterThan(seq);
        stop();
      });
    });
  });
}
