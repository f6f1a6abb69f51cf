import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { ModelSettings, PreparedRequest } from '../../src/contract/index.ts';
import type { JsonObject } from '../../src/kernel/index.ts';
import { drive } from './drive.ts';
import { fixture } from './fixtures.ts';
import {
  adapterOf,
  json,
  lost,
  modelOf,
  notSent,
  png,
  type ProviderWorld,
  providerWith,
  type Reply,
  signal,
  silence,
} from './provider-world.ts';

async function prepared(
  world: ProviderWorld,
  implementation: string,
  input: JsonObject,
  settings: Partial<ModelSettings> = {},
  key = 'key-1',
): Promise<PreparedRequest> {
  const adapter = adapterOf(world, implementation);
  const model = modelOf({ implementation, fields: { prompt: { name: 'prompt' } }, ...settings });
  const got = await adapter.prepare({ key, capability: adapter.capabilities[0]!, model, input }, signal);
  if (!got.ok) throw new Error(got.failure.message);
  return got.value;
}

const film = { prompt: 'x', durationS: 5, audio: false };
const handle = { taskId: 't1', media: 'video', seconds: 5 };

describe('ark.video', () => {
  const fields = { prompt: { name: 'prompt' }, firstFrame: { name: 'images#first_frame' } };
  it('sends one list of parts, pictures inline, and our key as safety_identifier; stores no picture', async () => {
    const world = providerWith('ark');
    world.answer('/', json({ id: 'cgt-1' }));
    const firstFrame = await world.keep(png(), 'a.png');
    const request = await prepared(
      world,
      'ark.video',
      { ...film, firstFrame },
      { fields, fixed: { watermark: false } },
    );
    expect(JSON.stringify(request)).not.toContain('base64');
    expect(await adapterOf(world, 'ark.video').submit(request, signal)).toMatchObject({
      kind: 'accepted',
      handle: { taskId: 'cgt-1', seconds: 5 },
    });
    expect(world.calls[0]).toMatchObject({
      url: 'https://ark.example/api/v3/contents/generations/tasks',
      json: {
        model: 'maker/test-model',
        watermark: false,
        safety_identifier: 'key-1',
        content: [
          { type: 'text', text: 'x' },
          {
            type: 'image_url',
            role: 'first_frame',
            image_url: { url: `data:image/png;base64,${Buffer.from(png()).toString('base64')}` },
          },
        ],
      },
    });
  });

  it('sends nothing when the picture has gone', async () => {
    const world = providerWith('ark');
    const firstFrame = await world.keep(png(), 'a.png');
    const request = await prepared(world, 'ark.video', { ...film, firstFrame }, { fields });
    await world.spool.remove(firstFrame.hash);
    expect(await adapterOf(world, 'ark.video').submit(request, signal)).toMatchObject({
      kind: 'refused',
      failure: { kind: 'storage' },
    });
    expect(world.calls).toHaveLength(0);
  });

  it.each([
    [
      json(fixture('ark-task-succeeded.json').replace('cgt-20260819-abcde', 't1')),
      {
        kind: 'succeeded',
        output: {
          videos: [{ url: 'https://ark-content.example/v.mp4?X-Tos-Signature=a%2Fb', expiresAt: 1_755_677_000_000 }],
        },
        cost: { usage: { seconds: 5, videoTokens: 108_900 } },
      },
    ],
    [json({ id: 't1', status: 'queued' }), { kind: 'running' }],
    [json({ id: 't1', status: 'expired' }), { kind: 'expired' }],
    [json({ id: 't1', status: 'cancelled' }), { kind: 'canceled' }],
    [
      json({ id: 't1', status: 'failed', error: { code: 'OutputVideoSensitiveContentDetected', message: 'x' } }),
      { kind: 'failed', failure: { kind: 'output-moderated' }, cost: { usage: { seconds: 0 } } },
    ],
    [
      json({
        id: 't1',
        status: 'failed',
        error: { code: 'InputImageSensitiveContentDetected.PrivacyInformation', message: 'x' },
      }),
      { kind: 'failed', failure: { kind: 'content-policy' } },
    ],
    [json({ id: 't1', status: 'succeeded', content: {} }), { kind: 'failed', failure: { kind: 'no-output' } }],
    [json({ error: { code: 'ResourceNotFound', message: 'x' } }, 404), { kind: 'not-visible' }],
    [
      json({ error: { code: 'ServerOverloaded', message: 'x' } }, 429),
      { kind: 'check-failed', failure: { kind: 'overload' } },
    ],
  ])('reads a status check', async (reply, expected) => {
    const world = providerWith('ark');
    world.answer('/', reply);
    expect(await adapterOf(world, 'ark.video').poll!(handle, signal)).toMatchObject(expected);
  });

  it.each([
    [
      'its own among others',
      json({
        items: [
          { id: 'a', status: 'running', safety_identifier: 'other' },
          { id: 'b', status: 'running', safety_identifier: 'key-1' },
        ],
        total: 2,
      }),
      { kind: 'found', handle: { taskId: 'b' } },
    ],
    ['none', json({ items: [], total: 0 }), { kind: 'not-found' }],
    [
      'others only',
      json({ items: [{ id: 'a', status: 'running', safety_identifier: 'other' }], total: 1 }),
      { kind: 'not-found' },
    ],
    [
      'a list without identifiers',
      json({ items: [{ id: 'a', status: 'running' }], total: 1 }),
      { kind: 'check-failed' },
    ],
    [
      'a longer list',
      json({ items: [{ id: 'a', status: 'running', safety_identifier: 'other' }], total: 501 }),
      { kind: 'check-failed' },
    ],
    [
      'an error',
      json({ error: { code: 'AuthenticationError', message: 'x' } }, 401),
      { kind: 'check-failed', failure: { kind: 'auth' } },
    ],
    ['silence', silence, { kind: 'check-failed' }],
  ])('finds: %s', async (_what, reply, expected) => {
    const world = providerWith('ark');
    world.answer('/', reply);
    const request = await prepared(world, 'ark.video', film);
    expect(await drive(world.clock, adapterOf(world, 'ark.video').find!(request, signal))).toMatchObject(expected);
  });

  it('shortens a long key to its hash, the same on both ways', async () => {
    const world = providerWith('ark');
    const key = 'k'.repeat(100);
    const request = await prepared(world, 'ark.video', film, {}, key);
    const sent = (request.body['payload'] as JsonObject)['safety_identifier'];
    expect(sent).toMatch(/^[0-9a-f]{64}$/);
    world.answer('/', json({ items: [{ id: 'b', status: 'running', safety_identifier: sent }], total: 1 }));
    expect(await adapterOf(world, 'ark.video').find!(request, signal)).toMatchObject({ kind: 'found' });
  });

  it('cancels a queued task only, and never touches the record of another', async () => {
    for (const [status, kind, methods] of [
      ['queued', 'canceled', ['GET', 'DELETE']],
      ['running', 'not-cancelable', ['GET']],
      ['succeeded', 'not-cancelable', ['GET']],
    ] as const) {
      const world = providerWith('ark');
      world.answer('/', json({ id: 't1', status }), json({}));
      expect(await adapterOf(world, 'ark.video').cancel!(handle, signal)).toMatchObject({ kind });
      expect(world.calls.map((call) => call.method)).toEqual(methods);
    }
  });

  it('deletes nothing on the word of another task’s record', async () => {
    const world = providerWith('ark');
    world.answer('/', json({ id: 'another', status: 'queued' }), json({}));
    expect(await adapterOf(world, 'ark.video').cancel!(handle, signal)).toMatchObject({ kind: 'check-failed' });
    expect(world.calls.map((call) => call.method)).toEqual(['GET']);
  });
});

