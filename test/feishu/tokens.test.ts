import { describe, expect, it } from 'vitest';
import { TransportError } from '../../src/kernel/index.ts';
import { appSecret, createBench, done, json, refusal } from './support/fake-platform.ts';

const token = (value: string, expire: number) => json({ code: 0, msg: 'ok', tenant_access_token: value, expire });
const isTokenPath = (path: string) => path.endsWith('/tenant_access_token/internal');
const tables = () => done({ items: [], has_more: false });

describe('the tenant token', () => {
  it('is fetched once for five calls that start together', async () => {
    const bench = createBench((request) => (isTokenPath(request.path) ? undefined : tables()));
    await bench.run(Promise.all(Array.from({ length: 5 }, () => bench.client.listTables('appX'))));
    expect(bench.tokenRequests()).toHaveLength(1);
    expect(bench.to('/tables')).toHaveLength(5);
    expect(bench.to('/tables')[0]?.headers.get('authorization')).toBe('Bearer t-token-number-1');
  });

  it('P017 is renewed before its last second, not after', async () => {
    const bench = createBench((request) => (isTokenPath(request.path) ? undefined : tables()));
    await bench.run(bench.client.listTables('appX'));
    await bench.clock.advance(7_000_000);
    await bench.run(bench.client.listTables('appX'));
    expect(bench.tokenRequests()).toHaveLength(1);
    await bench.clock.advance(199_000);
    await bench.run(bench.client.listTables('appX'));
    expect(bench.tokenRequests()).toHaveLength(2);
  });

  it('P017 with a life shorter than the margin makes no storm: one fetch for the calls of its first half', async () => {
    const bench = createBench((request) => (isTokenPath(request.path) ? token('t-short-lived-one', 120) : tables()));
    for (let call = 0; call < 4; call += 1) {
      await bench.run(bench.client.listTables('appX'));
      await bench.clock.advance(14_000);
    }
    expect(bench.tokenRequests()).toHaveLength(1);
    await bench.clock.advance(10_000);
    await bench.run(bench.client.listTables('appX'));
    expect(bench.tokenRequests()).toHaveLength(2);
  });

  it('P017 with no life at all is fetched at most once a call', async () => {
    const bench = createBench((request) => (isTokenPath(request.path) ? token('t-dead-on-arrival', 0) : tables()));
    await bench.run(bench.client.listTables('appX'));
    await bench.run(bench.client.listTables('appX'));
    expect(bench.tokenRequests()).toHaveLength(2);
  });

  it('is not thought young after the machine slept, nor after the wall clock went back', async () => {
    const bench = createBench((request) => (isTokenPath(request.path) ? undefined : tables()));
    await bench.run(bench.client.listTables('appX'));
    bench.clock.jumpWall(7_200_000);
    await bench.run(bench.client.listTables('appX'));
    expect(bench.tokenRequests()).toHaveLength(2);
    bench.clock.jumpWall(-86_400_000);
    await bench.clock.advance(7_100_000);
    await bench.run(bench.client.listTables('appX'));
    expect(bench.tokenRequests()).toHaveLength(3);
  });

  for (const status of [200, 400, 401]) {
    it(`is dropped on 99991663 under HTTP ${status}, and the call repeated once`, async () => {
      const bench = createBench((request) => {
        if (isTokenPath(request.path)) return undefined;
        const isOld = request.headers.get('authorization') === 'Bearer t-token-number-1';
        return isOld ? refusal(99991663, status) : tables();
      });
      const answer = await bench.run(bench.client.listTables('appX'));
      expect(answer.ok).toBe(true);
      expect(bench.tokenRequests()).toHaveLength(2);
      expect(bench.to('/tables')).toHaveLength(2);
    });
  }

  it('refused twice ends the call as a credential failure, without going round', async () => {
    const bench = createBench((request) => (isTokenPath(request.path) ? undefined : refusal(99991663, 400)));
    const answer = await bench.run(bench.client.listTables('appX'));
    expect(answer).toMatchObject({ ok: false, failure: { code: 99991663, class: 'credential', outcome: 'refused' } });
    expect(bench.to('/tables')).toHaveLength(2);
  });

  it('that cannot be had because the secret is wrong says so', async () => {
    const bench = createBench((request) => (isTokenPath(request.path) ? refusal(10014) : tables()));
    const answer = await bench.run(bench.client.listTables('appX'));
    expect(answer).toMatchObject({ ok: false, failure: { code: 10014, class: 'credential' } });
    expect(bench.to('/tables')).toHaveLength(0);
  });

  it('and the secret appear in no log line, not even when the token call breaks', async () => {
    const bench = createBench((request) => {
      if (isTokenPath(request.path)) {
        throw new TransportError('maybe-sent', 'ECONNRESET', `reset after app_secret=${appSecret}`);
      }
      return tables();
    });
    const answer = await bench.run(bench.client.listTables('appX'));
    expect(answer.ok).toBe(false);
    expect(bench.lines.length).toBeGreaterThan(0);
    expect(bench.lines.join('\n')).not.toContain(appSecret);
    expect(JSON.stringify(answer)).not.toContain('t-token');
  });
});
