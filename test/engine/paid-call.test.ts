import { describe, expect, it } from 'vitest';
import type { Failure } from '../../src/contract/index.ts';
import { pictureWorld, twoCandidates } from './support/picture-world.ts';

const overload: Failure = { kind: 'overload', code: '503', message: 'busy' };

describe('a paid call', () => {
  it('is intended on disk, sent once, polled by its handle, settled and charged', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'accept', durationMs: 20_000, costMicros: 350_000 }) });
    const id = await world.draw();
    expect((await world.execution(id)).status).toBe('succeeded');
    const [attempt] = await world.attempts(id);
    expect(attempt).toMatchObject({ state: 'succeeded', ordinal: 1, handle: { taskId: 'acme-1' }, provider: 'acme' });
    expect(world.acme.arrivals).toEqual([attempt?.key]);
    const charges = await world.store.charges({ executionId: id });
    expect(charges).toMatchObject([{ state: 'settled', source: 'vendor', cnyMicros: 350_000 }]);
    expect(world.acme.bill()).toBe(350_000);
    expect(await world.types(id)).toEqual([
      'execution-queued',
      'execution-started',
      'node-started',
      'attempt-intended',
      'attempt-accepted',
      'attempt-settled',
      'charge-settled',
      'node-succeeded',
      'execution-ended',
    ]);
  });

  it('P079 gives artifacts that we hold, never the vendor’s addresses', async () => {
    const world = await pictureWorld();
    const id = await world.draw();
    expect((await world.execution(id)).output).toMatchObject({ images: [{ kind: 'artifact', mime: 'image/png' }] });
  });

  it('P056 a success whose answer carries empty error fields is bought once', async () => {
    const world = await pictureWorld({
      script: () => ({
        submit: 'complete',
        output: { images: [{ kind: 'remote', url: 'https://f.example/1', media: 'image' }], error: null, failMsg: '' },
      }),
    });
    const id = await world.draw();
    expect((await world.execution(id)).status).toBe('succeeded');
    expect(world.acme.arrivals).toHaveLength(1);
  });

  it('tries the same candidate again after a refusal, with a key of its own', async () => {
    const world = await pictureWorld({
      script: ({ count }) => (count < 3 ? { submit: 'refuse', failure: overload } : { submit: 'accept' }),
    });
    const id = await world.draw();
    expect((await world.execution(id)).status).toBe('succeeded');
    expect(new Set(world.acme.arrivals).size).toBe(3);
    expect((await world.store.charges({ executionId: id })).map((charge) => charge.state)).toEqual([
      'released',
      'released',
      'settled',
    ]);
  });

  it('hands over to the next candidate when the first is spent, and says so', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'refuse', failure: overload }), skill: twoCandidates });
    const id = await world.draw();
    const done = await world.execution(id);
    expect(done.status).toBe('succeeded');
    expect(world.acme.arrivals).toHaveLength(3);
    expect(world.backup.arrivals).toHaveLength(1);
    expect(done.marks).toMatchObject([{ kind: 'switched', text: expect.stringContaining('backup/image') as string }]);
    const switched = (await world.eventsOf(id)).find((event) => event.type === 'candidate-switched');
    expect(switched?.data).toMatchObject({
      from: { provider: 'acme' },
      to: { provider: 'backup' },
      failure: { kind: 'overload' },
    });
  });

  it.each(['invalid-input', 'content-policy'] as const)(
    'P117 never tries %s again, nor hands it to another vendor',
    async (kind) => {
      const world = await pictureWorld({
        script: () => ({ submit: 'refuse', failure: { kind, code: 'x', message: 'no' } }),
        skill: twoCandidates,
      });
      const id = await world.draw();
      expect((await world.execution(id)).failure?.kind).toBe(kind);
      expect([world.acme.arrivals.length, world.backup.arrivals.length]).toEqual([1, 0]);
    },
  );

  it('P117 hands content policy over where the skill asks for it', async () => {
    const world = await pictureWorld({
      script: () => ({ submit: 'refuse', failure: { kind: 'content-policy', code: 'x', message: 'no' } }),
      skill: { ...twoCandidates, fallback_on: ['content-policy'] },
    });
    const id = await world.draw();
    expect((await world.execution(id)).status).toBe('succeeded');
    expect([world.acme.arrivals.length, world.backup.arrivals.length]).toEqual([1, 1]);
  });

  it('degrades to the fixed output when every candidate has failed, and says so everywhere', async () => {
    const preset = { kind: 'remote', url: 'https://f.example/preset', media: 'image' };
    const world = await pictureWorld({
      script: () => ({ submit: 'refuse', failure: overload }),
      skill: { degrade: { output: { images: [preset], text: 'for {{prompt}}' }, note: '没有可用通道，用了固定结果' } },
    });
    const id = await world.draw('a dog');
    const done = await world.execution(id);
    expect(done.status).toBe('succeeded');
    expect(done.marks).toMatchObject([{ kind: 'degraded', text: expect.stringContaining('没有可用通道') as string }]);
    expect(await world.types(id)).toEqual(expect.arrayContaining(['candidates-exhausted', 'node-degraded']));
    const [node] = await world.store.nodes(id);
    expect(node).toMatchObject({ degraded: true, output: { text: 'for a dog' } });
  });

  it('P132 a refused output feeds its reasons to the next attempt, within the paid calls allowed', async () => {
    const world = await pictureWorld({
      skill: {
        verify: [{ cel: 'size(output.images) > 1', reason: 'two pictures are needed' }],
        retry: { attempts: 10 },
        max_paid_calls: 3,
      },
    });
    const id = await world.draw();
    expect((await world.execution(id)).failure?.kind).toBe('output-invalid');
    expect(world.acme.tasks).toHaveLength(3);
    expect(world.acme.tasks[1]?.body['prompt']).toContain('two pictures are needed');
    expect(await world.cny(id)).toBe(300_000);
  });

  it('P161 P162 charges each attempt once, failed ones as the vendor says', async () => {
    const world = await pictureWorld({
      script: ({ count }) => ({
        submit: 'accept',
        result: count === 1 ? 'fail' : 'succeed',
        costMicros: count === 1 ? 40_000 : 90_000,
      }),
    });
    const id = await world.draw();
    expect(await world.cny(id)).toBe(130_000);
    expect(world.acme.bill()).toBe(130_000);
    const settled = (await world.eventsOf(id)).filter((event) => event.type === 'charge-settled');
    expect(settled).toHaveLength(2);
  });

  it('prices by the dated table where the vendor gives no figure, and marks the estimate', async () => {
    const world = await pictureWorld();
    const adapter = world.acme.provider.adapters[0];
    const poll = adapter?.poll?.bind(adapter);
    if (adapter !== undefined && poll !== undefined) {
      adapter.poll = async (handle, signal) => {
        const outcome = await poll(handle, signal);
        return outcome.kind === 'succeeded' ? { ...outcome, cost: {} } : outcome;
      };
    }
    const id = await world.draw();
    expect(await world.store.charges({ executionId: id })).toMatchObject([
      { source: 'price_table', cnyMicros: 100_000 },
    ]);
    expect((await world.execution(id)).marks).toMatchObject([{ kind: 'estimated' }]);
  });

  it('P116 P124 waits at least as long as a vendor asks, and spreads the rest', async () => {
    const world = await pictureWorld({
      script: ({ count }) =>
        count === 1
          ? {
              submit: 'refuse',
              failure: { kind: 'rate-limit', code: '429', message: 'slow down', retryAfterMs: 30_000 },
            }
          : { submit: 'accept' },
    });
    const startMs = world.clock.nowMs();
    await world.draw();
    expect((world.acme.tasks[0]?.acceptedAt ?? 0) - startMs).toBeGreaterThanOrEqual(30_000);
  });

  it('passes over a candidate that cannot do what is asked, before paying', async () => {
    const world = await pictureWorld({
      acme: {
        refusePrepare: () => ({ kind: 'invalid-input', code: 'prompt-too-long', message: 'at most 100 characters' }),
      },
      skill: twoCandidates,
    });
    const id = await world.draw();
    expect((await world.execution(id)).status).toBe('succeeded');
    expect([world.acme.arrivals.length, world.backup.arrivals.length]).toEqual([0, 1]);
  });

  it('P086 P131 refuses an input that does not fit before anything is paid', async () => {
    const world = await pictureWorld({
      skill: {
        input: { type: 'object', required: ['prompt'], properties: { prompt: { type: 'string', minLength: 1 } } },
      },
    });
    const id = await world.draw('');
    expect((await world.execution(id)).failure).toMatchObject({ kind: 'invalid-input', code: 'skill-input' });
    expect(world.acme.arrivals).toHaveLength(0);
  });
});
