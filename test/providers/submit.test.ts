import { describe, expect, it } from 'vitest';
import type { PreparedRequest, SubmitOutcome } from '../../src/contract/index.ts';
import { drive } from './drive.ts';
import {
  adapterOf,
  json,
  lost,
  modelOf,
  notSent,
  type ProviderWorld,
  providerWith,
  type Reply,
  signal,
  silence,
} from './provider-world.ts';

interface Dialect {
  readonly vendor: string;
  readonly implementation: string;
  readonly accepted: unknown;
  readonly capability: 'image.generate' | 'video.generate' | 'text.generate' | 'web.search';
}

const dialects: readonly Dialect[] = [
  {
    vendor: 'kie',
    implementation: 'kie.market',
    capability: 'image.generate',
    accepted: { code: 200, message: 'success', data: { taskId: 't1' } },
  },
  {
    vendor: 'kie',
    implementation: 'kie.veo',
    capability: 'video.generate',
    accepted: { code: 200, msg: 'success', data: { taskId: 't1' } },
  },
  {
    vendor: 'toapis',
    implementation: 'toapis.image',
    capability: 'image.generate',
    accepted: { id: 't1', status: 'pending', error: null },
  },
  {
    vendor: 'toapis',
    implementation: 'toapis.video',
    capability: 'video.generate',
    accepted: { id: 't1', status: 'queued', error: '' },
  },
  {
    vendor: 'openai-chat',
    implementation: 'openai-chat',
    capability: 'text.generate',
    accepted: { error: null, choices: [{ message: { content: 'hello' }, finish_reason: 'stop' }] },
  },
  {
    vendor: 'ark',
    implementation: 'ark.video',
    capability: 'video.generate',
    accepted: { id: 'cgt-1', error: null },
  },
  {
    vendor: 'dashscope',
    implementation: 'dashscope.video',
    capability: 'video.generate',
    accepted: { output: { task_id: 't1', task_status: 'PENDING' }, request_id: 'r', message: '' },
  },
  {
    vendor: 'bocha',
    implementation: 'bocha.web-search',
    capability: 'web.search',
    accepted: { code: 200, msg: null, log_id: 'x', data: { webPages: { value: [] } } },
  },
];

/** Those whose submit is the answer itself. */
const answersAtOnce = ['openai-chat', 'bocha'];

const fields = { prompt: { name: 'prompt', required: true } };

async function prepared(world: ProviderWorld, dialect: Dialect): Promise<PreparedRequest> {
  const film = dialect.capability === 'video.generate' ? { durationS: 5, audio: false } : {};
  const input = dialect.capability === 'web.search' ? { query: 'x' } : { prompt: 'x', ...film };
  const request = await adapterOf(world, dialect.implementation).prepare(
    {
      key: 'key-1',
      capability: dialect.capability,
      model: modelOf({ implementation: dialect.implementation, fields }),
      input,
    },
    signal,
  );
  if (!request.ok) throw new Error(request.failure.message);
  return request.value;
}

async function submitWith(dialect: Dialect, reply: () => Reply): Promise<{ outcome: SubmitOutcome; submits: number }> {
  const world = providerWith(dialect.vendor);
  world.answer('/', reply);
  const request = await prepared(world, dialect);
  const outcome = await drive(world.clock, adapterOf(world, dialect.implementation).submit(request, signal));
  return { outcome, submits: world.calls.length };
}

const html = '<html><body>502 Bad Gateway</body></html>';
const cut = (): Response =>
  new Response(new ReadableStream({ start: (controller) => controller.error(new Error('terminated')) }));

/** P054: the faults of a create call, and what may follow. */
const faults: readonly (readonly [string, () => Reply, 'refused' | 'unknown'])[] = [
  ['ECONNREFUSED', notSent('ECONNREFUSED'), 'refused'],
  ['a DNS failure', notSent('ENOTFOUND'), 'refused'],
  ['a TLS failure', notSent('CERT_HAS_EXPIRED'), 'refused'],
  ['a connect timeout', notSent('UND_ERR_CONNECT_TIMEOUT'), 'refused'],
  ['EPIPE while sending', lost('EPIPE'), 'unknown'],
  ['ECONNRESET after sending', lost('ECONNRESET'), 'unknown'],
  ['a read timeout', silence, 'unknown'],
  ['HTTP 500', json(html, 500), 'unknown'],
  ['HTTP 502', json(html, 502), 'unknown'],
  ['HTTP 503 of a gateway', json(html, 503), 'unknown'],
  ['HTTP 504', json(html, 504), 'unknown'],
  ['HTTP 520', json(html, 520), 'unknown'],
  ['HTTP 524', json(html, 524), 'unknown'],
  ['HTTP 408', json(html, 408), 'unknown'],
  [
    'HTTP 429',
    json({ error: { code: 'rate_limit_exceeded', message: 'slow down' } }, 429, { 'retry-after': '7' }),
    'refused',
  ],
  ['truncated JSON', json('{"code":200,"data":{"task'), 'unknown'],
  ['HTML with 200', json('<html>welcome</html>'), 'unknown'],
  ['an empty 200', json(''), 'unknown'],
  ['JSON without what we need', json({ hello: 'world' }), 'unknown'],
  ['a body that breaks off', cut, 'unknown'],
  ['HTTP 401', json({ error: { message: 'no such key' } }, 401), 'refused'],
  ['HTTP 404 as HTML', json('<html>nginx</html>', 404), 'refused'],
  ['a redirect to https', json('', 301, { location: 'https://elsewhere.example' }), 'refused'],
];