describe('ark.image', () => {
  it('answers at once; the good pictures of a group count', async () => {
    const world = providerWith('ark');
    world.answer('/images/generations', json(fixture('ark-images.json')));
    const outcome = await adapterOf(world, 'ark.image').submit(
      await prepared(world, 'ark.image', { prompt: 'x' }),
      signal,
    );
    expect(outcome).toMatchObject({
      kind: 'completed',
      output: { images: [{ url: 'https://ark-content.example/a.png' }] },
      cost: { usage: { images: 1 } },
    });
  });

  it.each([
    [
      json({ data: [{ error: { code: 'OutputImageSensitiveContentDetected', message: 'x' } }] }),
      'failed',
      'output-moderated',
    ],
    [json({ data: [] }), 'failed', 'no-output'],
    [json({ error: { code: 'AccountOverdueError', message: 'x' } }, 403), 'refused', 'balance'],
    [json({ error: { code: 'ModelNotOpen', message: 'x' } }, 404), 'refused', 'configuration'],
    [lost(), 'unknown', 'unknown-outcome'],
    [notSent(), 'refused', 'network'],
  ])('tells what became of a submit', async (reply, kind, failureKind) => {
    const world = providerWith('ark');
    world.answer('/', reply);
    const outcome = await adapterOf(world, 'ark.image').submit(
      await prepared(world, 'ark.image', { prompt: 'x' }),
      signal,
    );
    expect(outcome).toMatchObject({ kind, failure: { kind: failureKind } });
  });
});

