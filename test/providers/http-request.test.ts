import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/kernel/index.ts';
import { drive } from './drive.ts';
import {
  adapterOf,
  json,
  modelOf,
  notSent,
  type ProviderWorld,
  providerWith,
  type Reply,
  signal,
  silence,
  prepared,
} from './provider-world.ts';

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
