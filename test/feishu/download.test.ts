import { describe, expect, it } from 'vitest';
import type { FeishuResult } from '../../src/feishu/index.ts';
import { TransportError } from '../../src/kernel/index.ts';
import { createBench, type Handler, json, refusal, runVirtually, type SeenRequest } from './support/fake-platform.ts';

const api =
  (handler: Handler): Handler =>
  (request: SeenRequest) =>
    request.path.endsWith('/internal') ? undefined : handler(request);
const file = (body: BodyInit, headers: Record<string, string> = {}): Response =>
  new Response(body, { headers: { 'content-type': 'image/png', ...headers } });

async function read(answer: FeishuResult<AsyncIterable<Uint8Array>>): Promise<string> {
  if (!answer.ok) throw new Error(answer.failure.message);
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.value) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

describe('a download', () => {
  it('gives the bytes as they come', async () => {
    const bench = createBench(api(() => file('picture', { 'content-length': '7' })));
    const answer = await bench.run(bench.client.downloadMedia({ fileToken: 'box1' }));
    expect(await bench.run(read(answer))).toBe('picture');
    expect(bench.seen.at(-1)?.query.has('extra')).toBe(false);
  });

  it('P021 names the cell that holds the file where advanced permissions are on', async () => {
    const bench = createBench(api(({ query }) => (query.has('extra') ? file('picture') : refusal(1061004, 403))));
    const permission = { tableId: 'tblX', fieldId: 'fldX', recordId: 'recX' };
    const answer = await bench.run(bench.client.downloadMedia({ fileToken: 'box1', permission }));
    expect(await bench.run(read(answer))).toBe('picture');
    expect(JSON.parse(bench.seen.at(-1)?.query.get('extra') ?? '')).toEqual({
      bitablePerm: { tableId: 'tblX', attachments: { fldX: { recX: ['box1'] } } },
    });
    const without = await bench.run(bench.client.downloadMedia({ fileToken: 'box1' }));
    expect(without).toMatchObject({ ok: false, failure: { class: 'permission' } });
  });

  it('is a failure when an error comes as JSON under HTTP 200, never a file', async () => {
    const bench = createBench(api(() => json({ code: 1061003, msg: 'not found' })));
    const answer = await bench.run(bench.client.downloadMedia({ fileToken: 'box1' }));
    expect(answer).toMatchObject({ ok: false, failure: { code: 1061003, class: 'gone' } });
  });

  it('of a JSON file that staff attached is that file', async () => {
    for (const body of ['{"code":"red","msg":1}', '{"plugins":[]}', `["${'x'.repeat(200_000)}"]`, 'not json at all']) {
      const bench = createBench(api(() => file(body, { 'content-type': 'application/json' })));
      const answer = await bench.run(bench.client.downloadMedia({ fileToken: 'box1' }));
      expect(await bench.run(read(answer))).toBe(body);
    }
  });

  it('gets a fresh token when the old one is refused under HTTP 200', async () => {
    const bench = createBench(
      api(({ headers }) =>
        headers.get('authorization') === 'Bearer t-token-number-1' ? refusal(99991663) : file('picture'),
      ),
    );
    expect(await bench.run(read(await bench.run(bench.client.downloadMedia({ fileToken: 'box1' }))))).toBe('picture');
  });

  it('P104 that ends short throws, and the bytes do not pass for the file', async () => {
    const bench = createBench(api(() => file('pic', { 'content-length': '7' })));
    const answer = await bench.run(bench.client.downloadMedia({ fileToken: 'box1' }));
    await expect(bench.run(read(answer))).rejects.toMatchObject({ code: 'ETRUNCATED' });
  });

  it('P104 that breaks half-way throws a transport error', async () => {
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        controller.error(new Error('terminated'));
      },
    });
    const bench = createBench(api(() => file(body)));
    const answer = await bench.run(bench.client.downloadMedia({ fileToken: 'box1' }));
    const failure: unknown = await bench.run(read(answer)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(TransportError);
    expect(failure).toMatchObject({ code: 'EBROKEN', message: 'terminated' });
  });

  it('that stalls ends when no byte has come for the idle time, and lets the connection go', async () => {
    let isCanceled = false;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(new TextEncoder().encode('pic'));
      },
      cancel: () => {
        isCanceled = true;
      },
    });
    const bench = createBench(api(() => file(body)));
    const answer = await bench.run(bench.client.downloadMedia({ fileToken: 'box1' }));
    await expect(runVirtually(bench.clock, read(answer))).rejects.toMatchObject({ code: 'EIDLE' });
    expect(bench.clock.monotonicMs()).toBe(60_000);
    expect(isCanceled).toBe(true);
  });
});
