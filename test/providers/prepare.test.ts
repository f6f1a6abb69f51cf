import { describe, expect, it } from 'vitest';
import { drive } from './drive.ts';
import { fixture } from './fixtures.ts';
import { adapterOf, apiKey, json, modelOf, notSent, png, providerWith, signal, silence } from './provider-world.ts';

const fields = {
  prompt: { name: 'prompt', required: true },
  images: { name: 'image_input', as: 'list' as const, max: 2 },
};
const kieModel = modelOf({ implementation: 'kie.market', fields, fixed: { output_format: 'png' } });
const call = { key: 'k1', capability: 'image.generate', model: kieModel } as const;

describe('kie: preparing a call', () => {
  it('uploads each picture once, under a name that was never used, and puts its address into the body', async () => {
    const world = providerWith('kie');
    world.answer('file-stream-upload', json(fixture('kie-upload.json')));
    const image = await world.keep(png(), '产品"图.png');
    const adapter = adapterOf(world, 'kie.market');
    const prepared = await adapter.prepare({ ...call, input: { prompt: 'x', images: [image, image] } }, signal);
    expect(prepared).toMatchObject({
      ok: true,
      value: {
        implementation: 'kie.market',
        version: 1,
        key: 'k1',
        body: {
          payload: {
            model: 'maker/test-model',
            input: {
              prompt: 'x',
              output_format: 'png',
              image_input: ['https://tempfile.example/u/a.png', 'https://tempfile.example/u/a.png'],
            },
          },
        },
      },
    });
    await adapter.prepare({ ...call, input: { prompt: 'x', images: [image] } }, signal);
    const names = world.calls.map(
      (each) => /name="fileName"\r\n\r\n(.*)\r\n/.exec(Buffer.from(each.bytes!).toString())?.[1],
    );
    expect(names).toHaveLength(2);
    expect(new Set(names).size).toBe(2);
    expect(names[0]).toMatch(/^[0-9a-f]{12}-[0-9a-f-]{36}\.png$/);
    expect(world.calls[0]).toMatchObject({
      url: 'https://upload.kie.example/api/file-stream-upload',
      headers: { authorization: `Bearer ${apiKey}` },
    });
  });

  it.each([
    ['a refusal inside a 200', json({ success: false, code: 401, msg: 'no' }), 'auth'],
    ['no address', json({ success: true, code: 200, data: {} }), 'unavailable'],
    ['no connection', notSent(), 'network'],
    ['silence', silence, 'network'],
    ['too large', json('<html></html>', 413), 'invalid-input'],
  ])('says what stood in the way of an upload: %s', async (_what, reply, kind) => {
    const world = providerWith('kie');
    world.answer('/', reply);
    const image = await world.keep(png(), 'a.png');
    const work = adapterOf(world, 'kie.market').prepare({ ...call, input: { prompt: 'x', images: [image] } }, signal);
    expect(await drive(world.clock, work)).toMatchObject({ ok: false, failure: { kind } });
  });

  it('refuses bad input before anything is uploaded', async () => {
    const world = providerWith('kie');
    const image = await world.keep(png(), 'a.png');
    const work = adapterOf(world, 'kie.market').prepare(
      { ...call, input: { prompt: 'x', images: [image, image, image] } },
      signal,
    );
    expect(await work).toMatchObject({ ok: false, failure: { kind: 'invalid-input', code: 'input.images' } });
    expect(world.calls).toHaveLength(0);
  });

  it('holds no secret in what is stored', async () => {
    const world = providerWith('kie');
    const prepared = await adapterOf(world, 'kie.market').prepare({ ...call, input: { prompt: 'x' } }, signal);
    expect(JSON.stringify(prepared)).not.toContain(apiKey);
  });

  it.each([
    [0, 'TEXT_2_VIDEO'],
    [1, 'FIRST_AND_LAST_FRAMES_2_VIDEO'],
    [2, 'FIRST_AND_LAST_FRAMES_2_VIDEO'],
    [3, 'REFERENCE_2_VIDEO'],
  ])('tells Veo what %i pictures are for', async (count, generationType) => {
    const world = providerWith('kie');
    world.answer('/', json(fixture('kie-upload.json')));
    const images = await Promise.all(
      Array.from({ length: count }, async (_each, index) => await world.keep(png(index), `${index}.png`)),
    );
    const model = modelOf({
      implementation: 'kie.veo',
      fields: { ...fields, images: { name: 'imageUrls', as: 'list', max: 3 } },
    });
    const prepared = await adapterOf(world, 'kie.veo').prepare(
      { key: 'k', capability: 'video.generate', model, input: { prompt: 'x', images, durationS: 8, audio: false } },
      signal,
    );
    expect(prepared).toMatchObject({
      ok: true,
      value: { body: { payload: { generationType, model: 'maker/test-model' }, seconds: 8 } },
    });
  });
});

