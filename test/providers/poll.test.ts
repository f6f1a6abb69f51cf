import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PollOutcome } from '../../src/contract/index.ts';
import { drive } from './drive.ts';
import { fixture } from './fixtures.ts';
import { adapterOf, json, lost, providerWith, type Reply, signal, silence } from './provider-world.ts';
import { fuzzRuns } from './fuzz-runs.ts';

const image = { taskId: 't1', media: 'image' };
const video = { taskId: 't1', media: 'video', seconds: 8 };

const of = (taskId: string, handle: object = image): object => ({ ...handle, taskId });

async function poll(implementation: string, reply: () => Reply, handle: object = image): Promise<PollOutcome> {
  const world = providerWith(implementation.split('.')[0]!);
  world.answer('/', reply);
  const adapter = adapterOf(world, implementation);
  return await drive(world.clock, adapter.poll!({ ...handle }, signal));
}

const kieRecord = (data: object): (() => Reply) => json({ code: 200, msg: 'success', data: { taskId: 't1', ...data } });

describe('kie.market: a status check', () => {
  it('reads a success: address, exact credits, a life of 24 hours', async () => {
    const got = await poll('kie.market', json(fixture('kie-record-success.json')), of('281e5b0f39b9'));
    expect(got).toEqual({
      kind: 'succeeded',
      output: {
        images: [
          {
            kind: 'remote',
            url: 'https://tempfile.example/img/a.png',
            media: 'image',
            expiresAt: 1_767_225_600_000 + 86_400_000,
          },
        ],
      },
      cost: { amount: { currency: 'credit:kie', micros: 18_500_000 }, usage: { calls: 1, images: 1 } },
    });
  });

  it('reads a failure with the vendor’s reason (P097), policy told apart', async () => {
    const got = await poll('kie.market', json(fixture('kie-record-fail.json')), of('281e5b0f39b9'));
    expect(got).toMatchObject({ kind: 'failed', failure: { kind: 'content-policy', code: '500' } });
  });

  it.each([
    ['succeeded', 'succeeded'],
    ['SUCCESS', 'succeeded'],
    [' Completed ', 'succeeded'],
    ['done', 'succeeded'],
    ['finish', 'succeeded'],
    ['fail', 'failed'],
    ['ERROR', 'failed'],
    ['canceled', 'canceled'],
    ['cancelled', 'canceled'],
    ['expired', 'expired'],
    ['EXPIRED', 'expired'],
    ['queueing', 'running'],
    ['generating', 'running'],
    ['PRE_HEATING', 'unrecognised'],
  ])('P067 P069 takes "%s" for %s', async (state, kind) => {
    const result = { state, resultJson: '{"resultUrls":["https://a.example/x.png"]}' };
    expect(await poll('kie.market', kieRecord(result))).toMatchObject({ kind });
  });

  it.each([
    ['422 and no record', json({ code: 422, msg: 'recordInfo is null', data: null })],
    ['404', json({ code: 404, msg: 'not found', data: null })],
    ['HTTP 422', json({ code: 422, msg: 'recordInfo is null' }, 422)],
    ['no data', json({ code: 200, msg: 'success', data: null })],
  ])('says not visible, never failed, for %s', async (_what, reply) => {
    expect((await poll('kie.market', reply)).kind).toBe('not-visible');
  });

  it.each([
    ['no answer', silence],
    ['a reset', lost()],
    ['HTTP 502', json('<html></html>', 502)],
    ['HTML with 200', json('<html></html>')],
    ['truncated JSON', json('{"code":200,')],
    ['429', json({ code: 429, msg: 'slow' })],
    ['401', json({ code: 401, msg: 'no' })],
    ['a record without a state', json({ code: 200, data: { foo: 1 } })],
  ])('P082 says nothing about the task when the check itself fails: %s', async (_what, reply) => {
    expect((await poll('kie.market', reply)).kind).toBe('check-failed');
  });

  it.each([
    ['""', ''],
    ['null', null],
    ['an empty list', '{"resultUrls":[]}'],
    ['a list of nothing', '{"resultUrls":[null,"",7,"v1"]}'],
    ['half a JSON', '{"resultUrls":["https'],
    ['no result at all', undefined],
  ])('P079 P076 calls a success with %s in it no output', async (_what, resultJson) => {
    expect(await poll('kie.market', kieRecord({ state: 'success', resultJson, creditsConsumed: 3 }))).toMatchObject({
      kind: 'failed',
      failure: { kind: 'no-output' },
      cost: { amount: { currency: 'credit:kie', micros: 3_000_000 } },
    });
  });

  it('waits two minutes for an address that comes later than the word, by the vendor’s own time of the end', async () => {
    const nowMs = 1_767_225_600_000;
    const doneAt = async (completeTime: number): Promise<string> =>
      (await poll('kie.market', kieRecord({ state: 'success', resultJson: '', completeTime }))).kind;
    expect(await doneAt(nowMs - 119_000)).toBe('running');
    expect(await doneAt(nowMs + 5_000)).toBe('running');
    expect(await doneAt(nowMs - 120_000)).toBe('failed');
    expect(await doneAt(nowMs + 86_400_000)).toBe('failed');
    const old = { id: 't1', status: 'completed', completed_at: nowMs / 1_000 - 60 };
    expect((await poll('toapis.image', json(old))).kind).toBe('running');
  });

  it('keeps the good one of several results (P072)', async () => {
    const got = await poll(
      'kie.market',
      kieRecord({ state: 'success', resultJson: '{"resultUrls":["https://a.example/1.png",""]}' }),
    );
    expect(got).toMatchObject({ kind: 'succeeded', output: { images: [{ url: 'https://a.example/1.png' }] } });
  });

  it('books the seconds that were asked for, not the time that it took (P076)', async () => {
    const record = { state: 'success', costTime: 184_000, resultJson: '{"resultUrls":["https://a.example/1.mp4"]}' };
    expect(await poll('kie.market', kieRecord(record), video)).toMatchObject({ cost: { usage: { seconds: 8 } } });
  });

  it('takes up a bare task id that a person gave', async () => {
    const record = { state: 'success', resultJson: '{"resultUrls":["https://a.example/1.mp4"]}' };
    expect(await poll('kie.market', kieRecord(record), { taskId: 't1' })).toMatchObject({ output: { videos: [{}] } });
  });

  it('P097 masks and shortens a long reason that holds a token', async () => {
    const failMsg = `token=abcdefghijklmnop ${'很长'.repeat(3_000)}`;
    const got = await poll('kie.market', kieRecord({ state: 'fail', failCode: '501', failMsg }));
    expect(got.kind === 'failed' && got.failure.message.length).toBeLessThan(600);
    expect(JSON.stringify(got)).not.toContain('abcdefghijklmnop');
  });
});

