import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Failure, ModelSettings, PreparedRequest, SubmitOutcome } from '../../src/contract/index.ts';
import { fail, type JsonObject, ok, type Result } from '../../src/kernel/index.ts';
import { drive } from './drive.ts';
import { fixture } from './fixtures.ts';
import {
  adapterOf,
  json,
  modelOf,
  png,
  type ProviderWorld,
  providerWith,
  type Reply,
  signal,
} from './provider-world.ts';
import { fuzzRuns } from './fuzz-runs.ts';

async function prepare(
  world: ProviderWorld,
  input: JsonObject,
  model: Partial<ModelSettings> = {},
): Promise<Result<PreparedRequest, Failure>> {
  return await adapterOf(world, 'openai-chat').prepare(
    {
      key: 'k',
      capability: 'images' in input ? 'image.analyze' : 'text.generate',
      model: modelOf({ implementation: 'openai-chat', ...model }),
      input,
    },
    signal,
  );
}

async function ask(
  reply: () => Reply,
  input: JsonObject = { prompt: '描述' },
  model: Partial<ModelSettings> = {},
): Promise<{ outcome: SubmitOutcome; world: ProviderWorld }> {
  const world = providerWith('openai-chat');
  world.answer('/', reply);
  const request = await prepare(world, input, model);
  if (!request.ok) throw new Error(request.failure.message);
  const outcome = await drive(world.clock, adapterOf(world, 'openai-chat').submit(request.value, signal));
  return { outcome, world };
}

const completion = (message: unknown, finish = 'stop', more: object = {}): (() => Reply) =>
  json({ choices: [{ index: 0, message, finish_reason: finish }], ...more });

