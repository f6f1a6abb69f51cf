import { describe, expect, it } from 'vitest';
import { adler32 } from '../../src/feishu/adler32.ts';
import { cleanFileName, type UploadSessions } from '../../src/feishu/index.ts';
import type { JsonObject } from '../../src/kernel/index.ts';
import {
  type Bench,
  createBench,
  done,
  formOf,
  type Handler,
  refusal,
  type SeenRequest,
  sha,
  sourceOf,
  testSettings,
} from './support/fake-platform.ts';

const mib = 1024 * 1024;
const blockBytes = 4 * mib;
const api =
  (handler: Handler): Handler =>
  (request: SeenRequest) =>
    request.path.endsWith('/internal') ? undefined : handler(request);

/** A drive that takes files and remembers what arrived. */
function drive(before: (request: SeenRequest, count: number) => Response | undefined = () => undefined) {
  let count = 0;
  const parts = new Map<number, Uint8Array>();
  const files: { fields: Record<string, string>; name: string; bytes: Uint8Array }[] = [];
  const handler: Handler = api(async (request) => {
    count += 1;
    const refused = before(request, count);
    if (refused !== undefined) return refused;
    if (request.path.endsWith('upload_prepare')) {
      return done({
        upload_id: `up-${count}`,
        block_size: blockBytes,
        block_num: Math.ceil(request.json.size / blockBytes),
      });
    }
    if (request.path.endsWith('upload_finish')) return done({ file_token: 'boxFinished' });
    const { fields, file } = await formOf(request);
    const bytes = new Uint8Array(await file.arrayBuffer());
    if (Number(fields['size']) !== bytes.length) return refusal(1062009, 400);
    if (Number(fields['checksum']) !== adler32(bytes)) return refusal(1062008, 400);
    if (request.path.endsWith('upload_part')) {
      parts.set(Number(fields['seq']), bytes);
      return done({});
    }
    files.push({ fields, name: file.name, bytes });
    return done({ file_token: 'boxWhole' });
  });
  return { handler, files, parts, whole: () => Buffer.concat([...parts].sort(([a], [b]) => a - b).map(([, b]) => b)) };
}

const upload = (bench: Bench, source: ReturnType<typeof sourceOf>) =>
  bench.run(bench.client.uploadMedia('bascnBase', source));

