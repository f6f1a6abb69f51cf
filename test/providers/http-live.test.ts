import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type Fetch, type FetchInit, TransportError } from '../../src/kernel/index.ts';
import { createLiveFetch, type LiveFetchOptions } from '../../src/providers/http/index.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map(async (close) => await close()));
});

function listen(server: Server | ReturnType<typeof createTcpServer>): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  closers.push(
    async () =>
      await new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(resolve);
      }),
  );
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

const serve = async (handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> =>
  `http://127.0.0.1:${await listen(createServer(handle))}`;

function live(options: LiveFetchOptions = {}): Fetch {
  const made = createLiveFetch(options);
  closers.push(made.close);
  return made;
}

const post: FetchInit = { method: 'POST', body: '{"prompt":"x"}', headers: { 'content-type': 'application/json' } };

async function phaseOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
    return 'answered';
  } catch (error) {
    return error instanceof TransportError ? `${error.phase} ${error.code}` : error;
  }
}

describe('P054 did the request reach the other side?', () => {
  it('says not-sent for a refused connection', async () => {
    const port = await listen(createTcpServer());
    await Promise.all(closers.splice(0).map(async (close) => await close()));
    expect(await phaseOf(live()(`http://127.0.0.1:${port}/`, post))).toBe('not-sent ECONNREFUSED');
  });

  it('says not-sent for a name that does not resolve', async () => {
    expect(await phaseOf(live()('http://nowhere.invalid/', post))).toMatch(/^not-sent (ENOTFOUND|EAI_AGAIN)$/);
  });

  it('says not-sent when the TLS handshake fails, even by a reset', async () => {
    const plain = await serve((_request, response) => response.end());
    expect(await phaseOf(live()(plain.replace('http:', 'https:'), post))).toMatch(/^not-sent /);
    const port = await listen(createTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy())));
    expect(await phaseOf(live()(`https://127.0.0.1:${port}/`, post))).toBe('not-sent ECONNRESET');
  });

  it('says not-sent when connecting takes too long', async () => {
    const silent = await listen(createTcpServer());
    const work = live()(`https://127.0.0.1:${silent}/`, { ...post, connectTimeoutMs: 50 });
    expect(await phaseOf(work)).toBe('not-sent UND_ERR_CONNECT_TIMEOUT');
  });

  it('says maybe-sent for a reset after the request was written', async () => {
    let received = 0;
    const port = await listen(
      createTcpServer((socket: Socket) =>
        socket.once('data', () => {
          received += 1;
          socket.resetAndDestroy();
        }),
      ),
    );
    expect(await phaseOf(live()(`http://127.0.0.1:${port}/`, post))).toMatch(/^maybe-sent /);
    expect(received).toBe(1);
  });

  it('says maybe-sent when the server closes without an answer, and sends nothing twice', async () => {
    let received = 0;
    const base = await serve((request) => {
      received += 1;
      request.socket.end();
    });
    const fetch = live();
    expect(await phaseOf(fetch(base, post))).toMatch(/^maybe-sent /);
    expect(await phaseOf(fetch(base, { method: 'GET' }))).toMatch(/^maybe-sent /);
    expect(received).toBe(2);
  });

  it('says maybe-sent when the answer is cut off, through the body', async () => {
    const base = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half');
      setTimeout(() => response.destroy(), 10);
    });
    const response = await live()(base, post);
    expect(response.status).toBe(200);
    expect(await phaseOf(response.text())).toMatch(/^maybe-sent /);
  });

  it('rejects with the reason of the signal when aborted while waiting', async () => {
    const stop = new AbortController();
    const base = await serve(() => {
      stop.abort(new Error('late'));
    });
    expect(await phaseOf(live()(base, { ...post, signal: stop.signal }))).toEqual(new Error('late'));
  });
});

