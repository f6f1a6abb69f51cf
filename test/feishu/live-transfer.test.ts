import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFeishuClient } from '../../src/feishu/index.ts';
import { createIdSource, createSystemClock, createSystemRandom, Secret, silentLogger } from '../../src/kernel/index.ts';
import { createLiveFetch, type LiveFetch } from '../../src/providers/http/index.ts';
import { testSettings } from './support/fake-platform.ts';

const mib = 1024 * 1024;
const sizeBytes = 200 * mib;
const block = new Uint8Array(64 * 1024).fill(7);

describe('a file of 200 MB over a real socket', () => {
  let server: ChildProcess;
  let fetch: LiveFetch;
  let client: ReturnType<typeof createFeishuClient>;

  beforeAll(async () => {
    server = fork(new URL('./support/live-platform.child.ts', import.meta.url), { execArgv: [] });
    const [told] = (await once(server, 'message')) as [{ port: number }];
    const clock = createSystemClock();
    const random = createSystemRandom();
    fetch = createLiveFetch();
    client = createFeishuClient({
      appId: 'cli_0123456789abcdef',
      appSecret: new Secret('live-secret'),
      baseUrl: `http://127.0.0.1:${told.port}`,
      fetch,
      clock,
      random,
      ids: createIdSource(clock, random),
      logger: silentLogger,
      settings: testSettings(0),
    });
    await client.checkCredentials();
  });
  afterAll(async () => {
    await fetch.close();
    server.kill();
  });

  async function report(): Promise<{ bytes: number; parts: number; sent: number }> {
    server.send('report');
    const [received] = (await once(server, 'message')) as [{ bytes: number; parts: number; sent: number }];
    return received;
  }

  /** Highest resident memory while `work` runs, above that before it. */
  async function growthOf(work: () => Promise<void>): Promise<number> {
    const before = process.memoryUsage().rss;
    let highest = before;
    const timer = setInterval(() => {
      highest = Math.max(highest, process.memoryUsage().rss);
    }, 5);
    await work();
    clearInterval(timer);
    return (highest - before) / mib;
  }

  it('goes up in 50 parts with less than 50 MB more memory', async () => {
    const source = {
      name: '视频.mp4',
      sizeBytes,
      async *open(_offset: number, length: number) {
        for (let at = 0; at < length; at += block.length) yield await Promise.resolve(block);
      },
    };
    const growth = await growthOf(async () => {
      expect(await client.uploadMedia('bascn', source)).toEqual({ ok: true, value: 'boxLive' });
    });
    const received = await report();
    expect(received.parts).toBe(50);
    expect(received.bytes).toBeGreaterThan(sizeBytes);
    expect(growth).toBeLessThan(50);
  });

  it('comes down whole, no faster than it is read', async () => {
    const answer = await client.downloadMedia({ fileToken: 'boxWhole' });
    if (!answer.ok) throw new Error(answer.failure.message);
    let bytes = 0;
    let sentMeanwhile = 0;
    for await (const chunk of answer.value) {
      if (bytes === 0) {
        await new Promise<void>((resolve) => createSystemClock().after(200, resolve));
        sentMeanwhile = (await report()).sent;
      }
      bytes += chunk.byteLength;
    }
    expect(bytes).toBe(sizeBytes);
    expect(sentMeanwhile).toBeGreaterThan(0);
    expect(sentMeanwhile).toBeLessThan(20 * mib);
  });

  it('P104 that breaks off half-way is an error, with its cause', async () => {
    const answer = await client.downloadMedia({ fileToken: 'boxBroken' });
    if (!answer.ok) throw new Error(answer.failure.message);
    const read = async (): Promise<void> => {
      for await (const chunk of answer.value) expect(chunk.byteLength).toBeGreaterThan(0);
    };
    await expect(read()).rejects.toMatchObject({ name: 'TransportError', phase: 'maybe-sent' });
  });
});