describe('dashscope', () => {
  const fields = { prompt: { name: 'input.prompt' }, firstFrame: { name: 'input.img_url' } };
  it('asks for an asynchronous call, pictures inline', async () => {
    const world = providerWith('dashscope', { account: { baseUrl: 'https://dashscope.example/compatible-mode/v1/' } });
    world.answer('/', json({ output: { task_id: 't1', task_status: 'PENDING' } }));
    const firstFrame = await world.keep(png(), 'a.png');
    const request = await prepared(
      world,
      'dashscope.video',
      { ...film, firstFrame },
      { fields, fixed: { parameters: { watermark: false } } },
    );
    expect(await adapterOf(world, 'dashscope.video').submit(request, signal)).toMatchObject({
      kind: 'accepted',
      handle: { taskId: 't1', acceptedAt: world.clock.nowMs() },
    });
    expect(world.calls[0]).toMatchObject({
      url: 'https://dashscope.example/api/v1/services/aigc/video-generation/video-synthesis',
      headers: { 'x-dashscope-async': 'enable' },
      json: {
        model: 'maker/test-model',
        parameters: { watermark: false },
        input: { prompt: 'x', img_url: expect.stringMatching(/^data:image\/png;base64,/) as unknown },
      },
    });
  });

  const unknown = json({ output: { task_id: 't1', task_status: 'UNKNOWN' } });
  it.each([
    [
      json(fixture('dashscope-succeeded.json').replace('966cebcd-dedc', 't1')),
      {},
      { kind: 'succeeded', output: { videos: [{}] }, cost: { usage: { seconds: 5 } } },
    ],
    [json({ output: { task_status: 'PENDING' } }), {}, { kind: 'running' }],
    [
      json({
        output: {
          task_status: 'FAILED',
          code: 'DataInspectionFailed',
          message: 'Output data may contain inappropriate content.',
        },
      }),
      {},
      { kind: 'failed', failure: { kind: 'output-moderated' } },
    ],
    [
      json({ output: { task_status: 'FAILED', code: 'InvalidParameter', message: 'x' } }),
      {},
      { kind: 'failed', failure: { kind: 'invalid-input' } },
    ],
    [unknown, { acceptedAt: 1_767_225_600_000 }, { kind: 'not-visible' }],
    [unknown, { acceptedAt: 1_767_225_600_000 - 86_400_000 }, { kind: 'expired' }],
    [
      json({ code: 'Throttling.RateQuota', message: 'x', request_id: 'r' }, 429),
      {},
      { kind: 'check-failed', failure: { kind: 'rate-limit', evidence: { requestId: 'r' } } },
    ],
  ])('P069 reads a status check', async (reply, more, expected) => {
    const world = providerWith('dashscope');
    world.answer('/', reply);
    expect(await adapterOf(world, 'dashscope.video').poll!({ ...handle, ...more }, signal)).toMatchObject(expected);
  });

  it('P072 keeps the good parts of a task, and the reason where there is none', async () => {
    const poll = async (results: readonly object[]): Promise<unknown> => {
      const world = providerWith('dashscope');
      world.answer('/', json({ output: { task_status: 'SUCCEEDED', results } }));
      return await adapterOf(world, 'dashscope.image').poll!({ taskId: 't', media: 'image' }, signal);
    };
    const refused = { code: 'DataInspectionFailed', message: 'x' };
    expect(await poll([{ url: 'https://a.example/1.png' }, refused])).toMatchObject({
      kind: 'succeeded',
      output: { images: [{}] },
    });
    expect(await poll([refused])).toMatchObject({ kind: 'failed', failure: { kind: 'content-policy' } });
  });

  it.each([
    ['no task of this model then', [json({ data: [], total: 0 })], { kind: 'not-found' }],
    [
      'one that shows our prompt',
      [json({ data: [{ task_id: 'a' }] }), json({ output: { orig_prompt: 'x' } })],
      { kind: 'found', handle: { taskId: 'a' } },
    ],
    [
      'one that shows another prompt',
      [json({ data: [{ task_id: 'a' }] }), json({ output: { orig_prompt: 'y' } })],
      { kind: 'not-found' },
    ],
    [
      'one that is answered with another task’s record',
      [json({ data: [{ task_id: 'a' }] }), json({ output: { task_id: 'b', orig_prompt: 'x' } })],
      { kind: 'check-failed' },
    ],
    [
      'one that shows none yet',
      [json({ data: [{ task_id: 'a' }] }), json({ output: { task_status: 'RUNNING' } })],
      { kind: 'check-failed' },
    ],
    [
      'two that show our prompt',
      [json({ data: [{ task_id: 'a' }, { task_id: 'b' }] }), json({ output: { orig_prompt: 'x' } })],
      { kind: 'check-failed' },
    ],
    ['no list', [json('<html></html>', 502)], { kind: 'check-failed' }],
  ] as const)('finds: %s', async (_what, replies, expected) => {
    const world = providerWith('dashscope');
    world.answer('/api/v1/tasks/', ...(replies as readonly (() => Reply)[]));
    const request = await prepared(world, 'dashscope.video', film, { fields });
    expect(await adapterOf(world, 'dashscope.video').find!(request, signal)).toMatchObject(expected);
    expect(world.calls[0]?.url).toContain(
      'start_time=20260101075930&end_time=20260101080030&model_name=maker%2Ftest-model',
    );
  });

  it.each([
    [json({ request_id: 'r' }), 'canceled'],
    [json({ code: 'UnsupportedOperation', message: 'x' }, 400), 'not-cancelable'],
    [json('', 500), 'check-failed'],
  ])('cancels what still waits', async (reply, kind) => {
    const world = providerWith('dashscope');
    world.answer('/t1/cancel', reply);
    expect(await adapterOf(world, 'dashscope.video').cancel!(handle, signal)).toMatchObject({ kind });
  });

  it('speaks chat at its compatible address', async () => {
    const world = providerWith('dashscope');
    world.answer('/', json({ choices: [{ message: { content: 'x' }, finish_reason: 'stop' }] }));
    await adapterOf(world, 'openai-chat').submit(await prepared(world, 'openai-chat', { prompt: 'x' }), signal);
    expect(world.calls[0]?.url).toBe('https://dashscope.example/compatible-mode/v1/chat/completions');
  });
});

