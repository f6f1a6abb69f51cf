import { describe, expect, it } from 'vitest';
import { TransportError } from '../../src/kernel/index.ts';
import { createBench, done, type Handler, json, refusal, type SeenRequest } from './support/fake-platform.ts';

const table = { appToken: 'appX', tableId: 'tblX' };
const write = [{ recordId: 'rec1', fields: { 状态: '生成中' } }];
const api =
  (handler: Handler): Handler =>
  (request: SeenRequest) =>
    request.path.endsWith('/internal') ? undefined : handler(request);
/** Answers the first so many requests with `first`, later ones with `then`. */
function sequence(first: readonly (() => Response)[], then: () => Response): Handler {
  let count = 0;
  return api(() => (first[count++] ?? then)());
}

describe('a call to the platform', () => {
  for (const status of [200, 400, 404]) {
    it(`reads the platform's code under HTTP ${status}`, async () => {
      const bench = createBench(api(() => refusal(1254043, status, { 'x-tt-logid': 'header-log' })));
      const answer = await bench.run(bench.client.updateRecords(table, write));
      expect(answer).toMatchObject({
        ok: false,
        failure: { code: 1254043, httpStatus: status, class: 'gone', outcome: 'refused', logId: 'log-1' },
      });
      expect(bench.to('batch_update')).toHaveLength(1);
    });
  }

  it('P026 ends by its deadline when nothing ever comes back', async () => {
    const bench = createBench(api(() => new Promise<Response>(() => undefined)));
    const answer = await bench.run(bench.client.updateRecords(table, write));
    expect(answer).toMatchObject({ ok: false, failure: { class: 'retry', outcome: 'unknown' } });
    expect(answer.ok ? '' : answer.failure.message).toContain('no answer within 30000 ms');
    expect(bench.clock.monotonicMs()).toBe(30_000);
  });

  it('P026 ends by its deadline when headers come and half a body', async () => {
    const half = (): Response => {
      const body = new ReadableStream({
        start: (controller) => {
          controller.enqueue(new TextEncoder().encode('{"code":0,"da'));
        },
      });
      return new Response(body, { headers: { 'content-type': 'application/json' } });
    };
    const bench = createBench(api(half));
    const answer = await bench.run(bench.client.updateRecords(table, write));
    expect(answer).toMatchObject({ ok: false, failure: { class: 'retry', outcome: 'unknown' } });
    expect(bench.clock.monotonicMs()).toBe(30_000);
  });

  it('ends at once when its caller gives up, and is not tried again', async () => {
    const bench = createBench(api(() => new Promise<Response>(() => undefined)));
    const controller = new AbortController();
    bench.clock.after(1_000, () => {
      controller.abort();
    });
    const answer = await bench.run(bench.client.listTables('appX', controller.signal));
    expect(answer.ok).toBe(false);
    expect(bench.clock.monotonicMs()).toBe(1_000);
    expect(bench.to('/tables')).toHaveLength(1);
  });

  it('never repeats a write whose outcome is unknown', async () => {
    for (const broken of [
      () => {
        throw new TransportError('maybe-sent', 'ECONNRESET', 'reset');
      },
      () => refusal(1255040, 504),
      () => new Response('<html>bad gateway</html>', { status: 502 }),
    ]) {
      const bench = createBench(api(broken));
      const answer = await bench.run(bench.client.updateRecords(table, write));
      expect(answer).toMatchObject({ ok: false, failure: { class: 'retry', outcome: 'unknown' } });
      expect(bench.to('batch_update')).toHaveLength(1);
    }
  });

  it('repeats a write that surely never left, once', async () => {
    const unsent = (): Response => {
      throw new TransportError('not-sent', 'ECONNREFUSED', 'refused');
    };
    const bench = createBench(sequence([unsent], done));
    expect((await bench.run(bench.client.updateRecords(table, write))).ok).toBe(true);
    const dead = createBench(api(unsent));
    const answer = await dead.run(dead.client.updateRecords(table, write));
    expect(answer).toMatchObject({ ok: false, failure: { outcome: 'refused', class: 'retry' } });
    expect(dead.to('batch_update')).toHaveLength(2);
  });

  it('P041 takes a code that nobody has listed for a failure that may pass', async () => {
    const bench = createBench(api(() => json({ code: 5_000, msg: 'internal' })));
    const answer = await bench.run(bench.client.updateRecords(table, write));
    expect(answer).toMatchObject({ ok: false, failure: { code: 5_000, class: 'retry', outcome: 'unknown' } });
  });

  it('P024 takes a page in place of an answer for a wrong address, and does not repeat it', async () => {
    const page = (status: number) => () =>
      new Response('<html>nothing here</html>', { status, headers: { 'content-type': 'text/html' } });
    for (const status of [200, 301, 404]) {
      const bench = createBench(api(page(status)));
      const answer = await bench.run(bench.client.listTables('appX'));
      expect(answer).toMatchObject({ ok: false, failure: { class: 'config', httpStatus: status } });
      expect(bench.to('/tables')).toHaveLength(1);
    }
  });

  it('takes "data unchanged" for success', async () => {
    const bench = createBench(api(() => refusal(1254606)));
    expect((await bench.run(bench.client.updateRecords(table, write))).ok).toBe(true);
  });

  it('encodes what stands in the path, so that no id can lead elsewhere', async () => {
    const bench = createBench(api(done));
    await bench.run(bench.client.deleteRecord(table, '../tables?x=1'));
    expect(bench.seen.at(-1)?.path).toContain('/records/..%2Ftables%3Fx%3D1');
    const empty = await bench.run(bench.client.deleteRecord(table, ''));
    expect(empty).toMatchObject({ ok: false, failure: { class: 'invalid' } });
  });

  it('counts every request by endpoint, repeats and tokens included, until the count is taken', async () => {
    const bench = createBench(sequence([() => refusal(1254291)], done));
    await bench.run(bench.client.updateRecords(table, write));
    expect(bench.client.takeCallCounts()).toEqual({ 'auth.token': 1, 'bitable.records.batch-update': 2 });
    expect(bench.client.takeCallCounts()).toEqual({});
  });
});

