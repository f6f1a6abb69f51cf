import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sandboxTableId, waitUntil } from '../../src/app/index.ts';
import { createSystemClock } from '../../src/kernel/index.ts';
import { quickSettings } from '../support/outside.ts';
import { startWorkerProcess, type WorkerProcess } from '../support/worker-process.ts';

const clock = createSystemClock();
let directory: string;
let table: WorkerProcess;
let monitor: WorkerProcess;
const origins: { table: URL; monitor: URL } = { table: new URL('http://x'), monitor: new URL('http://x') };

async function addressOf(process: WorkerProcess): Promise<URL> {
  const find = (): string | undefined => /http:\/\/127\.0\.0\.1:\d+/.exec(process.output())?.[0];
  await waitUntil(clock, () => Promise.resolve(find() !== undefined), 20, 25_000);
  return new URL(find() ?? `http://nothing.invalid/?${encodeURIComponent(process.output())}`);
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gridloom-local-'));
  const env = {
    ...quickSettings,
    GRIDLOOM_DATA_DIR: join(directory, 'data'),
    GRIDLOOM_MONITOR_DIR: join(directory, 'webmon'),
  };
  table = startWorkerProcess(env);
  origins.table = await addressOf(table);
  monitor = startWorkerProcess({ ...env, GRIDLOOM_SANDBOX_ORIGIN: origins.table.origin }, ['serve', '--port', '0']);
  origins.monitor = await addressOf(monitor);
}, 90_000);
afterAll(async () => {
  await monitor.kill();
  await table.kill();
  await rm(directory, { recursive: true, force: true, maxRetries: 3 });
});

/** A request as a browser would send it on behalf of a foreign page; `fetch` would not let us set Host. */
async function ask(to: URL, path: string, headers: Record<string, string>, method = 'GET'): Promise<number> {
  return await new Promise((resolve, reject) => {
    const sent = request({ host: to.hostname, port: to.port, path, method, headers, timeout: 10_000 }, (answer) => {
      resolve(answer.statusCode ?? 0);
      answer.destroy();
    });
    sent.on('error', reject);
    sent.end();
  });
}

describe.each(['table', 'monitor'] as const)('the %s, as the real program serves it', (which) => {
  it('answers this machine', async () => {
    const to = origins[which];
    expect(await ask(to, '/', { host: to.host })).toBe(200);
    expect(await ask(to, '/', { host: `localhost:${to.port}` })).toBe(200);
  });

  it('refuses a name that was rebound to this machine', async () => {
    for (const host of ['evil.example', 'evil.example:80', '127.0.0.1.evil.example', '192.168.1.5'])
      expect(await ask(origins[which], '/', { host }), host).toBeGreaterThanOrEqual(400);
  });

  it('refuses to be written to by a foreign page', async () => {
    const to = origins[which];
    const path = which === 'table' ? `/table/api/tables/${sandboxTableId('try-on')}/rows` : '/events';
    for (const origin of ['https://evil.example', 'http://127.0.0.1:1', 'null'])
      expect(await ask(to, path, { host: to.host, origin }, 'POST'), origin).toBe(403);
  });
});
