import type { z } from 'zod';
import { type Artifact, type Failure, type RemoteMedia, remoteMediaSchema } from '../contract/index.ts';
import type { Collector, Store } from '../engine/ports/index.ts';
import type { FeishuClient } from '../feishu/index.ts';
import { type Clock, deadline, type JsonObject, type Logger } from '../kernel/index.ts';
import type { Spool } from '../media/index.ts';
import type { Ports } from './ports.ts';

/** How to have a file again that lies in another worker's spool. */
export interface FileSources {
  /** Fetches a vendor's file into this spool. */
  readonly collector: Collector;
  readonly feishu: FeishuClient | undefined;
  /** Bases whose files we may ask for. */
  readonly bases: readonly string[];
}

const originCollection = 'scale.origin';
const bytesCollection = 'scale.bytes';
/** The table side's memory: `<base>/hash/<hash>` → the file's token there. */
const tokenCollection = 'bitable-file';
const fetchLimitMs = 600_000;
/** What code made here (a slide deck, a contact sheet) can be had from nobody: up to this it lies in the database too. */
const mostSharedBytes = 8 * 1024 ** 2;

/**
 * Spools are local, work is not: what one worker downloaded or made, another must upload. This spool fetches a file that it
 * lacks from where it came: the vendor's address (a fresh one where the vendor gives it), the base it was attached to, or
 * the database for small files made by code. Only bytes with the very hash are taken. What nobody has any more is absent,
 * and the row says so.
 */
function createSharedSpool(
  own: Spool,
  deps: { readonly store: Store; readonly clock: Clock; readonly logger: Logger; readonly sources: () => FileSources },
): Spool {
  const { logger } = deps;
  const underWay = new Map<string, Promise<boolean>>();
  const fetchOnce = async (hash: string): Promise<boolean> => {
    const limit = deadline(deps.clock, fetchLimitMs);
    try {
      const found = await fetchAgain(own, deps, hash, limit.signal);
      logger.info(found ? 'a file was fetched again' : 'a file can be had from nobody', { hash });
      return found;
    } catch (error) {
      logger.warn('a file could not be fetched again', { hash, error: String(error) });
      return false;
    } finally {
      limit.release();
    }
  };
  const has = async (hash: string): Promise<boolean> => {
    if (await own.has(hash)) return true;
    const known = underWay.get(hash);
    if (known !== undefined) return await known;
    const fetching = fetchOnce(hash).finally(() => underWay.delete(hash));
    underWay.set(hash, fetching);
    return await fetching;
  };
  const fitPicture = own.fitPicture?.bind(own);
  return {
    ...own,
    has,
    read: async (artifact, signal) => {
      await has(artifact.hash);
      return await own.read(artifact, signal);
    },
    open: (artifact, ...range) => openWhenHere(own, has, artifact, range),
    ...(fitPicture === undefined
      ? {}
      : {
          fitPicture: async (artifact, limits, signal) => {
            await has(artifact.hash);
            return await fitPicture(artifact, limits, signal);
          },
        }),
    keep: async (bytes, nameHint) => {
      const kept = await own.keep(bytes, nameHint);
      if (kept.ok && bytes.byteLength <= mostSharedBytes)
        await put(deps, bytesCollection, kept.value.hash, { base64: Buffer.from(bytes).toString('base64') });
      return kept;
    },
  };
}

/** Where work is shared, files are: the ports with a spool that fetches what it lacks. */
export function shareFiles(ports: Ports, sources: () => FileSources): Ports {
  if (ports.scale === undefined) return ports;
  return { ...ports, spool: createSharedSpool(ports.spool, { ...ports, sources }) };
}

/** Notes where each file came from, before its use is written anywhere. */
export function withOrigins(collector: Collector, deps: { readonly store: Store; readonly clock: Clock }): Collector {
  return {
    ...collector,
    collect: async (remote, nameHint, signal) => {
      const collected = await collector.collect(remote, nameHint, signal);
      if (collected.ok) await put(deps, originCollection, collected.value.hash, { ...remote });
      return collected;
    },
  };
}

async function* openWhenHere(
  own: Spool,
  has: (hash: string) => Promise<boolean>,
  artifact: Artifact,
  range: readonly [offset: number, length: number, memory?: Uint8Array | undefined],
): AsyncIterable<Uint8Array> {
  await has(artifact.hash);
  yield* own.open(artifact, ...range);
}

interface FetchDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly sources: () => FileSources;
}

async function fetchAgain(own: Spool, deps: FetchDeps, hash: string, signal: AbortSignal): Promise<boolean> {
  const { store } = deps;
  const bytes = (await store.document(bytesCollection, hash))?.value['base64'];
  if (typeof bytes === 'string') {
    await own.keep(Buffer.from(bytes, 'base64'), hash);
    return await own.has(hash);
  }
  const origin = remoteMediaSchema.safeParse((await store.document(originCollection, hash))?.value);
  if (origin.success && (await fetchFromVendor(deps, origin.data, hash, signal))) return true;
  return await fetchFromBase(own, deps, hash, signal);
}

async function fetchFromVendor(
  { sources, logger }: FetchDeps,
  remote: z.infer<typeof remoteMediaSchema>,
  hash: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { url, media } = remote;
  const known: RemoteMedia = {
    kind: 'remote',
    url,
    media,
    ...(remote.expiresAt === undefined ? {} : { expiresAt: remote.expiresAt }),
  };
  const collected = await sources().collector.collect(known, hash.slice(0, 8), signal);
  if (collected.ok && collected.value.hash === hash) return true;
  logger.warn('the vendor no longer has the file', { hash, ...(collected.ok ? {} : tell(collected.failure)) });
  return false;
}

async function fetchFromBase(own: Spool, deps: FetchDeps, hash: string, signal: AbortSignal): Promise<boolean> {
  const { feishu, bases } = deps.sources();
  for (const base of bases) {
    const token = (await deps.store.document(tokenCollection, `${base}/hash/${hash}`))?.value['fileToken'];
    if (feishu === undefined || typeof token !== 'string') continue;
    const answer = await feishu.downloadMedia({ fileToken: token }, signal);
    if (!answer.ok) {
      deps.logger.warn('the base does not give the file', { hash, code: answer.failure.code });
      continue;
    }
    await own.store(answer.value, { nameHint: hash.slice(0, 8), maxBytes: Number.MAX_SAFE_INTEGER }, signal);
    if (await own.has(hash)) return true;
  }
  return false;
}

function tell(failure: Failure): JsonObject {
  return { kind: failure.kind, code: failure.code };
}

async function put(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  collection: string,
  key: string,
  value: JsonObject,
): Promise<void> {
  await store.commit([{ type: 'put-document', record: { collection, key, value, updatedAt: clock.nowMs() } }]);
}
