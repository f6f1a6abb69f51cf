import { describe, expect, it } from 'vitest';
import { adapterOf, json, providerWith, signal, prepared } from './provider-world.ts';

const film = { prompt: 'x', durationS: 5, audio: false };

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
