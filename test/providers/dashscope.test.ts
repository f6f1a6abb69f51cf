import { describe, expect, it } from 'vitest';
import { fixture } from './fixtures.ts';
import { adapterOf, json, png, providerWith, type Reply, signal, prepared } from './provider-world.ts';

const film = { prompt: 'x', durationS: 5, audio: false };
/** The virtual clock's beginning. */
const atSubmit = 'Thu, 01 Jan 2026 00:00:00 GMT';
const handle = { taskId: 't1', media: 'video', seconds: 5 };

describe('dashscope', () => {
  const fields = { prompt: { name: 'input.prompt' }, firstFrame: { name: 'input.img_url' } };
  it('asks for an asynchronous call, pictures inline', async () => {
    const world = providerWith('dashscope', { account: { baseUrl: 'https://dashscope.example/compatible-mode/v1/' } });
    world.answer('/', json({ output: { task_id: 't1', task_status: 'PENDING' } }));
    const firstFrame = await world.keep(png(), 'a.png');
    const request = await prepared(
      world,
      'dashscope.video',
      { ...film, firstFrame },
      { fields, fixed: { parameters: { watermark: false } } },
    );
    expect(await adapterOf(world, 'dashscope.video').submit(request, signal)).toMatchObject({
      kind: 'accepted',
      handle: { taskId: 't1', acceptedAt: world.clock.nowMs() },
    });
    expect(world.calls[0]).toMatchObject({
      url: 'https://dashscope.example/api/v1/services/aigc/video-generation/video-synthesis',
      headers: { 'x-dashscope-async': 'enable' },
      json: {
        model: 'maker/test-model',
        parameters: { watermark: false },
        input: { prompt: 'x', img_url: expect.stringMatching(/^data:image\/png;base64,/) as unknown },
      },
    });
  });

  const unknown = json({ output: { task_id: 't1', task_status: 'UNKNOWN' } });
  it.each([
    [
      json(fixture('dashscope-succeeded.json').replace('966cebcd-dedc', 't1')),
      {},
      { kind: 'succeeded', output: { videos: [{}] }, cost: { usage: { seconds: 5 } } },
    ],
    [json({ output: { task_status: 'PENDING' } }), {}, { kind: 'running' }],
    [
      json({
        output: {
          task_status: 'FAILED',
          code: 'DataInspectionFailed',
          message: 'Output data may contain inappropriate content.',
        },
      }),
      {},
      { kind: 'failed', failure: { kind: 'output-moderated' } },
    ],
    [
      json({ output: { task_status: 'FAILED', code: 'InvalidParameter', message: 'x' } }),
      {},
      { kind: 'failed', failure: { kind: 'invalid-input' } },
    ],
    [unknown, { acceptedAt: 1_767_225_600_000 }, { kind: 'not-visible' }],
    [unknown, { acceptedAt: 1_767_225_600_000 - 86_400_000 }, { kind: 'expired' }],
    [
      json({ code: 'Throttling.RateQuota', message: 'x', request_id: 'r' }, 429),
      {},
      { kind: 'check-failed', failure: { kind: 'rate-limit', evidence: { requestId: 'r' } } },
    ],
  ])('P069 reads a status check', async (reply, more, expected) => {
    const world = providerWith('dashscope');
    world.answer('/', reply);
    expect(await adapterOf(world, 'dashscope.video').poll!({ ...handle, ...more }, signal)).toMatchObject(expected);
  });

  it('P072 keeps the good parts of a task, and the reason where there is none', async () => {
    const poll = async (results: readonly object[]): Promise<unknown> => {
      const world = providerWith('dashscope');
      world.answer('/', json({ output: { task_status: 'SUCCEEDED', results } }));
      return await adapterOf(world, 'dashscope.image').poll!({ taskId: 't', media: 'image' }, signal);
    };
    const refused = { code: 'DataInspectionFailed', message: 'x' };
    expect(await poll([{ url: 'https://a.example/1.png' }, refused])).toMatchObject({
      kind: 'succeeded',
      output: { images: [{}] },
    });
    expect(await poll([refused])).toMatchObject({ kind: 'failed', failure: { kind: 'content-policy' } });
  });

  const list = (ids: readonly string[], headers: Record<string, string> = { date: atSubmit }) =>
    json({ data: ids.map((task_id) => ({ task_id })), total: ids.length }, 200, headers);
  const shows = (prompt: string) => json({ output: { orig_prompt: prompt } });
  it.each([
    ['no task of this model then', [list([])], { kind: 'not-found' }],
    ['one that shows our prompt', [list(['a']), shows('x')], { kind: 'found', handle: { taskId: 'a' } }],
    ['one that shows another prompt', [list(['a']), shows('y')], { kind: 'not-found' }],
    [
      'one that is answered with another task’s record',
      [list(['a']), json({ output: { task_id: 'b', orig_prompt: 'x' } })],
      { kind: 'check-failed' },
    ],
    ['one that shows none yet', [list(['a']), json({ output: { task_status: 'RUNNING' } })], { kind: 'check-failed' }],
    ['two that show our prompt', [list(['a', 'b']), shows('x')], { kind: 'check-failed' }],
    ['more than are looked at', [list(Array.from({ length: 26 }, (_, at) => `t${at}`))], { kind: 'check-failed' }],
    ['no list', [json('<html></html>', 502)], { kind: 'check-failed' }],
    ['none, in a list that tells no time', [list([], {})], { kind: 'check-failed' }],
    ['none, in a list whose time is no time', [list([], { date: 'soon' })], { kind: 'check-failed' }],
    ['one that shows our prompt, without a time', [list(['a'], {}), shows('x')], { kind: 'found' }],
    ['none, with clocks 10 s apart', [list([], { date: 'Wed, 31 Dec 2025 23:59:50 GMT' })], { kind: 'not-found' }],
  ] as const)('finds: %s', async (_what, replies, expected) => {
    const world = providerWith('dashscope');
    world.answer('/api/v1/tasks/', ...(replies as readonly (() => Reply)[]));
    const request = await prepared(world, 'dashscope.video', film, { fields });
    expect(await adapterOf(world, 'dashscope.video').find!(request, signal)).toMatchObject(expected);
    expect(world.calls[0]?.url).toContain(
      'start_time=20260101075000&end_time=20260101080030&model_name=maker%2Ftest-model',
    );
  });

  it('asks again by the vendor’s clock where ours differs, and believes no empty list then', async () => {
    const find = async (...replies: (() => Reply)[]) => {
      const world = providerWith('dashscope');
      world.answer('/api/v1/tasks/', ...replies);
      const request = await prepared(world, 'dashscope.video', film, { fields });
      return { world, found: await adapterOf(world, 'dashscope.video').find!(request, signal) };
    };
    const behind = { date: 'Wed, 31 Dec 2025 23:30:00 GMT' };
    const lost = await find(list([], behind), list(['a'], behind), shows('x'));
    expect(lost.found).toMatchObject({ kind: 'found', handle: { taskId: 'a' } });
    expect(lost.world.calls[1]?.url).toContain('start_time=20260101072000&end_time=20260101073030');
    const nothing = await find(list([], behind), list([], behind));
    expect(nothing.found).toMatchObject({ kind: 'check-failed', failure: { code: 'find.uncertain' } });
  });

  it('looks further back, and believes no empty list, when our clock was set back since the submit', async () => {
    const world = providerWith('dashscope');
    world.answer('/api/v1/tasks/', list([]));
    const request = await prepared(world, 'dashscope.video', film, { fields });
    const early = { ...request, body: { ...request.body, preparedAt: world.clock.nowMs() + 1_200_000 } };
    expect(await adapterOf(world, 'dashscope.video').find!(early, signal)).toMatchObject({ kind: 'check-failed' });
    expect(world.calls[0]?.url).toContain('start_time=20260101075000&end_time=20260101080030');
  });

  it('likens two calls that differ in their pictures only, since their tasks show the same', async () => {
    const world = providerWith('dashscope');
    const likeness = async (prompt: string, fill: number): Promise<string | undefined> => {
      const firstFrame = await world.keep(png(fill), 'a.png');
      return (await prepared(world, 'dashscope.video', { ...film, prompt, firstFrame }, { fields })).likeness;
    };
    expect(await likeness('x', 1)).toMatch(/^[0-9a-f]{64}$/);
    expect(await likeness('x', 2)).toBe(await likeness('x', 1));
    expect(await likeness('y', 1)).not.toBe(await likeness('x', 1));
  });

  it.each([
    [json({ request_id: 'r' }), 'canceled'],
    [json({ code: 'UnsupportedOperation', message: 'x' }, 400), 'not-cancelable'],
    [json('', 500), 'check-failed'],
  ])('cancels what still waits', async (reply, kind) => {
    const world = providerWith('dashscope');
    world.answer('/t1/cancel', reply);
    expect(await adapterOf(world, 'dashscope.video').cancel!(handle, signal)).toMatchObject({ kind });
  });

  it('speaks chat at its compatible address', async () => {
    const world = providerWith('dashscope');
    world.answer('/', json({ choices: [{ message: { content: 'x' }, finish_reason: 'stop' }] }));
    await adapterOf(world, 'openai-chat').submit(await prepared(world, 'openai-chat', { prompt: 'x' }), signal);
    expect(world.calls[0]?.url).toBe('https://dashscope.example/compatible-mode/v1/chat/completions');
  });
});
