import type { Store } from '../engine/ports/index.ts';
import { type Clock, executionId, type Logger, type Random, type Secret } from '../kernel/index.ts';
import type { SharedEngine } from '../engine/index.ts';
import {
  type BaseLeases,
  createBaseLeases,
  createProviderSlots,
  type Lease,
  openSharedWorker,
  prunePostgresStore,
} from '../store/index.ts';
import { createPeerWatch, type PeerWatch } from './scale-peers.ts';

/**
 * One worker among several on one PostgreSQL (`DATABASE_URL`). Everything that only several need hangs here; a worker on
 * SQLite has none of it. What each part decides is told where it lives: `scale-peers.ts` who is alive, `scale-tables.ts`
 * who reads and writes which base, `scale-duties.ts` who watches, `scale-files.ts` where files come from.
 */
export interface Scale {
  readonly store: Store;
  readonly peers: PeerWatch;
  /** Takes up what is announced from now on, and what workers that are gone had. */
  startDispatching(engine: SharedEngine): Promise<void>;
  /** Holds its share of the names as long as it lives, and passes them on at its end. */
  lease(names: readonly string[], hold: Hold): BaseLeases;
  /** Forgets details of executions that ended before then. */
  prune(beforeMs: number, signal: AbortSignal): Promise<{ readonly executions: number; readonly events: number }>;
  /** Gives back room at vendors that nobody uses any more. */
  sweepRooms(): Promise<number>;
  /** Closes everything but the store. */
  close(): Promise<void>;
}

export interface Hold {
  /** What only its holder may do goes through the lease. */
  onGained(name: string, lease: Lease): void;
  /** Resolves when nothing is done in its name any more. */
  onLost(name: string): Promise<void>;
}

export interface ScaleOptions {
  readonly databaseUrl: Secret;
  /** This process; another that lives under the same name is refused. */
  readonly owner: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Throws a StorageError in words when the database cannot be used, or is of a newer version. */
export async function openScale(options: ScaleOptions): Promise<Scale> {
  const { clock, logger, owner } = options;
  const connect = { connectionString: options.databaseUrl.reveal(), clock, logger, owner };
  const shared = await openSharedWorker(connect);
  const slots = await createProviderSlots(connect);
  const peers = createPeerWatch({ ...options, ...shared, rooms: slots });
  peers.start();
  return {
    store: shared.store,
    peers,
    startDispatching: async (engine) => {
      await shared.startDispatching(
        async (id) => {
          await engine.takeUp(executionId(id));
        },
        async (other) => await peers.isGone(other),
      );
    },
    lease: (names, hold) =>
      createBaseLeases({
        presence: shared.presence,
        clock,
        logger,
        bases: names,
        onGained: (name, lease) => {
          logger.info('lease gained', { name });
          hold.onGained(name, lease);
        },
        onLost: async (name) => {
          logger.info('lease lost', { name });
          await hold.onLost(name);
        },
      }),
    prune: async (beforeMs, signal) => await prunePostgresStore(connect, beforeMs, signal),
    sweepRooms: async () => await slots.releaseEnded(),
    close: async () => {
      await peers.stop();
      await slots.close();
      await shared.close();
    },
  };
}

const tagCollection = 'scale.instance';

/** The tag that all workers of the installation share: made by the first of them. */
export async function sharedInstanceTag(store: Store, clock: Clock, random: Random): Promise<string> {
  const tag = Array.from(random.bytes(4), (byte) => byte.toString(16).padStart(2, '0')).join('');
  const record = { collection: tagCollection, key: 'tag', value: { tag }, updatedAt: clock.nowMs() };
  await store.commit([{ type: 'put-document', record, ifAbsent: true }]).catch(() => undefined);
  const stored = (await store.document(tagCollection, 'tag'))?.value['tag'];
  return typeof stored === 'string' ? stored : tag;
}
