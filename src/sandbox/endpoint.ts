import { type Clock, type Json, sleep, TransportError } from '../kernel/index.ts';
import { BodyTooLargeError, readBody } from './bytes.ts';
import { type FaultAction, isNamed } from './faults.ts';
import { drawLatencyMs, type Latencies } from './latency.ts';
import type { TaskFate } from './vendors/fate.ts';
import type { World } from './world.ts';

/**
 * One way in. A call goes: counted → faults picked → `delay` / `refuse` / `drop-before` / `hang` / `answer` → body read →
 * lock taken (a second call meanwhile gets `conflict`) → latency → handler → lock given back → faults of the answer.
 * A client that gives up does not stop the work: it was sent.
 */
export interface EndpointDefinition {
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly latency?: keyof Latencies;
  readonly maxBodyBytes?: number;
  readonly lock?: { readonly key: (call: Call) => string; readonly conflict: (call: Call) => Response };
  readonly handle: (call: Call) => Promise<Response> | Response;
}

/** A request as handlers see it. */
export interface Call {
  readonly request: Request;
  readonly endpoint: string;
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  readonly url: URL;
  readonly params: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly faults: readonly FaultAction[];
  bodyText(): string;
  /** Parsed JSON, or undefined when there is none. */
  json(): unknown;
  fate(): TaskFate;
}

const defaultMaxBodyBytes = 32 * 1024 * 1024;
/** Even a call that is never answered ends some day. */
const hangLimitMs = 6 * 3_600_000;

export function addEndpoint(world: World, definition: EndpointDefinition): void {
  const told: ToldAnswers = { first: new Map(), last: new Map() };
  world.app.on(definition.method, definition.path, async (context) => {
    const { calls } = world.journal;
    calls[definition.name] = (calls[definition.name] ?? 0) + 1;
    const request = context.req.raw;
    const body = await readBody(request, definition.maxBodyBytes ?? defaultMaxBodyBytes).catch(asTooLarge);
    if (body === undefined) return new Response('request entity too large', { status: 413 });
    const call = createCall(world, definition, { request, params: context.req.param(), body });
    const early = await strikeBefore(world.clock, call);
    if (early !== undefined) return dated(world, early);
    const response = await work(world, definition, call);
    const final = has(call, 'twice') ? await work(world, definition, call) : response;
    return await strikeAfter(world, call, dated(world, final), told);
  });
}

/** As every server does: by this world's clock, which need not be its caller's. */
function dated(world: World, response: Response): Response {
  if (!response.headers.has('date')) response.headers.set('date', new Date(world.clock.nowMs()).toUTCString());
  return response;
}

function asTooLarge(error: unknown): undefined {
  if (error instanceof BodyTooLargeError) return undefined;
  throw error;
}

function createCall(
  world: World,
  definition: EndpointDefinition,
  parts: { request: Request; params: Record<string, string>; body: Uint8Array<ArrayBuffer> },
): Call {
  const url = new URL(parts.request.url);
  let text: string | undefined;
  const seen = {
    endpoint: definition.name,
    method: definition.method,
    path: url.pathname + url.search,
    bodyText: () => (text ??= new TextDecoder().decode(parts.body)),
  };
  const faults = world.faults.strike(seen);
  return {
    ...seen,
    ...parts,
    url,
    faults,
    json: () => parseJson(seen.bodyText()),
    fate: () => faults.find((action) => action.kind === 'fate')?.fate ?? {},
  };
}

async function work(world: World, definition: EndpointDefinition, call: Call): Promise<Response> {
  const held = world.locks;
  const key = definition.lock?.key(call);
  if (definition.lock !== undefined && key !== undefined && held.has(key)) return definition.lock.conflict(call);
  if (key !== undefined) held.add(key);
  try {
    const waitMs =
      definition.latency === undefined ? 0 : drawLatencyMs(world.controls.latencies[definition.latency], world.random);
    if (waitMs > 0) await sleep(world.clock, waitMs);
    return await definition.handle(call);
  } finally {
    if (key !== undefined) held.delete(key);
  }
}

