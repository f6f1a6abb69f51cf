import { describe, expect, it } from 'vitest';
import { api, drive, mib, upload } from './support/drive.ts';
import { createBench, done, type Handler, refusal, sha, sourceOf, testSettings } from './support/fake-platform.ts';

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

  it('reads the next part while one is under way, straight into the form where the source can', async () => {
    const opened: number[] = [];
    const seen: number[] = [];
    const { handler, whole } = drive((request) => {
      if (request.path.endsWith('upload_part')) seen.push(opened.length);
      return undefined;
    });
    const source = sourceOf('v.mp4', 24 * mib + 5);
    const open = async function* (offset: number, length: number, memory?: Uint8Array): AsyncIterable<Uint8Array> {
      await Promise.resolve();
      opened.push(offset);
      memory?.set(source.all.subarray(offset, offset + length));
      if (memory !== undefined)
        for (const at of [0, length - 3]) yield memory.subarray(at, at === 0 ? length - 3 : length);
    };
    const bench = createBench(handler);
    expect((await bench.run(bench.client.uploadMedia('bascnBase', { ...source, open }))).ok).toBe(true);
    expect(sha(whole())).toBe(sha(source.all));
    expect(opened).toEqual([0, 1, 2, 3, 4, 5, 6].map((part) => part * 4 * mib));
    expect(seen).toEqual([2, 3, 4, 5, 6, 7, 7]);
  });

  it('of a file that becomes shorter on the way ends in a failure, with nothing left to fail unseen', async () => {
    const bench = createBench(drive().handler);
    const source = sourceOf('v.mp4', 24 * mib);
    const open = (offset: number, length: number) => source.open(offset, offset === 0 ? length : length - 1);
    const answer = await bench.run(bench.client.uploadMedia('bascnBase', { ...source, open }));
    expect(answer).toMatchObject({ ok: false, failure: { class: 'retry' } });
    expect(bench.to('upload_part')).toHaveLength(1);
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
