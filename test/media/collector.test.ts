import { describe, expect, it } from 'vitest';
import type { RemoteMedia } from '../../src/contract/index.ts';
import {
  createVirtualClock,
  type Fetch,
  type FetchInit,
  silentLogger,
  TransportError,
} from '../../src/kernel/index.ts';
import { createCollector, createMemorySpool } from '../../src/media/index.ts';
import { drive } from '../providers/drive.ts';

const settings = { attempts: 3, delayMs: 3_000, idleMs: 60_000, connectMs: 15_000, maxBytes: 10_000_000 };
const film = Buffer.concat([Buffer.from('\0\0\0\x18ftypisom\0\0\0\0isommp42', 'latin1'), Buffer.alloc(100_000, 7)]);
const remote: RemoteMedia = {
  kind: 'remote',
  url: 'https://files.example/f/9b1c2?Signature=a%2Bb%2Fc%3D%3D',
  media: 'video',
};

type Answer = (() => Response) | TransportError | ((init: FetchInit) => Promise<Response>);

interface World {
  readonly calls: { readonly url: string; readonly init: FetchInit }[];
  readonly run: (options?: {
    remote?: RemoteMedia;
    freshLink?: () => Promise<string | undefined>;
    name?: string;
  }) => ReturnType<ReturnType<typeof createCollector>['collect']>;
  readonly spool: ReturnType<typeof createMemorySpool>;
}

/** A file host that gives these answers in turn, the last one for ever. */
function world(...answers: Answer[]): World {
  const clock = createVirtualClock();
  const calls: { url: string; init: FetchInit }[] = [];
  const fetch: Fetch = async (url, init) => {
    const answer = answers[Math.min(calls.length, answers.length - 1)]!;
    calls.push({ url, init });
    if (answer instanceof TransportError) throw answer;
    return await answer(init);
  };
  const spool = createMemorySpool();
  return {
    calls,
    spool,
    run: async (options = {}) => {
      const { freshLink } = options;
      const collector = createCollector({
        fetch,
        spool,
        clock,
        logger: silentLogger,
        settings,
        ...(freshLink === undefined ? {} : { freshLink }),
      });
      const done = collector.collect(options.remote ?? remote, options.name ?? '片子', new AbortController().signal);
      return await drive(clock, done);
    },
  };
}

const page = (body: string, type: string) => (): Response => new Response(body, { headers: { 'content-type': type } });

/** A body that gives `bytes`, then breaks off. */
function broken(bytes: Uint8Array, headers: Record<string, string> = {}): () => Response {
  let isGiven = false;
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        if (isGiven) controller.error(new TransportError('maybe-sent', 'UND_ERR_SOCKET', 'other side closed'));
        else controller.enqueue(bytes);
        isGiven = true;
      },
    },
    { highWaterMark: 0 },
  );
  return () => new Response(body, { headers: { 'content-length': String(film.byteLength), ...headers } });
}

