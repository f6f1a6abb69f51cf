import { describe, expect, it } from 'vitest';
import { openWorld } from './world.ts';
import { key, slow } from './kie-calls.ts';

describe('toapis in the sandbox', () => {
  it('finds a task by the client id, and tells billing as strings', async () => {
    const world = await openWorld({ latencies: slow });
    const made = await world.call(
      'POST',
      '/toapis/v1/images/generations',
      { model: 'gpt-image', prompt: 'x', resolution: '2k', client_business_id: 'mine-1' },
      key,
    );
    expect(made.json).toMatchObject({ object: 'generation.task', status: 'queued' });
    await world.clock.advance(1_000);
    const look = await world.call('GET', '/toapis/v1/images/generations/mine-1', undefined, key);
    expect(look.json).toMatchObject({
      id: made.at('id'),
      status: 'completed',
      billing: { credits: '4', cost_usd: '0.02', status: 'charged' },
    });
    expect(world.sandbox.books.acceptedTasks()[0]?.clientId).toBe('mine-1');
    expect((await world.call('GET', '/toapis/v1/images/generations/other', undefined, key)).status).toBe(404);
  });

  it('refunds a failure, and calls the key unlimited while the account runs dry', async () => {
    const world = await openWorld({ latencies: slow });
    world.sandbox.faults.add({ endpoint: 'toapis.videos.create', action: { kind: 'fate', fate: { outcome: 'fail' } } });
    const made = await world.call('POST', '/toapis/v1/videos/generations', { model: 'sora', prompt: 'x' }, key);
    await world.clock.advance(3_000);
    const look = await world.call('GET', `/toapis/v1/videos/generations/${String(made.at('id'))}`, undefined, key);
    expect(look.json).toMatchObject({ status: 'failed', billing: { status: 'refunded', credits: '0' } });
    world.sandbox.platform.setFunds('toapis', 81);
    const own = await world.call('GET', '/toapis/v1/balance', undefined, key);
    expect(own.json).toMatchObject({ unlimited_quota: true, remain_balance: -1 });
    const account = await world.call('GET', '/toapis/v1/user/balance', undefined, key);
    expect(account.json).toMatchObject({ unlimited_quota: true, remain_credits: 81 });
  });

  it('refuses inline pictures', async () => {
    const world = await openWorld();
    const body = { model: 'm', prompt: 'x', image_urls: ['data:image/png;base64,AAAA'] };
    expect((await world.call('POST', '/toapis/v1/images/generations', body, key)).status).toBe(400);
  });
});