describe('a person’s word', () => {
  it.each([
    ['kie', 'kie.market', film, { media: 'image' }],
    ['toapis', 'toapis.video', film, { media: 'video', seconds: 5 }],
    ['ark', 'ark.image', { prompt: 'x' }, { media: 'image' }],
    ['dashscope', 'dashscope.video', film, { media: 'video', seconds: 5, acceptedAt: 1_767_225_600_000 }],
  ])(
    '%s makes the same handle from a task id that its own answer would have made',
    async (vendor, implementation, input, facts) => {
      const world = providerWith(vendor);
      const request = await prepared(world, implementation, input);
      const adapter = adapterOf(world, implementation);
      expect(adapter.handleFor!('t9', { ...request })).toMatchObject({
        taskId: 't9',
        account: vendor,
        key: 'key-1',
        ...facts,
      });
      expect(adapter.handleFor!('t9', {})).toMatchObject({ taskId: 't9' });
    },
  );
});

describe('balances of chat vendors', () => {
  it('takes DeepSeek’s own verdict beside the sum', async () => {
    const world = providerWith('deepseek', { account: { baseUrl: 'https://api.deepseek.example/v1' } });
    world.answer(
      '/user/balance',
      json({
        is_available: false,
        balance_infos: [
          { currency: 'USD', total_balance: '1' },
          { currency: 'CNY', total_balance: '110.05' },
        ],
      }),
    );
    expect(await world.provider.balance!(signal)).toMatchObject({
      ok: true,
      value: { remaining: { currency: 'CNY', micros: 110_050_000 }, usable: false },
    });
    expect(world.calls[0]?.url).toBe('https://api.deepseek.example/user/balance');
  });

  it('reads OpenRouter’s key limit, else the account', async () => {
    const world = providerWith('openrouter', { account: { baseUrl: 'https://openrouter.example/api/v1' } });
    world.answer('/api/v1/key', json({ data: { limit_remaining: 12.5 } }), json({ data: { limit_remaining: null } }));
    world.answer(
      '/api/v1/credits',
      json({ data: { total_credits: 100, total_usage: 25.75 } }),
      json({ error: { code: 403, message: 'x' } }, 403),
    );
    expect(await world.provider.balance!(signal)).toMatchObject({
      value: { remaining: { currency: 'USD', micros: 12_500_000 } },
    });
    expect(await world.provider.balance!(signal)).toMatchObject({ value: { remaining: { micros: 74_250_000 } } });
    expect(await world.provider.balance!(signal)).toMatchObject({ ok: false, failure: { kind: 'auth' } });
  });

  it('gives any chat account at a known host its balance', () => {
    const at = (baseUrl: string): boolean =>
      'balance' in providerWith('openai-chat', { account: { baseUrl } }).provider;
    expect(at('https://api.deepseek.com')).toBe(true);
    expect(at('https://openrouter.ai/api/v1')).toBe(true);
    expect(at('https://api.openai.com/v1')).toBe(false);
  });
});

