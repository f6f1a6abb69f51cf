import { describe, expect, it } from 'vitest';
import { TransportError } from '../../src/kernel/index.ts';
import { noLatencies, type TaskFate } from '../../src/sandbox/index.ts';
import { type Answer, form, openWorld, origin, type TestWorld } from './world.ts';

const key = { authorization: 'Bearer k' };
const slow = { ...noLatencies, imageTaskMs: 1_000, videoTaskMs: 3_000 };

const createKie = (world: TestWorld, input: Record<string, unknown> = {}): Promise<Answer> =>
  world.call(
    'POST',
    '/kie/api/v1/jobs/createTask',
    {
      model: input['image_urls'] === undefined ? 'google/nano-banana' : 'google/nano-banana-edit',
      input: { prompt: 'a model wearing it', ...input },
    },
    key,
  );
const lookKie = (world: TestWorld, task: Answer): Promise<Answer> =>
  world.call('GET', `/kie/api/v1/jobs/recordInfo?taskId=${String(task.at('data.taskId'))}`, undefined, key);

async function withFate(fate: TaskFate): Promise<{ world: TestWorld; task: Answer }> {
  const world = await openWorld({ latencies: slow });
  world.sandbox.faults.add({ endpoint: 'kie.createTask', action: { kind: 'fate', fate } });
  return { world, task: await createKie(world) };
}

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

describe('faults of the sandbox', () => {
  it('breaks the connection before or after the work, and says which', async () => {
    const world = await openWorld();
    world.sandbox.faults.add({ endpoint: 'kie.createTask', action: { kind: 'refuse' } });
    await expect(createKie(world)).rejects.toMatchObject({ phase: 'not-sent' });
    world.sandbox.faults.add({ endpoint: 'kie.createTask', action: { kind: 'drop-before' } });
    await expect(createKie(world)).rejects.toThrow(TransportError);
    expect(world.sandbox.books.acceptedTasks()).toHaveLength(0);
    world.sandbox.faults.add({ endpoint: 'kie.*', action: { kind: 'drop-after' } });
    await expect(createKie(world)).rejects.toMatchObject({ phase: 'maybe-sent' });
    expect(world.sandbox.books.acceptedTasks()).toHaveLength(1);
    expect((await createKie(world)).at('code')).toBe(200);
  });

  it('answers an error after having done the work, or instead of it', async () => {
    const world = await openWorld();
    const rule = { endpoint: 'kie.createTask', bodyIncludes: 'wearing' } as const;
    world.sandbox.faults.add({ ...rule, action: { kind: 'answer', status: 503, body: 'busy' } });
    expect((await createKie(world)).status).toBe(503);
    expect(world.sandbox.books.acceptedTasks()).toHaveLength(0);
    world.sandbox.faults.add({ ...rule, action: { kind: 'answer-after', status: 502, body: {} } });
    expect((await createKie(world)).status).toBe(502);
    expect(world.sandbox.books.acceptedTasks()).toHaveLength(1);
  });

  it('hangs until the client gives up, and the work is done all the same', async () => {
    const world = await openWorld();
    world.sandbox.faults.add({ endpoint: 'kie.createTask', action: { kind: 'hang-after' } });
    const controller = new AbortController();
    const body = JSON.stringify({ model: 'google/nano-banana', input: { prompt: 'x' } });
    const call = world.fetch(`${origin}/kie/api/v1/jobs/createTask`, {
      method: 'POST',
      headers: key,
      body,
      signal: controller.signal,
    });
    const outcome = expect(call).rejects.toThrow('gave up');
    await world.clock.advance(180_000);
    controller.abort(new Error('gave up'));
    await outcome;
    expect(world.sandbox.books.acceptedTasks()).toHaveLength(1);
  });

  it('repeats the last answer, does the work twice, and cuts a body short', async () => {
    const world = await openWorld();
    world.sandbox.faults.add({ endpoint: 'kie.createTask', action: { kind: 'repeat-last' }, skip: 1 });
    const first = await createKie(world);
    expect((await createKie(world)).at('data.taskId')).toBe(first.at('data.taskId'));
    world.sandbox.faults.clear();
    world.sandbox.faults.add({ endpoint: 'kie.createTask', action: { kind: 'twice' } });
    await createKie(world);
    expect(world.sandbox.books.acceptedTasks()).toHaveLength(4);
    world.sandbox.faults.add({ endpoint: 'kie.credit', action: { kind: 'cut', afterBytes: 5 } });
    await expect(world.call('GET', '/kie/api/v1/chat/credit', undefined, key)).rejects.toThrow();
  });

  it('gives the first answer once more after newer ones, and an answer twice in one body', async () => {
    const world = await openWorld();
    const { faults } = world.sandbox;
    faults.add({ endpoint: 'kie.createTask', action: { kind: 'fate', fate: { durationMs: 60_000 } } });
    const submit = await createKie(world);
    const path = `/kie/api/v1/jobs/recordInfo?taskId=${String(submit.at('data.taskId'))}`;
    const look = async () => await world.call('GET', path, undefined, key);
    faults.add({ endpoint: 'kie.recordInfo', action: { kind: 'repeat-first' }, skip: 2 });
    expect((await look()).at('data.state')).not.toBe('success');
    await world.clock.advance(600_000);
    expect((await look()).at('data.state')).toBe('success');
    expect((await look()).at('data.state')).not.toBe('success');
    faults.clear();
    faults.add({ endpoint: 'kie.createTask', action: { kind: 'double' } });
    const before = world.sandbox.books.acceptedTasks().length;
    const doubled = await world.sandbox.fetch(
      new Request(`${world.sandbox.baseUrl()}/kie/api/v1/jobs/createTask`, {
        method: 'POST',
        headers: key,
        body: JSON.stringify({ model: 'google/nano-banana', input: { prompt: 'x' } }),
      }),
    );
    const text = await doubled.text();
    expect(text.slice(0, text.length / 2)).toBe(text.slice(text.length / 2));
    expect(world.sandbox.books.acceptedTasks().length - before).toBe(1);
  });

  it('strikes as often as it was told, by chance where a chance was given', async () => {
    const world = await openWorld();
    const rule = world.sandbox.faults.add({
      endpoint: 'kie.credit',
      action: { kind: 'answer', status: 500 },
      count: Infinity,
      probability: 0.5,
    });
    for (let index = 0; index < 200; index += 1) await world.call('GET', '/kie/api/v1/chat/credit', undefined, key);
    expect(rule.hits()).toBeGreaterThan(60);
    expect(rule.hits()).toBeLessThan(140);
  });
});