describe('the one door', () => {
  it('returns redirects and error statuses as they are', async () => {
    const base = await serve((request, response) => {
      response.writeHead(request.url === '/r' ? 302 : 455, { location: '/elsewhere' });
      response.end('maintenance');
    });
    const fetch = live();
    expect((await fetch(`${base}/r`, post)).status).toBe(302);
    const refused = await fetch(`${base}/x`, post);
    expect([refused.status, await refused.text()]).toEqual([455, 'maintenance']);
  });

  it('P101 sends path and query byte for byte, encoding only what may not stand there', async () => {
    const seen: unknown[] = [];
    const base = await serve((request, response) => {
      seen.push(request.url);
      response.end();
    });
    const fetch = live();
    for (const path of ["/a%2Fb?Signature=a%2Bb%2Fc%3D%3D&x='q'|{}", '/with space?t=测试', '?bare=1']) {
      await fetch(`${base}${path}`, { method: 'GET' });
    }
    expect(seen).toEqual([
      "/a%2Fb?Signature=a%2Bb%2Fc%3D%3D&x='q'|{}",
      '/with%20space?t=%E6%B5%8B%E8%AF%95',
      '/?bare=1',
    ]);
  });

  it('goes direct whatever the environment says, and through a proxy only when told', async () => {
    const proxied: unknown[] = [];
    const proxy = await serve((request, response) => {
      proxied.push(request.url);
      response.end('by proxy');
    });
    const base = await serve((_request, response) => response.end('direct'));
    const fetch = live({ environment: { HTTP_PROXY: proxy, https_proxy: proxy } });
    const get = async (init: Partial<FetchInit>): Promise<string> =>
      await (await fetch(base, { method: 'GET', ...init })).text();
    process.env['HTTP_PROXY'] = proxy;
    expect(await get({})).toBe('direct');
    expect(await get({ proxy: 'direct' })).toBe('direct');
    delete process.env['HTTP_PROXY'];
    expect(proxied).toEqual([]);
    expect(await get({ proxy: 'env' })).toBe('by proxy');
    expect(await get({ proxy })).toBe('by proxy');
    expect(proxied).toHaveLength(2);
  });

  it('says not-sent when the proxy cannot be reached', async () => {
    const base = await serve((_request, response) => response.end());
    expect(await phaseOf(live()(base, { ...post, proxy: 'http://127.0.0.1:1' }))).toBe('not-sent ECONNREFUSED');
  });

  it('says not-sent when a proxy refuses the tunnel, and stays on the safe side when it breaks it off', async () => {
    const through = async (act: (socket: Socket) => void): Promise<unknown> => {
      const port = await listen(createTcpServer((socket: Socket) => socket.once('data', () => act(socket))));
      return await phaseOf(live()('https://files.example/', { ...post, proxy: `http://127.0.0.1:${port}` }));
    };
    expect(await through((socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'))).toMatch(/^not-sent /);
    expect(await through((socket) => socket.resetAndDestroy())).toMatch(/^(not|maybe)-sent /);
  });

  it('understands compressed answers although it asks for none', async () => {
    const { gzipSync } = await import('node:zlib');
    const base = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.end(gzipSync('{"ok":true}'));
    });
    expect(await (await live()(base, { method: 'GET' })).json()).toEqual({ ok: true });
  });

  it('streams a body from disk-like chunks with the length that was given', async () => {
    let got = '';
    const base = await serve((request, response) => {
      request.on('data', (chunk: Buffer) => (got += chunk.toString()));
      request.on('end', () => response.end(request.headers['content-length']));
    });
    async function* chunks(): AsyncIterable<Uint8Array> {
      yield Buffer.from('abc');
      yield await Promise.resolve(Buffer.from('def'));
    }
    const response = await live()(base, { method: 'PUT', body: chunks(), headers: { 'content-length': '6' } });
    expect([await response.text(), got]).toEqual(['6', 'abcdef']);
  });
});

describe('downloads go to public addresses only', () => {
  const download = { method: 'GET', purpose: 'download' } as const;
  const lookupTo =
    (...addresses: string[]): NonNullable<LiveFetchOptions['lookup']> =>
    (hostname, _options, callback) => {
      const real = hostname.endsWith('.invalid') ? (addresses.includes('198.18.0.9') ? ['198.18.3.4'] : []) : addresses;
      if (real.length === 0) callback(Object.assign(new Error('no'), { code: 'ENOTFOUND' }), []);
      else
        callback(
          null,
          real.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
        );
    };

  it.each([
    'http://example.com/x',
    'https://127.0.0.1/x',
    'https://[::1]/x',
    'https://[::ffff:10.0.0.1]/x',
    'https://0x7f.1/x',
    'https://2130706433/x',
    'https://169.254.169.254/latest/meta-data',
    'https://198.18.0.1/x',
    'ftp://example.com/x',
  ])('refuses %s before any packet leaves', async (url) => {
    expect(await phaseOf(live()(url, download))).toMatch(/^not-sent (BLOCKED_ADDRESS|BAD_URL)$/);
  });

  it.each([['10.1.2.3'], ['93.184.216.34', '192.168.0.1'], ['fd00::1'], ['198.18.0.7']])(
    'refuses a name that resolves to %s',
    async (...addresses) => {
      const fetch = live({ lookup: lookupTo(...addresses) });
      expect(await phaseOf(fetch('https://files.example/x', download))).toBe('not-sent BLOCKED_ADDRESS');
    },
  );

  it('lets an allowed host be private and plain', async () => {
    const base = await serve((_request, response) => response.end('file'));
    expect(await phaseOf(live()(base, download))).toBe('not-sent BLOCKED_ADDRESS');
    const fetch = live({ allowHosts: ['127.0.0.1'] });
    expect(await (await fetch(base, download)).text()).toBe('file');
    const withPort = live({ allowHosts: [new URL(base).host] });
    expect(await (await withPort(base, download)).text()).toBe('file');
  });

  it('accepts a fake-IP address for a name only when told to probe and the probe proves it', async () => {
    const go = async (options: LiveFetchOptions): Promise<unknown> =>
      await phaseOf(live({ connectTimeoutMs: 30, ...options })('https://files.example/x', download));
    expect(await go({ lookup: lookupTo('198.18.0.9') })).toBe('not-sent BLOCKED_ADDRESS');
    expect(await go({ lookup: lookupTo('198.18.0.7'), fakeIp: 'probe' })).toBe('not-sent BLOCKED_ADDRESS');
    expect(await go({ lookup: lookupTo('198.18.0.9'), fakeIp: 'probe' })).not.toBe('not-sent BLOCKED_ADDRESS');
    expect(await go({ lookup: lookupTo('198.18.0.9', '10.0.0.1'), fakeIp: 'probe' })).toBe('not-sent BLOCKED_ADDRESS');
  });
});