describe('an upload', () => {
  it('P031 up to 20 MiB goes in one piece, with the base itself as parent, size and checksum', async () => {
    const { handler, files } = drive();
    const bench = createBench(handler);
    const source = sourceOf('上身图.png', 20 * mib);
    expect(await upload(bench, source)).toEqual({ ok: true, value: 'boxWhole' });
    expect(files[0]?.fields).toMatchObject({
      file_name: '上身图.png',
      parent_type: 'bitable_file',
      parent_node: 'bascnBase',
      size: String(20 * mib),
    });
    expect(files[0]?.name).toBe('上身图.png');
    expect(sha(files[0]!.bytes)).toBe(sha(source.all));
    expect(bench.to('upload_prepare')).toHaveLength(0);
  });

  it('above 20 MiB goes in parts of 4 MiB, numbered from 0, and is finished', async () => {
    const { handler, whole, parts } = drive();
    const bench = createBench(handler);
    const source = sourceOf('视频.mp4', 20 * mib + 1);
    expect(await upload(bench, source)).toEqual({ ok: true, value: 'boxFinished' });
    expect([...parts.keys()]).toEqual([0, 1, 2, 3, 4, 5]);
    expect(sha(whole())).toBe(sha(source.all));
    expect(bench.to('upload_finish')[0]?.json).toEqual({ upload_id: 'up-1', block_num: 6 });
  });

  it('is refused when the file is empty, without a call', async () => {
    const bench = createBench(drive().handler);
    expect(await upload(bench, sourceOf('空.png', 0))).toMatchObject({ ok: false, failure: { class: 'invalid' } });
    expect(bench.seen).toHaveLength(0);
  });

  it('P066 sends its bytes again in full when the first answer was a refused token', async () => {
    const { handler, files } = drive((_request, count) => (count === 1 ? refusal(99991663, 400) : undefined));
    const bench = createBench(handler);
    const source = sourceOf('a.png', 300_000);
    expect((await upload(bench, source)).ok).toBe(true);
    expect(sha(files[0]!.bytes)).toBe(sha(source.all));
    const sizes = bench.to('upload_all').map((request) => request.bytes.length);
    expect(sizes).toHaveLength(2);
    expect(sizes[1]).toBe(sizes[0]);
  });

  it('never runs beside another one', async () => {
    let under = 0;
    let most = 0;
    const { handler } = drive();
    const slow: Handler = async (request) => {
      under += 1;
      most = Math.max(most, request.path.endsWith('/internal') ? 0 : under);
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
      const answer = await handler(request);
      under -= 1;
      return answer ?? new Response('{"code":0,"tenant_access_token":"t-only-token","expire":7200}');
    };
    const bench = createBench(slow);
    await bench.run(
      Promise.all(['a', 'b', 'c'].map((name) => bench.client.uploadMedia('bascnBase', sourceOf(name, 9_000)))),
    );
    expect(most).toBe(1);
    expect(bench.to('upload_all')).toHaveLength(3);
  });

  it('whose caller gives up while waiting does not let the next one overtake', async () => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { handler } = drive();
    let count = 0;
    const bench = createBench((request) => {
      if (request.path.endsWith('upload_all') && count++ === 0)
        return gate.then(() => done({ file_token: 'boxFirst' }));
      return handler(request);
    });
    const first = bench.client.uploadMedia('bascnBase', sourceOf('1', 10));
    const controller = new AbortController();
    const second = bench.client.uploadMedia('bascnBase', sourceOf('2', 10), controller.signal);
    const third = bench.client.uploadMedia('bascnBase', sourceOf('3', 10));
    await bench.clock.advance(10);
    controller.abort();
    expect((await bench.run(second)).ok).toBe(false);
    expect(bench.to('upload_all')).toHaveLength(1);
    release();
    expect(await bench.run(Promise.all([first, third]))).toMatchObject([{ ok: true }, { ok: true }]);
  });

  it('sends at most five parts within any second, and is not slower than that', async () => {
    const { handler } = drive();
    const bench = createBench(handler);
    await upload(bench, sourceOf('v.mp4', 48 * mib));
    const times = bench.to('upload_part').map((request) => request.atMs);
    expect(times).toHaveLength(12);
    times.slice(5).forEach((at, index) => {
      expect(at - (times[index] ?? 0)).toBeGreaterThanOrEqual(1_000);
    });
    expect(bench.clock.monotonicMs()).toBe(2_000);
  });

  it('is not held back at all where the limit is switched off', async () => {
    const bench = createBench(drive().handler, { settings: testSettings(0) });
    await upload(bench, sourceOf('v.mp4', 48 * mib));
    expect(bench.clock.monotonicMs()).toBe(0);
  });

  it('waits and goes on when the platform says 1061045 under HTTP 200', async () => {
    const { handler, whole } = drive((request, count) =>
      request.path.endsWith('upload_part') && count % 3 === 0 ? refusal(1061045) : undefined,
    );
    const bench = createBench(handler);
    const source = sourceOf('v.mp4', 24 * mib + 5);
    expect((await upload(bench, source)).ok).toBe(true);
    expect(sha(whole())).toBe(sha(source.all));
  });

  it('P036 takes up 1061001 three times; for ever it ends as a failure with the log id', async () => {
    const { handler } = drive((_request, count) => (count <= 3 ? refusal(1061001) : undefined));
    const bench = createBench(handler);
    expect((await upload(bench, sourceOf('a.png', 10))).ok).toBe(true);
    const dead = createBench(api(() => refusal(1061001)));
    const answer = await upload(dead, sourceOf('a.png', 10));
    expect(answer).toMatchObject({ ok: false, failure: { code: 1061001, class: 'retry', logId: 'log-1' } });
    expect(dead.to('upload_all')).toHaveLength(4);
  });

  it('reads the code of a refused part (the SDK would lose it)', async () => {
    const bench = createBench(
      drive((request) => (request.path.endsWith('upload_part') ? refusal(1061101, 400) : undefined)).handler,
    );
    const answer = await upload(bench, sourceOf('v.mp4', 21 * mib));
    expect(answer).toMatchObject({ ok: false, failure: { code: 1061101 } });
  });

  it('of a file that has become shorter is a failure, not a short file', async () => {
    const bench = createBench(drive().handler);
    const source = { ...sourceOf('a.png', 1_000), sizeBytes: 2_000 };
    expect((await bench.run(bench.client.uploadMedia('bascnBase', source))).ok).toBe(false);
    expect(bench.to('upload_all')).toHaveLength(0);
  });
});

