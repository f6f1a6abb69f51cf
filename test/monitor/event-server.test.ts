import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Artifact } from '../../src/contract/index.ts';
import type { EventRecord } from '../../src/engine/ports/index.ts';
import { createCalendar, createEventServer, createFolderReader } from '../../src/monitor/index.ts';
import { attemptRecord, chargeRecord, createKit, event, executionRecord, timezone } from './kit.ts';

const host = 'http://127.0.0.1:4300';
const page = createFolderReader(join(import.meta.dirname, '../../webmon'));

function setUp() {
  const kit = createKit();
  const data: Record<string, string> = { 'metrics.json': '{"updated_at":"x"}' };
  const handle = createEventServer({
    ...kit,
    calendar: createCalendar(timezone),
    page,
    data: (name) => Promise.resolve(data[name] === undefined ? undefined : new TextEncoder().encode(data[name])),
    media: {
      read: (artifact) =>
        Promise.resolve(
          artifact.hash === hash
            ? { ok: true, value: new Uint8Array([137, 80, 78, 71]) }
            : { ok: false, failure: { kind: 'storage', code: 'gone', message: 'gone' } },
        ),
    },
  });
  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    handle(new Request(`${host}${path}`, { headers }));
  return { kit, handle, get };
}

const hash = 'ab'.repeat(32);
const artifact: Artifact = { kind: 'artifact', hash, sizeBytes: 4, mime: 'image/png', name: '上身图.png' };

/** Reads frames until `count` events came; gives the parsed ones. */
async function readEvents(response: Response, count: number, meanwhile: () => Promise<void>): Promise<EventRecord[]> {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  const events: EventRecord[] = [];
  let text = '';
  while (events.length < count) {
    const next = reader.read();
    await meanwhile();
    const { value, done } = await next;
    if (done) break;
    text += decoder.decode(value, { stream: true });
    const frames = text.split('\n\n');
    text = frames.pop() ?? '';
    for (const frame of frames) {
      const line = frame.split('\n').find((part) => part.startsWith('data: '));
      if (line !== undefined) events.push(JSON.parse(line.slice('data: '.length)) as EventRecord);
    }
  }
  await reader.cancel();
  return events;
}