describe('a throttled call', () => {
  for (const status of [400, 429]) {
    it(`P029 waits as long as the header says (HTTP ${status}), not a moment less`, async () => {
      const slow = () => refusal(99991400, status, { 'x-ogw-ratelimit-reset': '7' });
      const bench = createBench(sequence([slow], done));
      expect((await bench.run(bench.client.updateRecords(table, write))).ok).toBe(true);
      const [first, second] = bench.to('batch_update');
      expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(7_000);
    });

    it(`P029 gets through 20 s of throttling without a header (HTTP ${status})`, async () => {
      const bench = createBench(
        api((request) => (request.atMs < 20_000 ? refusal(99991400, status) : done({ records: [] }))),
      );
      expect((await bench.run(bench.client.updateRecords(table, write))).ok).toBe(true);
      expect(bench.to('batch_update').length).toBeLessThan(8);
    });
  }

  it('P029 makes later calls to the same endpoint wait too', async () => {
    const bench = createBench(
      sequence([() => refusal(99991400, 429, { 'x-ogw-ratelimit-reset': '5' })], () => done({ records: [] })),
    );
    const first = bench.client.updateRecords(table, write);
    await bench.clock.advance(1_000);
    const second = bench.client.updateRecords(table, write);
    await bench.run(Promise.all([first, second]));
    expect(bench.to('batch_update').map((request) => request.atMs >= 5_000)).toEqual([false, true, true]);
  });

  it('is given back with its wait when that is longer than a call may last, and is not sent before', async () => {
    const bench = createBench(
      sequence([() => refusal(99991400, 429, { 'x-ogw-ratelimit-reset': '600' })], () => done({ records: [] })),
    );
    const answer = await bench.run(bench.client.updateRecords(table, write));
    expect(answer).toMatchObject({ ok: false, failure: { class: 'throttled', retryAfterMs: 600_000 } });
    const early = await bench.run(bench.client.updateRecords(table, write));
    expect(early).toMatchObject({ ok: false, failure: { class: 'throttled', outcome: 'refused' } });
    expect(bench.to('batch_update')).toHaveLength(1);
    await bench.clock.advance(600_000);
    expect((await bench.run(bench.client.updateRecords(table, write))).ok).toBe(true);
  });

  it('is bounded: throttled for ever it ends as a failure', async () => {
    const bench = createBench(api(() => refusal(1254290)));
    const answer = await bench.run(bench.client.updateRecords(table, write));
    expect(answer).toMatchObject({ ok: false, failure: { code: 1254290, class: 'throttled', outcome: 'refused' } });
    expect(bench.clock.monotonicMs()).toBeLessThanOrEqual(60_000);
  });

  it('P027 meets a write conflict with a short wait and another try, at most three in all', async () => {
    const bench = createBench(sequence([() => refusal(1254291, 400)], done));
    expect((await bench.run(bench.client.updateRecords(table, write))).ok).toBe(true);
    const [first, second] = bench.to('batch_update');
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(500);
    const stuck = createBench(api(() => refusal(1254291, 400)));
    const answer = await stuck.run(stuck.client.updateRecords(table, write));
    expect(answer).toMatchObject({ ok: false, failure: { class: 'conflict', outcome: 'refused' } });
    expect(stuck.to('batch_update')).toHaveLength(3);
  });

  it('stops at once when the month is used up', async () => {
    const bench = createBench(api(() => refusal(99991403, 400)));
    const answer = await bench.run(bench.client.listTables('appX'));
    expect(answer).toMatchObject({ ok: false, failure: { class: 'quota' } });
    expect(bench.to('/tables')).toHaveLength(1);
  });
});
