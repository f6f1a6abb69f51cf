import type { Artifact, Failure, RemoteMedia } from '../contract/index.ts';
import type { Collector } from '../engine/ports/index.ts';
import { type Clock, fail, type Fetch, type Logger, ok, type Result, sleep } from '../kernel/index.ts';
import { redactUrl } from '../providers/http/index.ts';
import { DownloadError, openDownload } from './download.ts';
import { probeFilm } from './probe-film.ts';
import type { Spool } from './spool.ts';

interface CollectorSettings {
  /** Tries of one transfer, the first included (`transfer.attempts`); a try that brought bytes does not count. */
  readonly attempts: number;
  /** Wait before the next try (`transfer.delay`). */
  readonly delayMs: number;
  /** No byte for so long ends a try (`timeouts.transfer_idle`). */
  readonly idleMs: number;
  /** `timeouts.connect`. */
  readonly connectMs: number;
  readonly maxBytes: number;
}

interface CollectorDeps {
  readonly fetch: Fetch;
  readonly spool: Spool;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: CollectorSettings;
  /**
   * Asks the vendor for a fresh address of its own file when the one we have is refused (kie: good for 20 minutes, so it
   * is asked for right before use). Undefined: there is none.
   */
  readonly freshLink?: (url: string, signal: AbortSignal) => Promise<string | undefined>;
}

/** A `Retry-After` of a file host is followed up to here; longer is left to the next transfer. */
const longestWaitMs = 60_000;

/**
 * Moves a vendor's result into the spool. One unit with its own tries: what was bought is never bought again because a
 * download failed. A try that breaks off goes on where it stopped if the host offers ranges.
 */
export function createCollector(deps: CollectorDeps): Collector {
  return {
    holds: async (artifact) => await deps.spool.has(artifact.hash),
    collect: async (remote, nameHint, signal) => {
      let url = remote.url;
      let last: DownloadError | undefined;
      let isFresh = false;
      for (let attempt = 1; attempt <= deps.settings.attempts; attempt += 1) {
        if (last !== undefined) await sleep(deps.clock, waitBefore(last, deps.settings), signal);
        const result = await tryOnce(deps, remote, url, nameHint, signal);
        if (result.ok) return ok(await withFacts(deps, result.value));
        last = result.failure;
        deps.logger.warn('transfer try failed', { url: redactUrl(url), attempt, code: last.code });
        if (last.isFinal) break;
        if (last.isRefusedLink && !isFresh) {
          isFresh = true;
          const fresh = await freshAddress(deps, remote.url, signal);
          if (fresh !== undefined) url = fresh;
        }
      }
      return fail(toFailure(last, remote, deps.clock.nowMs()));
    },
  };
}

async function tryOnce(
  deps: CollectorDeps,
  remote: RemoteMedia,
  url: string,
  nameHint: string,
  signal: AbortSignal,
): Promise<Result<Artifact, DownloadError>> {
  try {
    const download = await openDownload(deps, url, signal);
    const { maxBytes } = deps.settings;
    const { expectedBytes } = download;
    if (expectedBytes !== undefined && expectedBytes > maxBytes) {
      download.cancel();
      return fail(
        new DownloadError('content.too-large', `${expectedBytes} bytes, more than transfer.max_bytes`, {
          isFinal: true,
        }),
      );
    }
    const stored = await deps.spool.store(
      download.chunks,
      { nameHint, maxBytes, expect: remote.media, ...(expectedBytes === undefined ? {} : { expectedBytes }) },
      signal,
    );
    if (stored.ok) return stored;
    const isFinal = stored.failure.kind === 'storage' || stored.failure.code === 'content.too-large';
    return fail(new DownloadError(stored.failure.code, stored.failure.message, { isFinal, failure: stored.failure }));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof DownloadError) return fail(error);
    throw error;
  }
}

/** A film says how long it is and whether it sounds; one that does not is a film all the same. */
async function withFacts(deps: CollectorDeps, artifact: Artifact): Promise<Artifact> {
  if (artifact.mime !== 'video/mp4' && artifact.mime !== 'video/quicktime') return artifact;
  try {
    const film = await probeFilm(deps.spool, artifact);
    return film === undefined ? artifact : { ...artifact, film };
  } catch (error) {
    deps.logger.warn('a film could not be looked into', { name: artifact.name, error: String(error) });
    return artifact;
  }
}

async function freshAddress(deps: CollectorDeps, url: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    return await deps.freshLink?.(url, signal);
  } catch (error) {
    signal.throwIfAborted();
    deps.logger.warn('no fresh link', { url: redactUrl(url), error: String(error) });
    return undefined;
  }
}

function waitBefore(last: DownloadError, settings: CollectorSettings): number {
  return Math.min(longestWaitMs, Math.max(settings.delayMs, last.retryAfterMs ?? 0));
}

/**
 * 403, 404 and 410 mean "expired" only when the address may have run out; while it must still be good they are a transfer
 * failure, so that nobody buys again what lies ready.
 */
function toFailure(error: DownloadError | undefined, remote: RemoteMedia, nowMs: number): Failure {
  if (error === undefined) return { kind: 'transfer', code: 'none', message: 'no try was allowed' };
  if (error.failure !== undefined) return error.failure;
  const mayHaveRunOut = remote.expiresAt === undefined || nowMs >= remote.expiresAt || error.httpStatus === 410;
  return {
    kind: error.isRefusedLink && mayHaveRunOut ? 'expired' : 'transfer',
    code: error.code,
    message: error.message,
    ...(error.httpStatus === undefined ? {} : { httpStatus: error.httpStatus }),
    evidence: { url: redactUrl(remote.url) },
  };
}