const directory = await mkdtemp(join(tmpdir(), 'gridloom-scripted-'));
afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

describe('scripted', () => {
  const file = join(directory, 'answers.yaml');
  const ask = async (prompt: string): Promise<unknown> => {
    const world = providerWith('scripted');
    return await adapterOf(world, 'scripted').submit(
      await prepared(world, 'scripted', { prompt }, { fixed: { file } }),
      signal,
    );
  };

  it('gives the first answer that fits: text, files, failures', async () => {
    await writeFile(join(directory, 'coat.png'), png());
    await writeFile(
      file,
      'answers:\n  - { when: 大衣, text: 一件红色大衣 }\n  - { when: picture, images: [coat.png] }\n  - { when: busy, fail: { kind: overload, message: later } }\n',
    );
    expect(await ask('描述大衣')).toMatchObject({
      kind: 'completed',
      output: { text: '一件红色大衣', finish: 'stop' },
    });
    expect(await ask('a picture')).toMatchObject({
      kind: 'completed',
      output: { images: [{ kind: 'artifact', mime: 'image/png' }] },
    });
    expect(await ask('busy?')).toMatchObject({ kind: 'failed', failure: { kind: 'overload' } });
    expect(await ask('anything else')).toMatchObject({ kind: 'refused', failure: { kind: 'configuration' } });
  });

  it.each([
    ['a kind that does not exist', 'answers: [{ fail: { kind: nonsense, message: x } }]'],
    ['an answer that is two', 'answers: [{ text: a, images: [b.png] }]'],
    ['no YAML', '{{{'],
    ['a missing picture', 'answers: [{ images: [none.png] }]'],
  ])('says what is wrong with the file: %s', async (_what, content) => {
    await writeFile(file, content);
    expect(await ask('x')).toMatchObject({ kind: 'refused', failure: { kind: 'configuration' } });
  });
});

describe('http.request', () => {
  const ask = async (input: JsonObject, reply: () => Reply): Promise<{ outcome: unknown; world: ProviderWorld }> => {
    const world = providerWith('http-request');
    world.answer('/', reply);
    const request = await prepared(world, 'http-request', { url: 'https://api.example/x', ...input });
    return { outcome: await drive(world.clock, adapterOf(world, 'http-request').submit(request, signal)), world };
  };

  it('gives status and body as data, whatever the status, with no credentials of ours', async () => {
    const { outcome, world } = await ask(
      { method: 'POST', body: { a: 1 }, headers: { 'x-y': 'z' } },
      json({ ok: true }, 404),
    );
    expect(outcome).toEqual({ kind: 'completed', output: { status: 404, body: { ok: true } }, cost: {} });
    expect(world.calls[0]).toMatchObject({
      method: 'POST',
      json: { a: 1 },
      headers: { 'x-y': 'z', 'content-type': 'application/json' },
    });
    expect(world.calls[0]?.headers).not.toHaveProperty('authorization');
    expect((await ask({}, json('plain'))).outcome).toMatchObject({ output: { body: 'plain' } });
  });

  it.each([
    [json('', 429, { 'retry-after': '3' }), { kind: 'refused', failure: { kind: 'rate-limit', retryAfterMs: 3_000 } }],
    [notSent('BLOCKED_ADDRESS'), { kind: 'refused', failure: { kind: 'invalid-input' } }],
    [notSent(), { kind: 'refused', failure: { kind: 'network' } }],
    [silence, { kind: 'unknown' }],
    [json('x'.repeat(1_100_000)), { kind: 'unknown' }],
  ])('tells what went wrong', async (reply, expected) => {
    expect((await ask({}, reply)).outcome).toMatchObject(expected);
  });

  it('lets no workflow set the headers of the connection', async () => {
    const adapter = adapterOf(providerWith('http-request'), 'http-request');
    const call = { key: 'k', capability: 'http.request', model: modelOf({ implementation: 'http-request' }) } as const;
    expect(
      await adapter.prepare({ ...call, input: { url: 'https://a.example', headers: { Host: 'b' } } }, signal),
    ).toMatchObject({ ok: false, failure: { kind: 'invalid-input' } });
  });
});
