import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  capability,
  type ModelSettings,
  type PreparedRequest,
  providersFileSchema,
  type SubmitOutcome,
} from '../../src/contract/index.ts';
import {
  createIdSource,
  createSeededRandom,
  createVirtualClock,
  type JsonObject,
  Secret,
  silentLogger,
} from '../../src/kernel/index.ts';
import { createMemorySpool } from '../../src/media/index.ts';
import { providerFactories } from '../../src/providers/index.ts';
import { createInProcessFetch, createPlainPainter, createSandbox, noLatencies } from '../../src/sandbox/index.ts';
import { drive } from './drive.ts';
import { fixture } from './fixtures.ts';
import { adapterOf, json, type ProviderWorld, providerWith, type Reply, signal } from './provider-world.ts';

const shipped = providersFileSchema.parse(
  parse(readFileSync(join(import.meta.dirname, '../../config/providers.yaml'), 'utf8')),
).providers['bocha']!;
const model: ModelSettings = { id: 'bocha/web', ...shipped.models['web']! };

async function prepared(world: ProviderWorld, input: JsonObject, settings = model): Promise<PreparedRequest> {
  const call = { key: 'key-1', capability: 'web.search', model: settings, input } as const;
  const got = await adapterOf(world, 'bocha.web-search').prepare(call, signal);
  if (!got.ok) throw new Error(got.failure.message);
  return got.value;
}

async function searched(reply: () => Reply, input: JsonObject = { query: '碎花' }): Promise<SubmitOutcome> {
  const world = providerWith('bocha');
  world.answer('/', reply);
  return await adapterOf(world, 'bocha.web-search').submit(await prepared(world, input), signal);
}

describe('bocha: a search', () => {
  it('sends words, count and what the model fixes, with the key as bearer', async () => {
    const world = providerWith('bocha', { account: { baseUrl: 'https://bocha.example/v1/web-search/' } });
    world.answer('/', json(fixture('bocha-search.json')));
    const settings = { ...model, fixed: { freshness: 'oneYear', summary: true, exclude: 'a.example|b.example' } };
    const request = await prepared(world, { query: ' 碎花连衣裙 ', limit: 3 }, settings);
    await adapterOf(world, 'bocha.web-search').submit(request, signal);
    expect(world.calls[0]).toMatchObject({
      url: 'https://bocha.example/v1/web-search',
      method: 'POST',
      headers: { authorization: expect.stringMatching(/^Bearer /) as unknown },
    });
    expect(world.calls[0]?.json).toEqual({
      query: '碎花连衣裙',
      count: 3,
      freshness: 'oneYear',
      summary: true,
      exclude: 'a.example|b.example',
    });
    expect(JSON.stringify(request)).not.toContain('Bearer');
  });

  it('gives address, title and text of each page, one call on the bill; a page without an address is left out', async () => {
    const outcome = await searched(json(fixture('bocha-search.json')));
    expect(outcome).toEqual({
      kind: 'completed',
      output: {
        hits: [
          {
            source: 'https://trend.example/2026?a=1&b=2',
            title: '2026 春夏女装流行趋势',
            text: '碎花回潮，花型更小，底色更深；面料以真丝和天丝为主。',
            site: '趋势网',
            published: '2026-02-23T08:18:30+08:00',
          },
          { source: 'https://plain.example/page', title: 'https://plain.example/page', text: '只有摘句的一页' },
        ],
      },
      cost: { usage: { calls: 1 } },
    });
    if (outcome.kind === 'completed')
      expect(capability('web.search').output.safeParse(outcome.output).success).toBe(true);
  });

  it('gives no more pages than were asked for', async () => {
    const outcome = await searched(json(fixture('bocha-search.json')), { query: 'x', limit: 1 });
    expect(outcome.kind === 'completed' && outcome.output['hits']).toHaveLength(1);
  });

  it.each([
    ['no list', { webPages: null }],
    ['an empty list', { webPages: { value: [] } }],
    ['a list of null', { webPages: { value: null } }],
  ])('takes %s for an answer that found nothing, and is paid for', async (_what, data) => {
    expect(await searched(json({ code: 200, msg: null, data }))).toEqual({
      kind: 'completed',
      output: { hits: [] },
      cost: { usage: { calls: 1 } },
    });
  });

  it('refuses an empty query before anything is sent', async () => {
    const world = providerWith('bocha');
    await expect(prepared(world, { query: '   ' })).rejects.toThrow('nothing to search for');
    expect(world.calls).toHaveLength(0);
  });
});

