import type { Peers, SharedRooms } from '../engine/index.ts';
import type { Store } from '../engine/ports/index.ts';
import { type Clock, type Logger, sleep } from '../kernel/index.ts';
import type { WorkerPresence } from '../store/index.ts';

/** What a worker knows of the others, and what they may know of it. */
export interface PeerWatch extends Peers {
  isGone(owner: string): Promise<boolean>;
  start(): void;
  stop(): Promise<void>;
}

const beatCollection = 'scale.beat';
const beatMs = 1_000;
/** Looks without a new beat until a worker counts as frozen; looks that came late do not count. */
const looksUntilFrozen = 6;
const looksUntilForgotten = 120;
/** A lock is believed to be free when it was so for this long: a lost connection is made again within it. */
const freeForMs = 220;
/** After our own sign of life was lost, nobody is declared gone for so long: the database was away for all. */
const mercyMs = 5_000;

/**
 * Gone: the lock of its session is free, and stays so for a moment. Frozen: it holds its lock and its beats have stopped.
 * Beats are counted, not timed: a counter in the store, looked at once a second by each peer's own clock, so that clocks of
 * different machines are never compared, and one who slept itself draws no conclusion from that.
 */
export function createPeerWatch(deps: {
  readonly store: Store;
  readonly presence: WorkerPresence;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly owner: string;
  readonly rooms: SharedRooms;
}): PeerWatch {
  const { store, presence, clock, logger, owner } = deps;
  const freeSince = new Map<string, number>();
  const asked = new Map<string, { readonly atMs: number; readonly answer: Promise<boolean> }>();
  const beats = new Map<string, { value: number; silentLooks: number }>();
  const closing = new AbortController();
  let running: Promise<void> = Promise.resolve();
  let noVerdictBeforeMs = 0;
  let beat = 0;
  let lastLookMs = Number.NEGATIVE_INFINITY;

  const forgetVerdicts = (): void => {
    noVerdictBeforeMs = clock.monotonicMs() + mercyMs;
    freeSince.clear();
    beats.clear();
  };
  const stopHearing = presence.onLost(forgetVerdicts);
  const ask = async (other: string): Promise<boolean> => {
    if (!presence.isPresent()) {
      forgetVerdicts();
      return false;
    }
    const isFree = await presence.isGone(other);
    const nowMs = clock.monotonicMs();
    if (!isFree || nowMs < noVerdictBeforeMs) {
      freeSince.delete(other);
      return false;
    }
    const since = freeSince.get(other) ?? nowMs;
    freeSince.set(other, since);
    return nowMs - since >= freeForMs;
  };
  const isGone = (other: string): Promise<boolean> => {
    if (other === owner) return Promise.resolve(false);
    const known = asked.get(other);
    // A sweep asks about thousands of executions of a few owners.
    if (known !== undefined && clock.monotonicMs() - known.atMs < freeForMs / 3) return known.answer;
    const answer = ask(other);
    asked.set(other, { atMs: clock.monotonicMs(), answer });
    answer.catch(() => asked.delete(other));
    return answer;
  };
  const look = async (): Promise<void> => {
    beat += 1;
    await store.commit([
      {
        type: 'put-document',
        record: { collection: beatCollection, key: owner, value: { beat }, updatedAt: clock.nowMs() },
      },
    ]);
    const isLate = clock.monotonicMs() - lastLookMs > 3 * beatMs;
    lastLookMs = clock.monotonicMs();
    for (const { key, value } of await store.documents(beatCollection, { limit: 1_000 })) {
      if (key === owner) continue;
      const seen = typeof value['beat'] === 'number' ? value['beat'] : 0;
      const known = beats.get(key);
      if (known === undefined || known.value !== seen || isLate) beats.set(key, { value: seen, silentLooks: 0 });
      else known.silentLooks += 1;
      if (known?.silentLooks === looksUntilFrozen) logger.warn('a worker is silent', { worker: key });
      if ((known?.silentLooks ?? 0) > looksUntilForgotten && (await isGone(key))) {
        beats.delete(key);
        await store.commit([{ type: 'delete-document', collection: beatCollection, key }]);
      }
    }
  };
  const run = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      await look().catch((error: unknown) => logger.warn('peers cannot be looked at now', { error: String(error) }));
      await sleep(clock, beatMs, closing.signal).catch(() => undefined);
    }
  };
  return {
    rooms: deps.rooms,
    isGone,
    isPresent: () => presence.isPresent(),
    isFrozen: (other) => Promise.resolve((beats.get(other)?.silentLooks ?? 0) >= looksUntilFrozen),
    start: () => {
      running = run();
    },
    stop: async () => {
      closing.abort();
      stopHearing();
      await running;
      await store
        .commit([{ type: 'delete-document', collection: beatCollection, key: owner }])
        .catch((error: unknown) => logger.warn('the last beat stays in the store', { error: String(error) }));
    },
  };
}
