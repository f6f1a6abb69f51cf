import { createHash } from 'node:crypto';
import type { Fetch, FetchInit } from '../../../src/kernel/index.ts';
import {
  createIdSource,
  createSeededRandom,
  createVirtualClock,
  type LogFields,
  type Logger,
  Secret,
  type VirtualClock,
} from '../../../src/kernel/index.ts';
import {
  createFeishuClient,
  type FeishuClient,
  type FeishuDeps,
  type FeishuInspection,
} from '../../../src/feishu/index.ts';

/** A JSON body as it was sent, with the members that tests look into. */
export interface SentJson {
  readonly [name: string]: unknown;
  readonly size: number;
  readonly record_ids: string[];
  readonly uuid: string;
  readonly content: string;
}

/** A request as the fake sees it. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  /** An empty object when no JSON was sent. */
  readonly json: SentJson;
  readonly atMs: number;
}

export type Answer = Response | Promise<Response>;
export type Handler = (request: SeenRequest) => Answer | undefined;

export const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } });
export const done = (data: unknown = {}): Response => json({ code: 0, msg: 'success', data });
export const refusal = (code: number, status = 200, headers: Record<string, string> = {}): Response =>
  json({ code, msg: `code ${code}`, error: { log_id: 'log-1' } }, status, headers);

/** A logger that keeps every line, for tests that look for secrets. */
export function recordingLogger(): { logger: Logger; lines: string[] } {
  const lines: string[] = [];
  const write = (message: string, fields?: LogFields): void => {
    lines.push(`${message} ${JSON.stringify(fields ?? {})}`);
  };
  const logger: Logger = { debug: write, info: write, warn: write, error: write, child: () => logger };
  return { logger, lines };
}

export interface Bench {
  readonly client: FeishuClient & FeishuInspection;
  readonly clock: VirtualClock;
  readonly seen: SeenRequest[];
  readonly lines: string[];
  /** Requests to a path, tokens apart. */
  to(part: string): SeenRequest[];
  /** Advances the virtual clock until the work is done; fails after a virtual hour. */
  run<T>(work: Promise<T>): Promise<T>;
  tokenRequests(): SeenRequest[];
}

export const appSecret = 'secret-9f3b1c';

/** A client over an in-process handler; the token endpoint answers by itself unless the handler does. */
export function createBench(handler: Handler, overrides: Partial<FeishuDeps> = {}): Bench {
  const clock = createVirtualClock();
  const random = createSeededRandom(7);
  const seen: SeenRequest[] = [];
  const { logger, lines } = recordingLogger();
  let tokens = 0;
  const fetch: Fetch = async (url, init) => {
    const request = await seenRequest(url, init, clock.monotonicMs());
    seen.push(request);
    const answer = handler(request);
    if (answer !== undefined) return answer;
    if (request.path.endsWith('/tenant_access_token/internal')) {
      tokens += 1;
      return json({ code: 0, msg: 'ok', tenant_access_token: `t-token-number-${tokens}`, expire: 7_200 });
    }
    return json({ code: 99991201, msg: 'no such path' }, 404);
  };
  const client = createFeishuClient({
    appId: 'cli_0123456789abcdef',
    appSecret: new Secret(appSecret),
    baseUrl: 'http://feishu.test/feishu/',
    fetch,
    clock,
    random,
    ids: createIdSource(clock, random),
    logger,
    settings: testSettings(),
    ...overrides,
  });
  return {
    client,
    clock,
    seen,
    lines,
    to: (part) => seen.filter((request) => request.path.includes(part)),
    tokenRequests: () => seen.filter((request) => request.path.endsWith('/tenant_access_token/internal')),
    run: (work) => runVirtually(clock, work),
  };
}

export function testSettings(callsPerSecond = 5): FeishuDeps['settings'] {
  return {
    feishu: {
      wakeups: true,
      plan: 'basic',
      monthly_call_budget: 50_000,
      write_spacing: 500,
      media_calls_per_second: callsPerSecond,
    },
    timeouts: {
      connect: 15_000,
      submit: 180_000,
      query: 30_000,
      text: 180_000,
      transfer_idle: 60_000,
      drain: 30_000,
    },
  };
}

export async function runVirtually<T>(clock: VirtualClock, work: Promise<T>): Promise<T> {
  const state = { isSettled: false };
  const settle = (): void => {
    state.isSettled = true;
  };
  work.then(settle, settle);
  const untilMs = clock.monotonicMs() + 3_600_000;
  const isOver = (): boolean => state.isSettled;
  for (let turn = 0; !isOver() && turn < 200_000; turn += 1) {
    await clock.advance(0);
    const dueInMs = isOver() ? undefined : clock.nextDueInMs();
    if (dueInMs === undefined) continue;
    if (clock.monotonicMs() + dueInMs > untilMs) throw new Error('not settled after a virtual hour');
    await clock.advance(dueInMs);
  }
  if (!isOver()) throw new Error('never settled');
  return work;
}

async function seenRequest(url: string, init: FetchInit, atMs: number): Promise<SeenRequest> {
  const { pathname, searchParams } = new URL(url);
  const bytes = await bodyBytes(init.body);
  const isJson = (init.headers?.['content-type'] ?? '').includes('json');
  return {
    method: init.method,
    path: pathname,
    query: searchParams,
    headers: new Headers(init.headers),
    bytes,
    json: JSON.parse(isJson && bytes.length > 0 ? new TextDecoder().decode(bytes) : '{}') as SentJson,
    atMs,
  };
}

async function bodyBytes(body: FetchInit['body']): Promise<Uint8Array> {
  if (body === undefined) return new Uint8Array();
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (body instanceof Uint8Array) return Uint8Array.from(body);
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return new Uint8Array(Buffer.concat(chunks));
}

/** The fields of a multipart body, read by another implementation than the one under test. */
export async function formOf(request: SeenRequest): Promise<{ fields: Record<string, string>; file: File }> {
  const type = request.headers.get('content-type') ?? '';
  const form = await new Response(Buffer.from(request.bytes), { headers: { 'content-type': type } }).formData();
  const fields: Record<string, string> = {};
  for (const [name, value] of form.entries()) if (typeof value === 'string') fields[name] = value;
  return { fields, file: form.get('file') as File };
}

export const sha = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** `sizeBytes` of repeatable bytes, given in chunks of 64 KiB. */
export function sourceOf(name: string, sizeBytes: number, extra: { resumeKey?: string } = {}) {
  const all = new Uint8Array(sizeBytes);
  for (let index = 0; index < sizeBytes; index += 1) all[index] = (index * 31 + (index >> 12)) & 0xff;
  let opened = 0;
  return {
    name,
    sizeBytes,
    all,
    opened: () => opened,
    ...extra,
    async *open(offset: number, length: number) {
      opened += 1;
      await Promise.resolve();
      for (let at = offset; at < offset + length; at += 65_536) {
        yield all.subarray(at, Math.min(at + 65_536, offset + length));
      }
    },
  };
}