describe('the world as a whole', () => {
  it('survives a restart: rows, files, tasks and bills come back from its snapshot', async () => {
    const world = await openWorld({ latencies: slow });
    const id = world.sandbox.table.createRow('tblTryOn', { 产品说明: '留下' });
    const task = await createKie(world);
    const next = await openWorld({ latencies: slow });
    next.sandbox.restore(JSON.parse(JSON.stringify(world.sandbox.snapshot())));
    expect(next.sandbox.table.text('tblTryOn', id, '产品说明')).toBe('留下');
    await next.clock.advance(1_000);
    expect((await lookKie(next, task)).at('data.state')).toBe('success');
    expect(next.sandbox.books.billTotals()).toEqual({ kie: { 'credit:kie': 4_000_000 } });
    expect(() => {
      next.sandbox.restore({ version: 2 });
    }).toThrow();
  });

  it('is the same world again for the same seed', async () => {
    const run = async (): Promise<unknown> => {
      const world = await openWorld({ latencies: slow });
      await createKie(world);
      return world.sandbox.snapshot();
    };
    expect(await run()).toEqual(await run());
  });

  it('counts pushes, and refuses a bad token', async () => {
    const world = await openWorld();
    const send = (token: string): Promise<Answer> =>
      world.call('POST', '/pushplus/send', { token, title: '告警', content: '内容' });
    expect((await send('t')).at('code')).toBe(200);
    expect((await send('bad')).at('code')).toBe(903);
    expect(world.sandbox.books.pushes()).toHaveLength(1);
  });
});
