import { once } from 'node:events';
import { type ServerType, serve } from '@hono/node-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSeededRandom, createSystemClock } from '../../src/kernel/index.ts';
import {
  createPlainPainter,
  createSandbox,
  createSocketHandler,
  noLatencies,
  type Sandbox,
} from '../../src/sandbox/index.ts';

describe('the sandbox on a real socket', () => {
  let server: ServerType;
  let sandbox: Sandbox;
  let address = '';

  beforeEach(async () => {
    sandbox = createSandbox({
      clock: createSystemClock(),
      random: createSeededRandom(1),
      baseUrl: () => address,
      painter: createPlainPainter(),
      latencies: noLatencies,
      tables: [],
    });
    server = serve({ fetch: createSocketHandler(sandbox), hostname: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    const bound = server.address();
    address = `http://127.0.0.1:${typeof bound === 'object' && bound !== null ? bound.port : 0}`;
  });

  afterEach(() => {
    server.close();
    if ('closeAllConnections' in server) server.closeAllConnections();
  });

  const submit = (signal?: AbortSignal): Promise<Response> =>
    fetch(`${address}/kie/api/v1/jobs/createTask`, {
      method: 'POST',
      headers: { authorization: 'Bearer k' },
      body: JSON.stringify({ model: 'nano-banana-pro', input: { prompt: 'x' } }),
      ...(signal === undefined ? {} : { signal }),
    });

  it('answers as it does in process', async () => {
    const answer: unknown = await (await submit()).json();
    expect(answer).toMatchObject({ code: 200 });
  });

  it.each([
    ['refuse', 0],
    ['drop-before', 0],
    ['drop-after', 1],
  ] as const)('breaks the connection for %s, with %i task accepted', async (kind, accepted) => {
    sandbox.faults.add({ endpoint: 'kie.createTask', action: { kind } });
    await expect(submit()).rejects.toThrow('fetch failed');
    expect(sandbox.books.acceptedTasks()).toHaveLength(accepted);
  });

  it('hangs without an answer until the client gives up', async () => {
    sandbox.faults.add({ endpoint: 'kie.createTask', action: { kind: 'hang-after' } });
    await expect(submit(AbortSignal.timeout(300))).rejects.toThrow();
    expect(sandbox.books.acceptedTasks()).toHaveLength(1);
  });

  it('breaks off in mid-body', async () => {
    sandbox.faults.add({ endpoint: 'kie.createTask', action: { kind: 'cut', afterBytes: 10 } });
    const response = await submit();
    await expect(response.text()).rejects.toThrow();
  });
});