describe('an upload in parts that was broken off', () => {
  function memorySessions(): UploadSessions & { stored: Map<string, JsonObject> } {
    const stored = new Map<string, JsonObject>();
    return {
      stored,
      load: (key) => Promise.resolve(stored.get(key)),
      save: (key, value) => Promise.resolve(void stored.set(key, value)),
      remove: (key) => Promise.resolve(void stored.delete(key)),
    };
  }

  async function broken(sessions: UploadSessions) {
    const space = drive((request) =>
      request.path.endsWith('upload_part') && space.parts.size === 4 ? refusal(1061101, 400) : undefined,
    );
    const bench = createBench(space.handler, { uploadSessions: sessions });
    await upload(bench, sourceOf('v.mp4', 52 * mib, { resumeKey: 'sha-1' }));
    expect(space.parts.size).toBe(4);
    return space;
  }

  it('P034 goes on after five minutes where it ended, and leaves no session behind', async () => {
    const sessions = memorySessions();
    const before = await broken(sessions);
    const bench = createBench(
      api(async (request) => {
        if (request.path.endsWith('upload_finish')) return done({ file_token: 'boxResumed' });
        const { fields, file } = await formOf(request);
        before.parts.set(Number(fields['seq']), new Uint8Array(await file.arrayBuffer()));
        return done({});
      }),
      { uploadSessions: sessions },
    );
    await bench.clock.advance(300_000);
    const source = sourceOf('v.mp4', 52 * mib, { resumeKey: 'sha-1' });
    expect(await upload(bench, source)).toEqual({ ok: true, value: 'boxResumed' });
    expect(bench.to('upload_prepare')).toHaveLength(0);
    expect(bench.to('upload_part')).toHaveLength(9);
    expect(sha(before.whole())).toBe(sha(source.all));
    expect(sessions.stored.size).toBe(0);
  });

  it('P034 begins anew after 25 hours', async () => {
    const sessions = memorySessions();
    await broken(sessions);
    const { handler, parts } = drive();
    const bench = createBench(handler, { uploadSessions: sessions });
    await bench.clock.advance(25 * 3_600_000);
    expect((await upload(bench, sourceOf('v.mp4', 52 * mib, { resumeKey: 'sha-1' }))).ok).toBe(true);
    expect([bench.to('upload_prepare').length, parts.size]).toEqual([1, 13]);
  });

  it('P034 begins anew, once, when the platform has forgotten the session', async () => {
    const sessions = memorySessions();
    await broken(sessions);
    const { handler } = drive((_request, count) => (count === 1 ? refusal(1061021, 400) : undefined));
    const bench = createBench(handler, { uploadSessions: sessions });
    expect((await upload(bench, sourceOf('v.mp4', 52 * mib, { resumeKey: 'sha-1' }))).ok).toBe(true);
    expect(bench.to('upload_prepare')).toHaveLength(1);
    const gone = createBench(
      drive((request) => (request.path.endsWith('upload_part') ? refusal(1061021, 400) : undefined)).handler,
    );
    expect((await upload(gone, sourceOf('v.mp4', 52 * mib))).ok).toBe(false);
    expect(gone.to('upload_prepare')).toHaveLength(2);
  });
});

describe('a file name', () => {
  it('P037 keeps Chinese and emoji as they are, and loses only what could break a header', () => {
    expect(cleanFileName('测试——第1集（2026-03-02）"终版"\n.mp4')).toBe('测试——第1集（2026-03-02）_终版__.mp4');
    expect(cleanFileName('🎬片头.mp4')).toBe('🎬片头.mp4');
    expect(cleanFileName('a\\b.mp4')).toBe('a_b.mp4');
    expect(cleanFileName('')).toBe('file');
  });

  it('P037 arrives in UTF-8, and no name can add a header', async () => {
    const { handler, files } = drive();
    const bench = createBench(handler);
    await upload(bench, sourceOf('🎬"\r\nX-Evil: 1\r\n.mp4', 10));
    expect(files[0]?.name).toBe('🎬___X-Evil: 1__.mp4');
  });

  it('P039 is cut between graphemes to 250 characters, keeps its extension and stays apart from its like', () => {
    const family = '👨‍👩‍👧‍👦';
    const long = `${'字'.repeat(300)}${family}.mp4`;
    const cut = cleanFileName(long);
    expect(cut.length).toBeLessThanOrEqual(250);
    expect(cut).toMatch(/^字+~[0-9a-f]{8}\.mp4$/);
    expect(cleanFileName(`${'字'.repeat(300)}2.mp4`)).not.toBe(cut);
    const atEdge = cleanFileName(`${'字'.repeat(233)}${family.repeat(10)}.mp4`);
    expect(atEdge.length).toBeLessThanOrEqual(250);
    expect(atEdge).toMatch(/^字{233}~[0-9a-f]{8}\.mp4$/);
  });
});

describe('adler32', () => {
  it('gives the published sums', () => {
    expect(adler32(new TextEncoder().encode('Wikipedia'))).toBe(0x11e60398);
    expect(adler32(new Uint8Array())).toBe(1);
    expect(adler32(new Uint8Array(1_000_000).fill(255))).toBe(naive(new Uint8Array(1_000_000).fill(255)));
  });

  function naive(bytes: Uint8Array): number {
    let low = 1;
    let high = 0;
    for (const byte of bytes) {
      low = (low + byte) % 65_521;
      high = (high + low) % 65_521;
    }
    return high * 65_536 + low;
  }
});