describe('chat', () => {
  it('asks once, without streaming, and gives text, finish and tokens; OpenRouter’s own sum counts', async () => {
    const { outcome, world } = await ask(json(fixture('openrouter-completion.json')), {
      prompt: '描述',
      system: '你是',
      temperature: 0.4,
      maxOutputTokens: 100,
      format: 'json',
    });
    expect(outcome).toEqual({
      kind: 'completed',
      output: { text: '一件红色大衣', finish: 'stop' },
      cost: {
        usage: { calls: 1, inputTokens: 1_000, cachedInputTokens: 200, outputTokens: 35 },
        amount: { currency: 'USD', micros: 420 },
      },
    });
    expect(world.calls).toHaveLength(1);
    expect(world.calls[0]).toMatchObject({
      url: 'https://openai-chat.example/v1/chat/completions',
      json: {
        model: 'maker/test-model',
        stream: false,
        messages: [
          { role: 'system', content: '你是' },
          { role: 'user', content: '描述' },
        ],
        temperature: 0.4,
        max_tokens: 100,
        response_format: { type: 'json_object' },
      },
    });
  });

  it('puts a streamed answer with keep-alive comments together into the same shape', async () => {
    expect((await ask(json(fixture('deepseek-stream.txt')))).outcome).toEqual({
      kind: 'completed',
      output: { text: '红色大衣', finish: 'stop' },
      cost: { usage: { calls: 1, inputTokens: 6, cachedInputTokens: 4, outputTokens: 4 } },
    });
  });

  it('reads JSON after minutes of blank lines, which no silence timeout would end', async () => {
    expect((await ask(json(`\n\n\n   \n${fixture('openrouter-completion.json')}`))).outcome.kind).toBe('completed');
  });

  it('gives up by the clock while blank lines go on for ever', async () => {
    const drip = (): Response => {
      let isWanted = true;
      const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
        await new Promise((resolve) => setImmediate(resolve));
        if (isWanted) controller.enqueue(Buffer.from('\n'));
      };
      return new Response(new ReadableStream({ pull, cancel: () => void (isWanted = false) }));
    };
    expect((await ask(drip)).outcome).toMatchObject({ kind: 'unknown', failure: { kind: 'unknown-outcome' } });
  });

  it.each([
    ['an empty text', ''],
    ['a line end', '\n'],
    ['null', null],
    ['nothing but reasoning', undefined],
  ])('P114 calls %s a bad output that was paid for', async (_what, content) => {
    const message = { role: 'assistant', content, reasoning_content: 'let me think' };
    const { outcome } = await ask(completion(message, 'length', { usage: { prompt_tokens: 3, completion_tokens: 9 } }));
    expect(outcome).toMatchObject({
      kind: 'failed',
      failure: { kind: 'output-invalid' },
      cost: { usage: { outputTokens: 9 } },
    });
  });

  it.each([
    ['a refusal', completion({ content: null, refusal: 'I cannot help' })],
    ['a filter', completion({ content: 'half of' }, 'content_filter')],
    [
      'DashScope’s inspection',
      json(
        { error: { code: 'data_inspection_failed', message: 'Input data may contain inappropriate content.' } },
        400,
      ),
    ],
  ])('P117 tells %s as content policy', async (_what, reply) => {
    expect((await ask(reply)).outcome).toMatchObject({ failure: { kind: 'content-policy' } });
  });

  it('keeps a cut answer and says that it was cut', async () => {
    expect((await ask(completion({ content: 'half' }, 'length'))).outcome).toMatchObject({
      kind: 'completed',
      output: { finish: 'length' },
    });
  });

  it.each([
    [
      'an error object in a 200',
      json({ error: { code: 502, message: 'Provider returned error', metadata: { raw: 'upstream died' } } }),
      'failed',
      'unavailable',
    ],
    ['an error as text in a 200', json({ error: 'model overloaded' }), 'failed', 'generation-failed'],
    ['no choices', json({ choices: [] }), 'failed', 'output-invalid'],
    [
      'an error inside a stream',
      json('data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: {"error":{"code":429,"message":"slow"}}\n\n'),
      'failed',
      'rate-limit',
    ],
    ['a busy vendor', json({ error: { message: 'server overloaded' } }, 503), 'refused', 'overload'],
    ['a bare gateway 503', json('<html></html>', 503), 'unknown', 'unknown-outcome'],
    ['an empty account', json({ error: { code: 'insufficient_quota', message: 'x' } }, 429), 'refused', 'balance'],
    [
      'DeepSeek’s empty account',
      json({ error: { message: 'Insufficient Balance', type: 'unknown_error', code: 'invalid_request_error' } }, 402),
      'refused',
      'balance',
    ],
    [
      'OpenRouter’s passing 402',
      json({ error: { code: 402, message: 'x', metadata: { reason: 'in_flight_budget_exhausted' } } }, 402),
      'refused',
      'rate-limit',
    ],
    [
      'OpenRouter’s key limit',
      json({ error: { code: 402, message: 'x', metadata: { limit_source: 'openrouter_key_limit' } } }, 402),
      'refused',
      'key-cap',
    ],
    ['a wrong key', json({ error: { code: 'invalid_api_key', message: 'x' } }, 401), 'refused', 'auth'],
    ['an unknown model', json({ error: { code: 'model_not_found', message: 'x' } }, 404), 'refused', 'configuration'],
    [
      'too long a prompt',
      json({ error: { code: 'context_length_exceeded', message: 'x' } }, 400),
      'refused',
      'invalid-input',
    ],
    ['capacity', completion({ content: '' }, 'insufficient_system_resource'), 'failed', 'overload'],
  ])('reads %s', async (_what, reply, kind, failureKind) => {
    expect((await ask(reply)).outcome).toMatchObject({ kind, failure: { kind: failureKind } });
  });

  it('keeps a router’s real reason (metadata.raw)', async () => {
    const { outcome } = await ask(
      json({ error: { code: 502, message: 'Provider returned error', metadata: { raw: 'upstream died' } } }),
    );
    expect(outcome).toMatchObject({ failure: { message: 'Provider returned error: upstream died' } });
  });

  it('sends pictures as data URLs, but stores only their hashes', async () => {
    const world = providerWith('openai-chat');
    world.answer('/', completion({ content: 'a coat' }));
    const image = await world.keep(png(), '产品图.png');
    const request = await prepare(world, { prompt: 'what is it?', images: [image] });
    expect(JSON.stringify(request)).not.toContain('base64');
    await adapterOf(world, 'openai-chat').submit(request.ok ? request.value : (undefined as never), signal);
    expect(world.calls[0]?.json).toMatchObject({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: `data:image/png;base64,${Buffer.from(png()).toString('base64')}` } },
            { type: 'text', text: 'what is it?' },
          ],
        },
      ],
    });
  });

  it('sends nothing when a picture has gone from the spool', async () => {
    const world = providerWith('openai-chat');
    const image = await world.keep(png(), 'a.png');
    const request = await prepare(world, { prompt: 'x', images: [image] });
    await world.spool.remove(image.hash);
    const outcome = await adapterOf(world, 'openai-chat').submit(
      request.ok ? request.value : (undefined as never),
      signal,
    );
    expect(outcome).toMatchObject({ kind: 'refused', failure: { kind: 'storage' } });
    expect(world.calls).toHaveLength(0);
  });

  it('takes the model’s own names for parameters, and none where it has none', async () => {
    const fields = { maxOutputTokens: { name: 'max_completion_tokens' }, temperature: { name: '' } };
    const { world } = await ask(
      completion({ content: 'x' }),
      { prompt: 'x', maxOutputTokens: 5, temperature: 1 },
      { fields },
    );
    expect(world.calls[0]?.json).toMatchObject({ max_completion_tokens: 5 });
    expect(world.calls[0]?.json).not.toHaveProperty('temperature');
  });

  it('P086 refuses too long a prompt before paying', async () => {
    const world = providerWith('openai-chat');
    const request = await prepare(
      world,
      { prompt: '一二三四' },
      { fields: { prompt: { name: 'prompt', max_chars: 3 } } },
    );
    expect(request).toEqual(fail(expect.objectContaining({ kind: 'invalid-input' })));
    expect(ok(world.calls.length)).toEqual(ok(0));
  });

  it.each([
    ['https://v.example/'],
    ['https://v.example/v1'],
    ['https://v.example/v1/'],
    ['https://v.example/v1/chat/completions'],
    [' https://v.example/v1/chat/completions/ '],
  ])('P024 makes one address of "%s"', async (baseUrl) => {
    const world = providerWith('openai-chat', { account: { baseUrl } });
    world.answer('/', completion({ content: 'x' }));
    const request = await prepare(world, { prompt: 'x' });
    await adapterOf(world, 'openai-chat').submit(request.ok ? request.value : (undefined as never), signal);
    expect(world.calls[0]?.url).toBe('https://v.example/v1/chat/completions');
  });

  it('never throws at an answer of any shape', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.jsonValue().map((value) => JSON.stringify(value)),
          fc.string(),
          fc.jsonValue().map((value) => `data: ${JSON.stringify(value)}\n\n`),
          fc
            .record({ choices: fc.jsonValue(), error: fc.jsonValue(), usage: fc.jsonValue() }, { requiredKeys: [] })
            .map((value) => JSON.stringify(value)),
        ),
        fc.constantFrom(200, 400, 429, 500),
        async (body, status) => {
          const { outcome } = await ask(json(body, status));
          expect(['completed', 'refused', 'failed', 'unknown']).toContain(outcome.kind);
          if (status >= 300) expect(outcome.kind).not.toBe('completed');
        },
      ),
      fuzzRuns(300),
    );
  });
});