describe('a status check that is answered with another task’s record', () => {
  it.each([
    ['kie.market', json(fixture('kie-record-success.json'))],
    ['kie.market', json(fixture('kie-record-fail.json'))],
    ['kie.veo', json(fixture('kie-veo-success.json'))],
    ['toapis.image', json(fixture('toapis-completed.json'))],
    ['toapis.video', json(fixture('toapis-failed.json'))],
    ['ark.video', json(fixture('ark-task-succeeded.json'))],
    ['ark.video', json({ id: 't1', status: 'failed', error: { code: 'InternalServiceError', message: 'x' } })],
    ['dashscope.video', json(fixture('dashscope-succeeded.json'))],
    ['dashscope.image', json({ output: { task_id: 't1', task_status: 'UNKNOWN' } })],
  ])('%s: says nothing about ours, and is asked again', async (implementation, reply) => {
    expect(await poll(implementation, reply, of('another'))).toMatchObject({ kind: 'check-failed' });
  });
});

describe('kie.veo: a status check', () => {
  it('P071 reads success with an impossible clock value beside it', async () => {
    expect(await poll('kie.veo', json(fixture('kie-veo-success.json')), of('veo_1', video))).toMatchObject({
      kind: 'succeeded',
      output: { videos: [{ url: 'https://tempfile.example/v/b.mp4' }] },
    });
  });

  it('P071 P072 does not take the envelope’s 200 for success', async () => {
    expect(await poll('kie.veo', json(fixture('kie-veo-failed.json')), of('veo_1', video))).toMatchObject({
      kind: 'failed',
      failure: { kind: 'output-moderated', code: '400' },
    });
  });

  it.each([
    [0, 'running'],
    [2, 'failed'],
    ['1', 'failed'],
    [9, 'unrecognised'],
  ])('takes successFlag %s for %s', async (successFlag, kind) => {
    expect(await poll('kie.veo', kieRecord({ successFlag, response: null }), video)).toMatchObject({ kind });
  });
});