function has(call: Call, kind: FaultAction['kind']): boolean {
  return call.faults.some((action) => action.kind === kind);
}

async function strikeBefore(clock: Clock, call: Call): Promise<Response | undefined> {
  for (const action of call.faults) {
    if (action.kind === 'delay') await sleep(clock, action.delayMs);
    if (action.kind === 'refuse') throw new TransportError('not-sent', 'ECONNREFUSED', 'connection refused');
    if (action.kind === 'drop-before') throw new TransportError('maybe-sent', 'ECONNRESET', 'connection reset');
    if (action.kind === 'hang') await hang(clock, call.request.signal);
    if (action.kind === 'answer') return answer(action);
  }
  return undefined;
}

/** Answers that a fault may give once more, by question. */
interface ToldAnswers {
  readonly first: Map<string, Response>;
  readonly last: Map<string, Response>;
}

const repeats = { 'repeat-first': 'first', 'repeat-last': 'last' } as const;

async function strikeAfter(world: World, call: Call, response: Response, told: ToldAnswers): Promise<Response> {
  let current = response;
  for (const action of call.faults) {
    if (action.kind === 'delay-answer') await sleep(world.clock, action.delayMs);
    if (action.kind === 'drop-after') throw new TransportError('maybe-sent', 'ECONNRESET', 'connection reset');
    if (action.kind === 'hang-after') await hang(world.clock, call.request.signal);
    if (action.kind === 'answer-after') current = answer(action);
    if (action.kind === 'cut') current = cut(current, action.afterBytes);
    if (action.kind === 'double') current = await doubled(current);
    const isRepeat = action.kind === 'repeat-first' || action.kind === 'repeat-last';
    const earlier = isRepeat ? told[repeats[action.kind]].get(keyOf(call)) : undefined;
    if (earlier !== undefined) return earlier.clone();
  }
  remember(world, call, current, told);
  return current;
}

/** Only where a rule may ask for it: a kept answer is held in memory, a film as well. */
function remember(world: World, call: Call, answered: Response, told: ToldAnswers): void {
  const key = keyOf(call);
  for (const rule of world.faults.rules()) {
    const { kind } = rule.action;
    if ((kind !== 'repeat-last' && kind !== 'repeat-first') || !isNamed(rule, call.endpoint)) continue;
    const kept = told[repeats[kind]];
    if (kind === 'repeat-last' || !kept.has(key)) kept.set(key, answered.clone());
  }
}

/** As a broken gateway hands it on: the same body twice over. */
async function doubled(response: Response): Promise<Response> {
  const body = await response.text();
  return new Response(body + body, { status: response.status, headers: response.headers });
}

/** Answers are repeated for the same question: a read's address counts, of writes only the endpoint. */
function keyOf(call: Call): string {
  return call.method === 'GET' ? call.path : call.method;
}

async function hang(clock: Clock, signal: AbortSignal): Promise<never> {
  await sleep(clock, hangLimitMs, signal).catch(() => undefined);
  throw new TransportError('maybe-sent', 'UND_ERR_HEADERS_TIMEOUT', 'no answer');
}

function answer(action: { status: number; body?: Json; headers?: Record<string, string> }): Response {
  const body = typeof action.body === 'string' ? action.body : JSON.stringify(action.body ?? {});
  const type = typeof action.body === 'string' ? 'text/html; charset=utf-8' : 'application/json';
  return new Response(body, { status: action.status, headers: { 'content-type': type, ...action.headers } });
}

/** The same answer, broken off after so many bytes, with the length of the whole still announced. */
function cut(response: Response, afterBytes: number): Response {
  if (response.body === null) return response;
  let left = afterBytes;
  const body = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        if (chunk.length < left) {
          left -= chunk.length;
          controller.enqueue(chunk);
          return;
        }
        controller.enqueue(chunk.subarray(0, left));
        controller.error(new TransportError('maybe-sent', 'ECONNRESET', 'connection broke in mid-body'));
      },
    }),
  );
  return new Response(body, { status: response.status, headers: response.headers });
}

export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

export function jsonResponse(body: Json, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  });
}
