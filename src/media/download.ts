import type { Failure } from '../contract/index.ts';
import { type Clock, deadline, type Fetch, TransportError } from '../kernel/index.ts';
import { orAborted, parseRetryAfter, redactUrl } from '../providers/http/index.ts';
import { readPieces } from './read-pieces.ts';

/** Why a download did not go on, with what is needed to decide about the next try. */
export class DownloadError extends Error {
  override readonly name = 'DownloadError';
  readonly code: string;
  /** Trying again cannot help. */
  readonly isFinal: boolean;
  /** 403, 404 or 410: the address may have run out. */
  readonly isRefusedLink: boolean;
  readonly httpStatus: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly failure: Failure | undefined;

  constructor(
    code: string,
    message: string,
    facts: {
      readonly isFinal?: boolean;
      readonly httpStatus?: number;
      readonly retryAfterMs?: number | undefined;
      readonly failure?: Failure;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: facts.cause });
    this.code = code;
    this.isFinal = facts.isFinal ?? false;
    this.isRefusedLink = [403, 404, 410].includes(facts.httpStatus ?? 0);
    this.httpStatus = facts.httpStatus;
    this.retryAfterMs = facts.retryAfterMs;
    this.failure = facts.failure;
  }
}

export interface DownloadDeps {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly settings: { readonly attempts: number; readonly idleMs: number; readonly connectMs: number };
}

export interface Download {
  readonly expectedBytes: number | undefined;
  readonly chunks: AsyncIterable<Uint8Array>;
  cancel(): void;
}

const maxRedirects = 5;
/** However much progress each try makes, a file is not asked for more often than this. */
const maxResumes = 50;

/** Opens the address by a plain GET (no HEAD, no credentials) and follows redirects by hand, each checked by the door. */
export async function openDownload(deps: DownloadDeps, url: string, signal: AbortSignal): Promise<Download> {
  const response = await get(deps, url, {}, signal);
  if (response.status !== 200) throw refusal(response, url, deps.clock.nowMs());
  const length = response.headers.get('content-length');
  const expectedBytes = length !== null && /^\d+$/.test(length) ? Number(length) : undefined;
  return {
    expectedBytes,
    chunks: readResuming(deps, url, response, signal),
    cancel: () => {
      discard(response);
    },
  };
}

async function get(
  deps: DownloadDeps,
  url: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Response> {
  let target = url;
  for (let hop = 0; hop <= maxRedirects; hop += 1) {
    const response = await getOnce(deps, target, headers, signal);
    if (![301, 302, 303, 307, 308].includes(response.status)) return response;
    discard(response);
    const location = response.headers.get('location');
    const next = location === null ? null : URL.parse(location, target);
    if (next === null || !/^https?:$/.test(next.protocol)) {
      throw new DownloadError('redirect', `redirect to nowhere from ${redactUrl(target)}`, {
        httpStatus: response.status,
      });
    }
    target = /^https?:\/\//i.test(location ?? '') ? (location ?? '') : next.href;
  }
  throw new DownloadError('redirects', `more than ${maxRedirects} redirects from ${redactUrl(url)}`, { isFinal: true });
}

async function getOnce(
  deps: DownloadDeps,
  url: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Response> {
  const { idleMs, connectMs } = deps.settings;
  const limit = deadline(deps.clock, idleMs, signal);
  // The request's own signal outlives the limit: the body is read later, with a limit for each piece.
  const request = new AbortController();
  const both = AbortSignal.any([signal, request.signal]);
  try {
    const init = { method: 'GET', headers, purpose: 'download', signal: both, connectTimeoutMs: connectMs } as const;
    return await orAborted(deps.fetch(url, init), limit.signal);
  } catch (error) {
    request.abort();
    throw toDownloadError(error, signal, idleMs);
  } finally {
    limit.release();
  }
}

/** The bytes of a file; when the connection breaks or falls silent, the rest is asked for if the host offers ranges. */
async function* readResuming(
  deps: DownloadDeps,
  url: string,
  first: Response,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let response = first;
  let receivedBytes = 0;
  let fruitless = 0;
  for (let resumes = 0; ; resumes += 1) {
    const beforeBytes = receivedBytes;
    try {
      for await (const chunk of readPieces(response, deps.clock, deps.settings.idleMs, signal)) {
        receivedBytes += chunk.byteLength;
        yield chunk;
      }
      return;
    } catch (error) {
      const broken = toDownloadError(error, signal, deps.settings.idleMs);
      fruitless = receivedBytes > beforeBytes ? 0 : fruitless + 1;
      const range = rangeOf(first, receivedBytes);
      if (range === undefined || fruitless >= deps.settings.attempts || resumes >= maxResumes) throw broken;
      response = await get(deps, url, range, signal);
      const isRest = response.status === 206 && startsAt(response, receivedBytes);
      if (!isRest) {
        discard(response);
        throw broken;
      }
    }
  }
}

/** Going on is only safe when the host can tell whether the file is still the same one. */
function rangeOf(first: Response, receivedBytes: number): Record<string, string> | undefined {
  const etag = first.headers.get('etag');
  const validator = etag !== null && !etag.startsWith('W/') ? etag : first.headers.get('last-modified');
  const offersRanges = first.headers.get('accept-ranges')?.trim().toLowerCase() === 'bytes';
  if (!offersRanges || validator === null || receivedBytes === 0) return undefined;
  return { range: `bytes=${receivedBytes}-`, 'if-range': validator };
}

function startsAt(response: Response, offset: number): boolean {
  return response.headers.get('content-range')?.trim().startsWith(`bytes ${offset}-`) === true;
}

/** Lets go of a body that nobody reads; its end is not waited for. */
function discard(response: Response): void {
  response.body?.cancel().catch(() => undefined);
}

function refusal(response: Response, url: string, nowMs: number): DownloadError {
  discard(response);
  const { status } = response;
  const mayPass = status >= 500 || [403, 404, 408, 409, 425, 429].includes(status);
  return new DownloadError(`HTTP_${status}`, `HTTP ${status} for ${redactUrl(url)}`, {
    isFinal: !mayPass,
    httpStatus: status,
    retryAfterMs: parseRetryAfter(response.headers.get('retry-after'), nowMs),
  });
}

function toDownloadError(error: unknown, signal: AbortSignal, idleMs: number): DownloadError {
  signal.throwIfAborted();
  if (error instanceof DownloadError) return error;
  if (error instanceof TransportError) {
    const isFinal = error.code === 'BLOCKED_ADDRESS' || error.code === 'BAD_URL';
    return new DownloadError(error.code, error.message, { isFinal, cause: error });
  }
  if (error instanceof Error && error.name === 'AbortedError') {
    return new DownloadError('IDLE', `no byte for ${idleMs} ms`, { cause: error });
  }
  return new DownloadError('BROKEN', error instanceof Error ? error.message : String(error), { cause: error });
}