describe.each(dialects)('$implementation: a submit', (dialect) => {
  it.each(faults)('P054 sorts %s, having sent one request', async (_what, reply, expected) => {
    const { outcome, submits } = await submitWith(dialect, reply);
    expect(outcome.kind).toBe(expected);
    expect(submits).toBe(1);
    if (outcome.kind === 'unknown') expect(outcome.failure.kind).toBe('unknown-outcome');
  });

  it('P056 takes a success for one although it carries empty error members', async () => {
    const { outcome } = await submitWith(dialect, json(dialect.accepted));
    expect(outcome.kind).toBe(answersAtOnce.includes(dialect.vendor) ? 'completed' : 'accepted');
  });

  it('P024 calls a 404 page and a redirect a fault of the configuration', async () => {
    for (const reply of [json('<html>nginx</html>', 404), json('', 301, { location: 'https://elsewhere.example' })]) {
      expect((await submitWith(dialect, reply)).outcome).toMatchObject({ failure: { kind: 'configuration' } });
    }
  });

  it('P116 carries Retry-After as time', async () => {
    const { outcome } = await submitWith(
      dialect,
      json({ error: { message: 'x' }, code: 429 }, 429, { 'retry-after': '7' }),
    );
    expect(outcome).toMatchObject({ kind: 'refused', failure: { kind: 'rate-limit', retryAfterMs: 7_000 } });
  });

  it('gives up waiting after its limit and not before', async () => {
    const world = providerWith(dialect.vendor);
    world.answer('/', silence);
    const request = await prepared(world, dialect);
    let isSettled = false;
    const work = adapterOf(world, dialect.implementation).submit(request, signal);
    work.finally(() => (isSettled = true)).catch(() => undefined);
    await world.clock.advance(179_999);
    expect(isSettled).toBe(false);
    await world.clock.advance(1);
    expect(await work).toMatchObject({ kind: 'unknown', failure: { code: 'DEADLINE' } });
  });

  it('P174 keeps the key out of everything it returns', async () => {
    const leak = json(
      { error: { code: 'x', message: 'bad key sk-very-secret-key-0123456789 at https://a.example/x?token=abcdefgh' } },
      400,
    );
    const { outcome } = await submitWith(dialect, leak);
    expect(JSON.stringify(outcome)).not.toMatch(/very-secret|abcdefgh/);
  });
});

describe('kie: codes in the body count before the status', () => {
  const kie = dialects[0]!;
  it.each([
    [402, 'Credits insufficient', 'refused', 'balance'],
    [422, 'The prompt exceeds the maximum length', 'refused', 'invalid-input'],
    [422, 'Your prompt violates our content policy', 'refused', 'content-policy'],
    [429, 'Too many requests', 'refused', 'rate-limit'],
    [455, 'maintenance', 'refused', 'unavailable'],
    [505, 'feature disabled', 'refused', 'configuration'],
    [501, 'generation failed', 'failed', 'generation-failed'],
    [400, 'Failed to download image from url', 'refused', 'input-fetch'],
    [500, 'server error', 'unknown', 'unknown-outcome'],
    [408, 'no result upstream', 'unknown', 'unknown-outcome'],
  ])('%i "%s" is %s, %s', async (code, msg, kind, failureKind) => {
    const { outcome } = await submitWith(kie, json({ code, msg, data: null }));
    expect(outcome).toMatchObject({ kind, failure: { kind: failureKind, code: String(code) } });
  });

  it('P077 keeps a numeric task id to the last digit', async () => {
    const { outcome } = await submitWith(kie, json('{"code":200,"data":{"taskId":9007199254740993}}'));
    expect(outcome).toMatchObject({ kind: 'accepted', handle: { taskId: '9007199254740993' } });
  });
});

describe('toapis', () => {
  it('P062 sends the purchase key as client id, the same for the same purchase', async () => {
    const world = providerWith('toapis');
    world.answer('/', json({ id: 't1', status: 'queued' }));
    const request = await prepared(world, dialects[2]!);
    const adapter = adapterOf(world, 'toapis.image');
    await adapter.submit(request, signal);
    expect(world.calls[0]).toMatchObject({
      url: 'https://toapis.example/v1/images/generations',
      json: { client_business_id: 'key-1', model: 'maker/test-model', prompt: 'x' },
    });
  });

  it('P117 tells a policy refusal from other bad input', async () => {
    const { outcome } = await submitWith(
      dialects[2]!,
      json({ error: { code: 'content_policy_violation', message: 'no' } }, 422),
    );
    expect(outcome).toMatchObject({ kind: 'refused', failure: { kind: 'content-policy' } });
  });

  it('P111 tells an empty account', async () => {
    const { outcome } = await submitWith(
      dialects[3]!,
      json({ error: { code: 'insufficient_quota', message: 'no' } }, 402),
    );
    expect(outcome).toMatchObject({ kind: 'refused', failure: { kind: 'balance' } });
  });
});
