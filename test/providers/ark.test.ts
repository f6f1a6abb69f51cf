import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/kernel/index.ts';
import { drive } from './drive.ts';
import { fixture } from './fixtures.ts';
import { adapterOf, json, lost, notSent, png, providerWith, signal, silence, prepared } from './provider-world.ts';

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