describe('kie: balance and fresh links', () => {
  it.each([
    [812.5, 812_500_000],
    ['0', 0],
    [20, 20_000_000],
  ])('reads %s credits exactly', async (data, micros) => {
    const world = providerWith('kie');
    world.answer('/api/v1/chat/credit', json({ code: 200, msg: 'success', data }));
    expect(await world.provider.balance!(signal)).toEqual({
      ok: true,
      value: { provider: 'kie', remaining: { currency: 'credit:kie', micros } },
    });
  });

  it.each([
    [json({ code: 401, msg: 'no' }), 'auth'],
    [json({ code: 200, data: null }), 'unavailable'],
    [json('<html></html>'), 'unavailable'],
  ])('says why it knows no balance', async (reply, kind) => {
    const world = providerWith('kie');
    world.answer('/', reply);
    expect(await world.provider.balance!(signal)).toMatchObject({ ok: false, failure: { kind } });
  });

  it('P099 asks for a fresh link, and has none for a foreign address (422)', async () => {
    const world = providerWith('kie');
    world.answer(
      'download-url',
      json({ code: 200, data: 'https://tmp.example/x' }),
      json({ code: 422, msg: 'not ours' }),
    );
    expect(await world.provider.freshLink!('https://tempfile.example/a.png', signal)).toBe('https://tmp.example/x');
    expect(await world.provider.freshLink!('https://other.example/a.png', signal)).toBeUndefined();
  });
});

describe('toapis: uploads and balance', () => {
  const model = modelOf({
    implementation: 'toapis.image',
    fields: { ...fields, images: { name: 'image_urls', as: 'list' } },
  });
  it('uploads the picture and sends its address', async () => {
    const world = providerWith('toapis');
    world.answer('/v1/uploads/images', json({ success: true, data: { url: 'https://files.toapis.example/1.png' } }));
    const image = await world.keep(png(), 'a.png');
    const prepared = await adapterOf(world, 'toapis.image').prepare(
      { key: 'k', capability: 'image.generate', model, input: { prompt: 'x', images: [image] } },
      signal,
    );
    expect(prepared).toMatchObject({
      ok: true,
      value: { body: { payload: { image_urls: ['https://files.toapis.example/1.png'] } } },
    });
  });

  it('refuses what the vendor does not take, before sending it', async () => {
    const world = providerWith('toapis');
    const image = await world.keep(Buffer.from('{"not":"a picture"}'), 'a.png');
    const work = adapterOf(world, 'toapis.image').prepare(
      { key: 'k', capability: 'image.generate', model, input: { prompt: 'x', images: [image] } },
      signal,
    );
    expect(await work).toMatchObject({ ok: false, failure: { kind: 'invalid-input' } });
    expect(world.calls).toHaveLength(0);
  });

  it.each([
    [
      'an unlimited key: the account counts',
      { remain_credits: -1, unlimited_quota: true },
      { remain_credits: 700.5 },
      700_500_000,
    ],
    ['a limited key: the smaller counts', { remain_credits: 10 }, { remain_credits: 700 }, 10_000_000],
    ['a key larger than the account', { remain_credits: 900 }, { remain_credits: '700' }, 700_000_000],
  ])('reads %s', async (_what, key, account, micros) => {
    const world = providerWith('toapis');
    world.answer('/v1/balance', json({ success: true, remain_balance: 3, ...key }));
    world.answer('/v1/user/balance', json({ success: true, remain_balance: 5, ...account }));
    expect(await world.provider.balance!(signal)).toMatchObject({
      ok: true,
      value: { remaining: { currency: 'credit:toapis', micros } },
    });
  });

  it('does not take an error in a 200 for a balance', async () => {
    const world = providerWith('toapis');
    world.answer('/', json({ success: false, message: 'invalid token' }));
    expect((await world.provider.balance!(signal)).ok).toBe(false);
  });
});