describe('local monitor server', () => {
  it('serves the page, tells it that it is served, and serves the worker’s files', async () => {
    const { get } = setUp();
    const index = await get('/');
    expect(await index.text()).toContain('<html data-served="local" ');
    expect(index.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect((await get('/js/main.js')).headers.get('content-type')).toContain('text/javascript');
    const metrics = await get('/metrics.json');
    expect(await metrics.json()).toEqual({ updated_at: 'x' });
    expect(metrics.headers.get('date')).toBe('Mon, 30 Nov 2026 04:00:00 GMT');
    expect((await get('/data/executions.json')).status).toBe(404);
  });

  it.each(['/../package.json', '/..%2fpackage.json', '/.env', '/js/../../package.json', '//etc/passwd', '/js/.hidden'])(
    'gives nothing away at %s',
    async (path) => {
      const { get } = setUp();
      expect((await get(path)).status).toBe(404);
    },
  );

  it.each<[Record<string, string>, string]>([
    [{ host: 'evil.example' }, 'a rebound name'],
    [{ origin: 'https://evil.example' }, 'another site'],
    [{ origin: 'null' }, 'a sandboxed frame'],
    [{ 'sec-fetch-site': 'cross-site' }, 'a cross-site request'],
    [{ host: '127.0.0.1.evil.example:4300' }, 'a look-alike'],
  ])('refuses %j: %s', async (headers) => {
    const { get } = setUp();
    const response = await get('/metrics.json', headers);
    expect(response.status).toBe(403);
    expect(await response.text()).not.toContain('updated_at');
  });

  it('only reads: a POST is refused', async () => {
    const { handle } = setUp();
    expect((await handle(new Request(`${host}/events`, { method: 'POST' }))).status).toBe(403);
  });

  it('streams events from the number on that the browser last saw, without gap or repetition', async () => {
    const { kit, get } = setUp();
    for (let index = 0; index < 450; index += 1) await kit.store.commit([event(kit, 'node-started', { index })]);
    const events = await readEvents(await get('/events', { 'last-event-id': '10' }), 440, () => Promise.resolve());
    expect(events.map((each) => each.seq)).toEqual(Array.from({ length: 440 }, (_, index) => index + 11));
  });

  it('starts with what comes next when no number is given, woken by the commit and not by a poll', async () => {
    const { kit, get } = setUp();
    await kit.store.commit([event(kit, 'node-started', { old: true })]);
    const response = await get('/events');
    let isSent = false;
    const events = await readEvents(response, 1, async () => {
      if (isSent) return;
      await kit.clock.advance(0);
      isSent = true;
      await kit.store.commit([event(kit, 'node-succeeded', { fresh: true })]);
    });
    expect(events).toMatchObject([{ seq: 2, type: 'node-succeeded' }]);
  });

  it('sees what another process wrote, though nobody tells', async () => {
    const { kit, handle } = setUp();
    const deaf = createEventServer({
      ...kit,
      store: { ...kit.store, onAppend: () => () => undefined },
      calendar: createCalendar(timezone),
      page,
      data: page,
    });
    expect(handle).toBeDefined();
    const response = await deaf(new Request(`${host}/events`, { headers: { 'last-event-id': '0' } }));
    let isSent = false;
    const events = await readEvents(response, 1, async () => {
      if (!isSent) await kit.store.commit([event(kit, 'node-succeeded')]);
      isSent = true;
      await kit.clock.advance(1_100);
    });
    expect(events).toHaveLength(1);
  });

  it('lets through what a subscriber asked for, and is not kept busy by the rest', async () => {
    const { kit, handle } = setUp();
    expect(handle).toBeDefined();
    let reads = 0;
    const counting: typeof kit.store = {
      ...kit.store,
      events: async (...given) => {
        reads += 1;
        return await kit.store.events(...given);
      },
    };
    const serve = createEventServer({
      ...kit,
      store: counting,
      calendar: createCalendar(timezone),
      page,
      data: page,
    });
    const request = new Request(`${host}/events?type=execution-ended`, { headers: { 'last-event-id': '0' } });
    let sent = 0;
    const events = await readEvents(await serve(request), 1, async () => {
      for (; sent < 300; sent += 1)
        await kit.store.commit([event(kit, sent === 299 ? 'execution-ended' : 'node-started')]);
      await kit.clock.advance(1_100);
    });
    expect(events).toMatchObject([{ seq: 300, type: 'execution-ended' }]);
    expect(reads).toBeLessThan(20);
  });

  it('stays quiet over news that it was not asked for', async () => {
    const { kit, get } = setUp();
    await kit.store.commit([event(kit, 'node-started')]);
    const response = await get('/events?type=execution-ended', { 'last-event-id': '0' });
    const reader = response.body!.getReader();
    await reader.read();
    const quiet = reader.read();
    for (let second = 0; second < 17; second += 1) await kit.clock.advance(1_000);
    expect(new TextDecoder().decode((await quiet).value)).toBe(': quiet\n\n');
    await reader.cancel();
  });

  it.each(['/events?execution=nobody', '/events?type=A;drop'])(
    'refuses a filter that means nothing: %s',
    async (path) => {
      expect((await setUp().get(path)).status).toBe(400);
    },
  );

  it('leaves nothing behind when the reader goes away', async () => {
    const { kit, get } = setUp();
    const response = await get('/events', { 'last-event-id': '0' });
    const reader = response.body!.getReader();
    await reader.read();
    const pending = reader.read();
    await kit.clock.advance(10);
    await reader.cancel();
    await pending;
    await kit.clock.advance(30_000);
    expect(kit.clock.nextDueInMs()).toBeUndefined();
  });

  it('shows an execution with its pictures, and each picture, but no file that is no picture', async () => {
    const { kit, get } = setUp();
    const execution = executionRecord(kit);
    const script: Artifact = { ...artifact, hash: 'cd'.repeat(32), mime: 'image/svg+xml', name: 'x.svg' };
    await kit.store.commit([
      { type: 'create-execution', record: execution },
      {
        type: 'put-node',
        epoch: 0,
        record: {
          executionId: execution.id,
          path: 'draw',
          status: 'succeeded',
          degraded: false,
          output: { images: [artifact, script], text: '真丝' },
        },
      },
    ]);
    const detail = await (await get(`/data/executions/${execution.id}.json`)).text();
    expect(JSON.parse(detail)).toMatchObject({ thumbnails: [{ hash, name: '上身图.png' }] });
    expect(detail).not.toContain('真丝');
    const shown = await get(`/thumbs/${hash}`);
    expect(shown.headers.get('content-type')).toBe('image/png');
    expect((await get(`/thumbs/${script.hash}`)).status).toBe(404);
    expect((await get(`/thumbs/${'ef'.repeat(32)}`)).status).toBe(404);
    expect((await get('/data/executions/019a0000-0000-7000-8000-000000000000.json')).status).toBe(404);
  });

  it('adds spending by submitter, which the static files leave out', async () => {
    const { kit, get } = setUp();
    const execution = executionRecord(kit);
    const attempt = attemptRecord(kit, execution);
    await kit.store.commit([
      { type: 'create-execution', record: execution },
      { type: 'create-attempt', record: attempt, epoch: 0 },
      { type: 'create-charge', record: chargeRecord(kit, attempt) },
    ]);
    expect(await (await get('/local/submitters.json')).json()).toEqual({ ou_lin: 142_000 });
  });
});