describe('toapis: a status check', () => {
  it('reads a success with its own bill and end of life', async () => {
    expect(await poll('toapis.image', json(fixture('toapis-completed.json')), of('img_01'))).toEqual({
      kind: 'succeeded',
      output: {
        images: [
          { kind: 'remote', url: 'https://files.toapis.example/a.png', media: 'image', expiresAt: 1_757_462_460_000 },
        ],
      },
      cost: { amount: { currency: 'credit:toapis', micros: 3_000_000 }, usage: { calls: 1, images: 1 } },
    });
  });

  it('reads an address at the top, as older answers have it, relative ones too', async () => {
    const got = await poll('toapis.video', json({ id: 't1', status: 'succeeded', url: '/v/x.mp4' }), video);
    expect(got).toMatchObject({ kind: 'succeeded', output: { videos: [{ url: 'https://toapis.example/v/x.mp4' }] } });
  });

  it('P161 books nothing for a refunded failure, and tells policy apart', async () => {
    expect(await poll('toapis.video', json(fixture('toapis-failed.json')), of('vid_01', video))).toMatchObject({
      kind: 'failed',
      failure: { kind: 'content-policy' },
      cost: { amount: { micros: 0 } },
    });
  });

  it('reads fail_reason where there is no error', async () => {
    const got = await poll('toapis.video', json({ id: 't1', status: 'failed', fail_reason: 'server busy' }), video);
    expect(got).toMatchObject({ kind: 'failed', failure: { kind: 'overload', message: 'server busy' } });
  });

  it.each([
    [json({ error: { code: 404, type: 'not_found_error', message: 'x' } }, 404)],
    [json({ code: 'task_not_exist', message: 'task_not_exist' }, 400)],
    [json({ error: { code: 'invalid_request', message: 'task_not_exist' } }, 400)],
  ])('says not visible for a task that it does not know', async (reply) => {
    expect((await poll('toapis.image', reply)).kind).toBe('not-visible');
  });
});

describe('toapis: finding a submit without an answer', () => {
  const request = {
    implementation: 'toapis.image',
    version: 1,
    key: 'key-1',
    model: 'gpt-image',
    capability: 'image.generate',
    body: {},
  } as const;
  const find = async (reply: () => Reply): Promise<unknown> => {
    const world = providerWith('toapis');
    world.answer('/v1/images/generations/key-1', reply);
    return await drive(world.clock, adapterOf(world, 'toapis.image').find!(request, signal));
  };

  it('finds it by our own id', async () => {
    expect(await find(json(fixture('toapis-completed.json')))).toMatchObject({
      kind: 'found',
      handle: { taskId: 'img_01' },
    });
  });

  it('does not find what is not there', async () => {
    expect(await find(json({ error: { code: 404, message: 'task_not_exist' } }, 404))).toEqual({ kind: 'not-found' });
  });

  it.each([
    ['a 404 page of some proxy', json('<html>404</html>', 404)],
    ['a 500', json({ error: { message: 'db' } }, 500)],
    ['silence', silence],
    ['a bad key', json({ error: { message: 'invalid token' } }, 401)],
  ])('proves nothing by %s', async (_what, reply) => {
    expect(await find(reply)).toMatchObject({ kind: 'check-failed' });
  });
});

describe('vendor answers of any shape', () => {
  it.each(['kie.market', 'kie.veo', 'toapis.image', 'toapis.video'])(
    '%s never throws and never invents a success',
    async (implementation) => {
      const states = fc.constantFrom('success', 'completed', 'fail', 'failed', 'running', 'x', '', 1, null);
      const shape = fc.record(
        {
          code: fc.oneof(fc.constantFrom(200, 422, 501, '200'), fc.jsonValue()),
          data: fc.oneof(
            fc.jsonValue(),
            fc.record(
              { state: states, resultJson: fc.jsonValue(), successFlag: fc.jsonValue(), response: fc.jsonValue() },
              { requiredKeys: [] },
            ),
          ),
          status: states,
          result: fc.jsonValue(),
          error: fc.jsonValue(),
          url: fc.jsonValue(),
          billing: fc.jsonValue(),
        },
        { requiredKeys: [] },
      );
      await fc.assert(
        fc.asyncProperty(fc.oneof(shape, fc.jsonValue()), fc.constantFrom(200, 400, 404, 500), async (body, status) => {
          const got = await poll(implementation, json(body, status));
          if (got.kind === 'succeeded') expect(JSON.stringify(body)).toMatch(/https?:\/\/|"\//);
        }),
        fuzzRuns(150),
      );
    },
  );
});
