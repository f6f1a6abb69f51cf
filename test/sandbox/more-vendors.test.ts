import { describe, expect, it } from 'vitest';
import { noLatencies } from '../../src/sandbox/index.ts';
import { type Answer, openWorld, type TestWorld } from './world.ts';

const key = { authorization: 'Bearer k' };
const slow = { ...noLatencies, imageTaskMs: 1_000, videoTaskMs: 3_000 };

describe('Ark in the sandbox', () => {
  const root = '/ark/api/v3/contents/generations/tasks';
  const create = (world: TestWorld, id: string): Promise<Answer> =>
    world.call(
      'POST',
      root,
      { model: 'doubao', content: [{ type: 'text', text: 'a film' }], duration: 5, safety_identifier: id },
      key,
    );
  const get = (world: TestWorld, task: Answer): Promise<Answer> =>
    world.call('GET', `${root}/${String(task.at('id'))}`, undefined, key);

  it('shows a film in the list by safety_identifier, and bills its tokens at success', async () => {
    const world = await openWorld({ latencies: slow });
    const task = await create(world, 'mine-1');
    const list = await world.call('GET', `${root}?page_num=1&page_size=500&filter.model=doubao`, undefined, key);
    expect(list.json).toMatchObject({ total: 1, items: [{ id: task.at('id'), safety_identifier: 'mine-1' }] });
    expect((await get(world, task)).at('status')).toBe('queued');
    await world.clock.advance(3_000);
    const done = await get(world, task);
    expect(done.json).toMatchObject({ status: 'succeeded', usage: { completion_tokens: 108_000 } });
    expect(String(done.at('content.video_url'))).toContain('.mp4');
    expect(world.sandbox.books.billTotals()).toEqual({ ark: { videoTokens: 108_000_000_000 } });
  });

  it('cancels only what still waits', async () => {
    const world = await openWorld({ latencies: slow });
    const early = await create(world, 'a');
    const path = `${root}/${String(early.at('id'))}`;
    expect((await world.call('DELETE', path, undefined, key)).status).toBe(200);
    expect((await get(world, early)).at('status')).toBe('cancelled');
    const late = await create(world, 'b');
    await world.clock.advance(1_000);
    expect((await world.call('DELETE', `${root}/${String(late.at('id'))}`, undefined, key)).status).toBe(409);
  });

  it('gives pictures in the answer itself, or the reason why not', async () => {
    const world = await openWorld();
    const ask = (): Promise<Answer> =>
      world.call('POST', '/ark/api/v3/images/generations', { model: 'seedream', prompt: 'x', size: '768x1024' }, key);
    expect((await ask()).json).toMatchObject({ data: [{ size: '768x1024' }], usage: { generated_images: 1 } });
    const fate = { outcome: 'fail', failCode: 'OutputImageSensitiveContentDetected', failMessage: 'no' } as const;
    world.sandbox.faults.add({ endpoint: 'ark.images', action: { kind: 'fate', fate } });
    expect((await ask()).at('error.code')).toBe('OutputImageSensitiveContentDetected');
    expect(world.sandbox.books.billTotals()).toEqual({ ark: { images: 1_000_000 } });
  });
});

describe('DashScope in the sandbox', () => {
  const root = '/dashscope/api/v1';
  const create = (
    world: TestWorld,
    headers: Record<string, string> = { 'x-dashscope-async': 'enable' },
  ): Promise<Answer> =>
    world.call(
      'POST',
      `${root}/services/aigc/video-generation/video-synthesis`,
      { model: 'wan', input: { prompt: 'a film' }, parameters: { duration: 5 } },
      { ...key, ...headers },
    );
  const get = (world: TestWorld, id: unknown): Promise<Answer> =>
    world.call('GET', `${root}/tasks/${String(id)}`, undefined, key);

  it('insists on the async header, runs a task and counts its seconds', async () => {
    const world = await openWorld({ latencies: slow });
    expect((await create(world, {})).at('code')).toBe('AccessDenied');
    const task = await create(world);
    const id = task.at('output.task_id');
    expect((await get(world, id)).at('output.task_status')).toBe('PENDING');
    await world.clock.advance(1_500);
    expect((await get(world, id)).at('output.task_status')).toBe('RUNNING');
    await world.clock.advance(1_500);
    expect((await get(world, id)).json).toMatchObject({
      output: { task_status: 'SUCCEEDED', orig_prompt: 'a film' },
      usage: { video_duration: 5 },
    });
  });

  it('calls a stranger, and a record past its day, UNKNOWN with HTTP 200', async () => {
    const world = await openWorld({ latencies: slow });
    expect(await get(world, 'nobody')).toMatchObject({ status: 200, json: { output: { task_status: 'UNKNOWN' } } });
    const id = (await create(world)).at('output.task_id');
    await world.clock.advance(25 * 3_600_000);
    expect((await get(world, id)).at('output.task_status')).toBe('UNKNOWN');
  });

  it('lists tasks of a time window in the time of China, and cancels what is pending', async () => {
    const world = await openWorld({ latencies: slow });
    const id = (await create(world)).at('output.task_id');
    const stamp = (offsetMs: number): string =>
      new Date(world.clock.nowMs() + 8 * 3_600_000 + offsetMs).toISOString().replace(/[-:T]/g, '').slice(0, 14);
    const query = (fromMs: number, toMs: number): Promise<Answer> =>
      world.call(
        'GET',
        `${root}/tasks/?start_time=${stamp(fromMs)}&end_time=${stamp(toMs)}&model_name=wan`,
        undefined,
        key,
      );
    expect((await query(-60_000, 60_000)).list('data')).toMatchObject([{ task_id: id }]);
    expect((await query(-120_000, -60_000)).list('data')).toEqual([]);
    expect((await query(-90_000_000, 0)).at('code')).toBe('InvalidParameter');
    expect((await world.call('POST', `${root}/tasks/${String(id)}/cancel`, {}, key)).status).toBe(200);
    expect((await get(world, id)).at('output.task_status')).toBe('CANCELED');
  });
});