describe('collecting a result', () => {
  it('keeps the bytes under their hash with a name whose extension comes from the bytes (P177)', async () => {
    const { run } = world(() => new Response(film));
    expect(await run()).toMatchObject({
      ok: true,
      value: { mime: 'video/mp4', name: '片子.mp4', sizeBytes: film.byteLength },
    });
  });

  it('P101 sends the signed query byte for byte, by GET only, and no credentials', async () => {
    const { run, calls } = world(() => new Response(film));
    await run();
    expect(calls.map((call) => [call.init.method, call.url])).toEqual([['GET', remote.url]]);
    expect(calls[0]?.init.headers).toEqual({});
  });

  it('P101 follows a redirect to another host by hand, as a checked download again', async () => {
    const there = 'https://cdn.example/x?s=a%2Fb';
    const { run, calls } = world(
      () => new Response(null, { status: 302, headers: { location: there } }),
      () => new Response(film),
    );
    expect(await run()).toMatchObject({ ok: true });
    expect(calls[1]).toMatchObject({ url: there, init: { purpose: 'download' } });
  });

  it.each([
    ['an HTML page of 909 bytes', page(`<!DOCTYPE html><html>${'x'.repeat(885)}</html>`, 'text/html')],
    ['a JSON error', page('{"code":500,"msg":"error"}', 'application/json')],
    ['HTML under the right type header', page('<html><body>expired</body></html>', 'video/mp4')],
    ['nothing at all', () => new Response('')],
  ])('P102 does not take %s for a film: retried, then a transfer failure', async (_what, answer) => {
    const { run, calls, spool } = world(answer);
    expect(await run()).toMatchObject({ ok: false, failure: { kind: 'transfer' } });
    expect(calls).toHaveLength(3);
    expect(await spool.sizeBytes()).toBe(0);
  });

  it('P102 takes the film that comes after the page', async () => {
    const { run } = world(page('<html></html>', 'text/html'), () => new Response(film));
    expect(await run()).toMatchObject({ ok: true });
  });

  it('P104 tries again when the connection drops at 60 %', async () => {
    const { run, calls } = world(broken(film.subarray(0, 60_000)), () => new Response(film));
    expect(await run()).toMatchObject({ ok: true });
    expect(calls).toHaveLength(2);
  });

  it('P104 asks for the rest only where the host offers ranges and the file is surely the same', async () => {
    const rest = (): Response =>
      new Response(film.subarray(60_000), {
        status: 206,
        headers: { 'content-range': `bytes 60000-${film.byteLength - 1}/${film.byteLength}` },
      });
    const { run, calls } = world(broken(film.subarray(0, 60_000), { 'accept-ranges': 'bytes', etag: '"v1"' }), rest);
    const got = await run();
    expect(got).toMatchObject({ ok: true, value: { sizeBytes: film.byteLength } });
    expect(calls[1]?.init.headers).toEqual({ range: 'bytes=60000-', 'if-range': '"v1"' });
  });

  it('P104 starts afresh when the file changed in between (the host answers 200 to the range)', async () => {
    const { run, calls } = world(
      broken(film.subarray(0, 60_000), { 'accept-ranges': 'bytes', etag: '"v1"' }),
      () => new Response(film),
    );
    expect(await run()).toMatchObject({ ok: true, value: { sizeBytes: film.byteLength } });
    expect(calls).toHaveLength(3);
  });

  it('ends a try in which no byte comes for the idle limit', async () => {
    const silent = (): Promise<Response> =>
      Promise.resolve(new Response(new ReadableStream<Uint8Array>({ pull: () => new Promise(() => undefined) })));
    const { run, calls } = world(silent, () => new Response(film));
    expect(await run()).toMatchObject({ ok: true });
    expect(calls).toHaveLength(2);
  });

  it('ends a try whose headers never come, and aborts that request', async () => {
    const { run, calls } = world(
      () => new Promise<Response>(() => undefined),
      () => new Response(film),
    );
    expect(await run()).toMatchObject({ ok: true });
    expect(calls[0]?.init.signal?.aborted).toBe(true);
  });

  it.each([403, 404, 410])('calls a link that answers %i expired when it may have run out', async (status) => {
    const { run } = world(() => new Response(null, { status }));
    expect(await run()).toMatchObject({ ok: false, failure: { kind: 'expired', httpStatus: status } });
  });

  it('calls a 403 a transfer failure while the link must still be good: nobody buys again what lies ready', async () => {
    const { run } = world(() => new Response(null, { status: 403 }));
    const got = await run({ remote: { ...remote, expiresAt: Number.MAX_SAFE_INTEGER } });
    expect(got).toMatchObject({ ok: false, failure: { kind: 'transfer' } });
  });

  it('P099 asks for a fresh link right when the old one is refused, and uses it', async () => {
    const { run, calls } = world(
      () => new Response(null, { status: 403 }),
      () => new Response(film),
    );
    expect(await run({ freshLink: () => Promise.resolve('https://tmp.example/new') })).toMatchObject({ ok: true });
    expect(calls[1]?.url).toBe('https://tmp.example/new');
  });

  it('P099 falls back to the direct address when there is no fresh one', async () => {
    const { run, calls } = world(
      () => new Response(null, { status: 404 }),
      () => new Response(film),
    );
    expect(await run({ freshLink: () => Promise.resolve(undefined) })).toMatchObject({ ok: true });
    expect(calls[1]?.url).toBe(remote.url);
  });

  it('does not try again what cannot change: a blocked address, a file over the limit', async () => {
    const blocked = world(new TransportError('not-sent', 'BLOCKED_ADDRESS', 'not public'));
    expect(await blocked.run()).toMatchObject({ ok: false, failure: { kind: 'transfer', code: 'BLOCKED_ADDRESS' } });
    expect(blocked.calls).toHaveLength(1);
    const large = world(() => new Response(film, { headers: { 'content-length': '99999999' } }));
    expect(await large.run()).toMatchObject({ ok: false, failure: { code: 'content.too-large' } });
    expect(large.calls).toHaveLength(1);
  });

  it('P116 waits as long as a busy host asks', async () => {
    const { run, calls } = world(
      () => new Response(null, { status: 503, headers: { 'retry-after': '20' } }),
      () => new Response(film),
    );
    expect(await run()).toMatchObject({ ok: true });
    expect(calls).toHaveLength(2);
  });

  it('stops at once when told to, with the reason it was given', async () => {
    const clock = createVirtualClock();
    const collector = createCollector({
      fetch: () => new Promise(() => undefined),
      spool: createMemorySpool(),
      clock,
      logger: silentLogger,
      settings,
    });
    const stop = new AbortController();
    const done = collector.collect(remote, 'x', stop.signal);
    stop.abort(new Error('stopping'));
    await expect(done).rejects.toThrow('stopping');
  });
});