describe('bocha: what went wrong', () => {
  const said = (code: string, message: string, status = Number(code)): (() => Reply) =>
    json({ code, message, log_id: 'c66aac17eab1bb7e' }, status);

  it.each([
    ['an empty account', said('403', 'You do not have enough money'), 'refused', 'balance'],
    ['a wrong key', said('401', 'Invalid API KEY'), 'refused', 'auth'],
    ['a bad request', said('400', 'Missing parameter query'), 'refused', 'invalid-input'],
    ['too many calls', said('429', 'You have reached the request limit'), 'refused', 'rate-limit'],
    ['a fault of its own', said('500', 'xxxx'), 'unknown', 'unknown-outcome'],
    ['an error inside HTTP 200', said('403', 'You do not have enough money', 200), 'refused', 'balance'],
    ['a fault of its own inside HTTP 200', said('500', 'xxxx', 200), 'unknown', 'unknown-outcome'],
    ['a 403 of a gateway', json('<html>forbidden</html>', 403), 'refused', 'auth'],
    ['a good code without data', json({ code: 200, msg: null, data: null }), 'unknown', 'unknown-outcome'],
  ])('calls %s by its kind', async (_what, reply, kind, failureKind) => {
    expect(await searched(reply)).toMatchObject({ kind, failure: { kind: failureKind, provider: 'bocha' } });
  });

  it('keeps code and log id for the operator', async () => {
    expect(await searched(said('401', 'Invalid API KEY'))).toMatchObject({
      failure: { code: '401', evidence: { vendorCode: '401', requestId: 'c66aac17eab1bb7e' } },
    });
  });
});

describe('bocha: the balance', () => {
  const balance = async (reply: () => Reply) => {
    const world = providerWith('bocha');
    world.answer('/v1/fund/remaining', reply);
    return await world.provider.balance!(signal);
  };

  it('is in yuan', async () => {
    expect(await balance(json({ success: true, code: '200', msg: 'success', data: { remaining: 2.8 } }))).toEqual({
      ok: true,
      value: { provider: 'bocha', remaining: { currency: 'CNY', micros: 2_800_000 } },
    });
  });

  it.each([
    ['a wrong key', json({ code: '401', message: 'Invalid API KEY' }, 401), 'auth'],
    ['an answer without a sum', json({ code: '200', data: {} }), 'unavailable'],
    ['a page', json('<html></html>', 502), 'unavailable'],
  ])('is not known after %s', async (_what, reply, kind) => {
    expect(await balance(reply)).toMatchObject({ ok: false, failure: { kind } });
  });
});

describe('bocha in the sandbox', () => {
  function sandboxed() {
    const clock = createVirtualClock();
    const random = createSeededRandom(3);
    const sandbox = createSandbox({
      clock,
      random,
      baseUrl: 'http://127.0.0.1:7010',
      tables: [],
      painter: createPlainPainter(),
      latencies: noLatencies,
    });
    const provider = providerFactories['bocha']!({
      account: { id: 'bocha', baseUrl: 'http://127.0.0.1:7010/bocha', key: new Secret('any'), proxy: 'direct' },
      fetch: createInProcessFetch(sandbox),
      clock,
      ids: createIdSource(clock, random),
      logger: silentLogger,
      media: createMemorySpool(),
      timeouts: { connectMs: 15_000, submitMs: 180_000, queryMs: 30_000, textMs: 180_000 },
    });
    const [adapter] = provider.adapters;
    const search = async (query: string, limit = 10): Promise<SubmitOutcome> => {
      const call = { key: 'k', capability: 'web.search', model, input: { query, limit } } as const;
      const request = await adapter!.prepare(call, signal);
      if (!request.ok) throw new Error(request.failure.message);
      return await drive(clock, adapter!.submit(request.value, signal));
    };
    return { sandbox, clock, provider, search };
  }

  it('finds pages about the words, bills one call, and has less money afterwards', async () => {
    const here = sandboxed();
    const outcome = await here.search('碎花连衣裙', 4);
    if (outcome.kind !== 'completed') throw new Error(JSON.stringify(outcome));
    expect(outcome.output['hits']).toHaveLength(4);
    expect(JSON.stringify(outcome.output)).toContain('碎花连衣裙');
    expect(here.sandbox.books.billTotals()).toMatchObject({ bocha: { calls: 1_000_000 } });
    const left = await drive(here.clock, here.provider.balance!(signal));
    expect(left.ok && left.value.remaining.micros).toBe(100_000_000 - 36_000);
  });

  it('says no when the money is gone, and bills nothing for it', async () => {
    const here = sandboxed();
    here.sandbox.platform.setFunds('bocha', 0.05);
    expect((await here.search('a')).kind).toBe('completed');
    expect(await here.search('b')).toMatchObject({ kind: 'refused', failure: { kind: 'balance' } });
    expect(here.sandbox.books.billTotals()).toMatchObject({ bocha: { calls: 1_000_000 } });
  });
});
