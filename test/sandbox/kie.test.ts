import { describe, expect, it } from 'vitest';
import { type Answer, form, openWorld, origin } from './world.ts';
import { createKie, key, lookKie, slow, withFate } from './kie-calls.ts';

describe('kie in the sandbox', () => {
  it('runs a task from waiting to success, bills it once at its end, and tells the credits', async () => {
    const world = await openWorld({ latencies: slow });
    const task = await createKie(world);
    expect((await lookKie(world, task)).at('data.state')).toBe('waiting');
    expect(world.sandbox.books.bill()).toEqual([]);
    await world.clock.advance(500);
    expect((await lookKie(world, task)).at('data.state')).toBe('generating');
    await world.clock.advance(600);
    const done = await lookKie(world, task);
    expect(done.json).toMatchObject({ code: 200, data: { state: 'success', creditsConsumed: 4, failCode: '' } });
    const [url] = (JSON.parse(String(done.at('data.resultJson'))) as { resultUrls: [string] }).resultUrls;
    const file = await world.fetch(url, { method: 'GET' });
    expect(file.headers.get('content-type')).toBe('image/png');
    expect(world.sandbox.books.billTotals()).toEqual({ kie: { 'credit:kie': 4_000_000 } });
    const credit = await world.call('GET', '/kie/api/v1/chat/credit', undefined, key);
    expect(credit.at('data')).toBe(19_996);
  });

  it('says no inside HTTP 200: key, model, prompt, rate, money', async () => {
    const world = await openWorld();
    const post = (body: unknown, headers = key): Promise<Answer> =>
      world.call('POST', '/kie/api/v1/jobs/createTask', body, headers);
    expect(await post({}, { authorization: '' })).toMatchObject({ status: 200, json: { code: 401 } });
    expect((await post({ model: 'nope', input: { prompt: 'x' } })).at('code')).toBe(422);
    expect((await createKie(world, { prompt: '' })).at('code')).toBe(422);
    for (let index = 0; index < 18; index += 1) await createKie(world);
    expect((await createKie(world)).at('code')).toBe(429);
    await world.clock.advance(10_000);
    world.sandbox.platform.setFunds('kie', 0);
    expect((await createKie(world)).at('code')).toBe(402);
  });

  it.each([
    ['seedream/4.5-edit', { image_urls: ['x'], aspect_ratio: '1:1' }, 'quality'],
    ['kling-3.0/video', { aspect_ratio: '9:16', duration: 5, mode: 'pro' }, 'duration'],
    ['bytedance/seedance-2', { duration: '5' }, 'duration'],
    ['nano-banana-pro', { aspect_ratio: '7:3' }, 'aspect_ratio'],
  ])('refuses an input that %s does not take', async (model, input, field) => {
    const world = await openWorld();
    const body = { model, input: { prompt: 'x', ...input } };
    const answer = await world.call('POST', '/kie/api/v1/jobs/createTask', body, key);
    expect(answer.json).toMatchObject({ code: 422 });
    expect(String(answer.at('msg'))).toContain(field);
    expect(world.sandbox.books.acceptedTasks()).toEqual([]);
  });

  it('fails with a reason and bills nothing', async () => {
    const { world, task } = await withFate({ outcome: 'fail', failCode: '501', failMessage: 'nsfw' });
    await world.clock.advance(1_000);
    expect((await lookKie(world, task)).json).toMatchObject({
      data: { state: 'fail', failCode: '501', failMsg: 'nsfw' },
    });
    expect(world.sandbox.books.bill()).toEqual([]);
    expect(world.sandbox.books.acceptedTasks()[0]?.state).toBe('failed');
  });

  it('lets a fate decide: not visible, strange word, no address, failed after success, late bill', async () => {
    const unseen = await withFate({ invisibleMs: 100 });
    expect((await lookKie(unseen.world, unseen.task)).json).toEqual({
      code: 422,
      msg: 'recordInfo is null',
      data: null,
    });
    await unseen.world.clock.advance(100);
    expect((await lookKie(unseen.world, unseen.task)).at('code')).toBe(200);

    const strange = await withFate({ strangeState: { word: 'reviewing', forMs: 5_000 } });
    expect((await lookKie(strange.world, strange.task)).at('data.state')).toBe('reviewing');

    const bare = await withFate({ withoutUrl: { firstChecks: 1 } });
    await bare.world.clock.advance(1_000);
    expect((await lookKie(bare.world, bare.task)).at('data.resultJson')).toBe('{"resultUrls":[]}');
    expect((await lookKie(bare.world, bare.task)).at('data.resultJson')).toContain('/files/');

    const flip = await withFate({ failsAfterSuccess: { afterChecks: 1 } });
    await flip.world.clock.advance(1_000);
    expect((await lookKie(flip.world, flip.task)).at('data.state')).toBe('success');
    expect((await lookKie(flip.world, flip.task)).at('data.state')).toBe('fail');

    const late = await withFate({ billDelayMs: 60_000 });
    await late.world.clock.advance(1_000);
    expect((await lookKie(late.world, late.task)).json).not.toHaveProperty('data.creditsConsumed');
    expect(late.world.sandbox.books.bill()).toEqual([]);
    await late.world.clock.advance(60_000);
    expect((await lookKie(late.world, late.task)).at('data.creditsConsumed')).toBe(4);
    expect(late.world.sandbox.books.bill()).toHaveLength(1);
  });

  it.each([
    ['html', 'text/html; charset=utf-8'],
    ['wrong-type', 'image/png'],
    ['empty', 'image/png'],
  ] as const)('P102 serves %s behind the address of a picture', async (media, type) => {
    const { world, task } = await withFate({ media });
    await world.clock.advance(1_000);
    const done = await lookKie(world, task);
    const [url] = (JSON.parse(String(done.at('data.resultJson'))) as { resultUrls: [string] }).resultUrls;
    const file = await world.fetch(url, { method: 'GET' });
    expect(file.headers.get('content-type')).toBe(type);
    expect(new TextDecoder('latin1').decode(await file.bytes()).startsWith('\x89PNG')).toBe(false);
  });

  it('lets links expire, and pads a film to any size without holding it', async () => {
    const { world, task } = await withFate({ linkLifeMs: 1_000, padToBytes: 3_000_000 });
    await world.clock.advance(1_000);
    const done = await lookKie(world, task);
    const [url] = (JSON.parse(String(done.at('data.resultJson'))) as { resultUrls: [string] }).resultUrls;
    const file = await world.fetch(url, { method: 'GET' });
    expect((await file.bytes()).length).toBe(Number(file.headers.get('content-length')));
    expect(Number(file.headers.get('content-length'))).toBe(3_000_000);
    await world.clock.advance(1_001);
    expect((await world.fetch(url, { method: 'GET' })).status).toBe(403);
  });

  it('gives a fresh link for a result of its own, dead or alive, and for nothing else', async () => {
    const { world, task } = await withFate({ linkLifeMs: 10 });
    await world.clock.advance(1_000);
    const done = await lookKie(world, task);
    const [url] = (JSON.parse(String(done.at('data.resultJson'))) as { resultUrls: [string] }).resultUrls;
    await world.clock.advance(1_000);
    const fresh = await world.call('POST', '/kie/api/v1/common/download-url', { url }, key);
    expect((await world.fetch(String(fresh.at('data')), { method: 'GET' })).status).toBe(200);
    const foreign = { url: 'http://elsewhere/x.png' };
    expect((await world.call('POST', '/kie/api/v1/common/download-url', foreign, key)).at('code')).toBe(422);
  });

  it('speaks the veo dialect: numbers for states, times as strings', async () => {
    const world = await openWorld({ latencies: slow });
    const task = await world.call('POST', '/kie/api/v1/veo/generate', { prompt: 'x', model: 'veo3_fast' }, key);
    const look = (): Promise<Answer> =>
      world.call('GET', `/kie/api/v1/veo/record-info?taskId=${String(task.at('data.taskId'))}`, undefined, key);
    expect((await look()).at('data.successFlag')).toBe(0);
    await world.clock.advance(3_000);
    expect((await look()).json).toMatchObject({ data: { successFlag: 1, response: { resolution: '720p' } } });
    expect(world.sandbox.books.billTotals()).toEqual({ kie: { 'credit:kie': 60_000_000 } });
  });

  it('fetches uploaded pictures, and fails a task whose picture it cannot read', async () => {
    const world = await openWorld({ latencies: slow });
    const { body, headers } = form(
      { uploadPath: 'in' },
      { name: 'file', fileName: 'a.png', bytes: Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1]) },
    );
    const up = await world.call('POST', '/kie-upload/api/file-stream-upload', body, { ...headers, ...key });
    const good = await createKie(world, { image_urls: [String(up.at('data.downloadUrl'))] });
    const bad = await createKie(world, { image_urls: [`${origin}/files/none/x.png`] });
    await world.clock.advance(1_000);
    expect((await lookKie(world, good)).at('data.state')).toBe('success');
    expect((await lookKie(world, bad)).at('data.failMsg')).toContain('fetch the image');
  });
});
