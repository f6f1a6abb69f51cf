import type { Store } from '../../engine/ports/index.ts';
import { type Clock, endOfTurn, type Logger, nextTurn } from '../../kernel/index.ts';
import { createDecoder, type Decoder } from '../shared/decode.ts';
import { createCommitGroup } from '../shared/group.ts';
import { createListeners } from '../shared/listeners.ts';
import { createReads } from '../shared/reads.ts';
import { numberOf, type Row, type RunQuery } from '../shared/rows.ts';
import { asStorageError, type Connection, openDatabase } from './open.ts';
import { type Param, plainPlaces, readPlace } from './places.ts';
import { repairUnknownWords } from './repair.ts';
import { createWatch, type Tails } from './watch.ts';
import { createBatchWriter } from './writer.ts';

export interface SqliteStoreOptions {
  /** A file in a folder that exists, or `:memory:`. */
  readonly path: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /**
   * When a group of commits leaves. `next-turn` (default on disk) lets the loop breathe between groups; `end-of-turn`
   * (default in memory) needs no macrotask, so that a simulated world settles by itself.
   */
  readonly leave?: 'next-turn' | 'end-of-turn';
  /** How long a write waits for the command line's write beside it. Default 5 s. */
  readonly busyTimeoutMs?: number;
  /** How often the file is looked at for commands from beside, while somebody listens. Default 250 ms. */
  readonly watchIntervalMs?: number;
  /** Largest size of the file in pages of 4 KiB; lets tests fill the disk. */
  readonly maxPages?: number;
  /** Added to each sync of the disk; lets tests and measurements have a slow one. */
  readonly slowSyncMs?: number;
  /** Hears how many lists shared each transaction, in the order of their commits; for measurements. */
  readonly onGroup?: (lists: number) => void;
}

/**
 * The store of one worker: SQLite, written on the calling thread. Throws a StorageError when the file cannot be used.
 * The command line opens the same file beside the worker.
 */
export function createSqliteStore(options: SqliteStoreOptions): Store {
  const connection = openDatabase({ busyTimeoutMs: 5_000, ...options }, (opened) => {
    repairUnknownWords(opened, options.logger);
  });
  const writer = createBatchWriter(connection, options.slowSyncMs);
  return assembleStore(options, connection, {
    write: (lists) => Promise.resolve(writer.write(lists)),
    sendControl: (at, value) => Promise.resolve(writer.sendControl(at, value)),
    close: () => Promise.resolve(),
  });
}

/** Where the writes go: this thread, or another one. */
export interface WriteSide {
  write: Parameters<typeof createCommitGroup>[0]['write'];
  readonly sendControl: (at: number, value: string) => Promise<number>;
  close(): Promise<void>;
  /** See CommitGroupOptions. */
  readonly settledPerTurn?: number;
  /** See CommitGroupOptions. */
  readonly mostUnderWay?: () => number;
}

/** Puts the port together from a connection for reads and a side for writes. */
export function assembleStore(options: SqliteStoreOptions, connection: Connection, side: WriteSide): Store {
  const { clock, logger } = options;
  const decoder = createDecoder(logger);
  const run = createRun(connection);
  const appended = createListeners(logger);
  const controlled = createListeners(logger);
  const leave = options.leave ?? (options.path === ':memory:' ? 'end-of-turn' : 'next-turn');
  const group = createCommitGroup({
    // A writer beside the loop takes it from there: the loop breathes anyway, and need not hold the group back.
    schedule: (go) => (leave === 'end-of-turn' || (side.mostUnderWay?.() ?? 1) > 1 ? endOfTurn : nextTurn)(go),
    write: (lists) => {
      options.onGroup?.(lists.length);
      return side.write(lists);
    },
    onAppended: appended.tell,
    ...(side.settledPerTurn === undefined ? {} : { settledPerTurn: side.settledPerTurn }),
    ...(side.mostUnderWay === undefined ? {} : { mostUnderWay: side.mostUnderWay }),
  });
  const watch = createWatch({
    clock,
    intervalMs: options.watchIntervalMs ?? 250,
    logger,
    readVersion: () => Number(connection.pragma('data_version', { simple: true })),
    readTails: () => readTails(connection),
    onEvents: appended.tell,
    onControls: controlled.tell,
  });
  let isClosed = false;
  return {
    commit: group.commit,
    ...createReads(run, decoder),
    ...controlReads(run, decoder),
    sendControl: async (value) => {
      try {
        const seq = await side.sendControl(clock.nowMs(), JSON.stringify(value));
        controlled.tell();
        return seq;
      } catch (error) {
        throw asStorageError(error, 'cannot leave a command for the worker');
      }
    },
    onAppend: appended.add,
    onControl: (listener) => {
      const remove = controlled.add(listener);
      if (options.path !== ':memory:') watch.start();
      return () => {
        remove();
        if (controlled.count === 0) watch.stop();
      };
    },
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      watch.stop();
      await group.close();
      await side.close();
      connection.close();
    },
  };
}

/** Reads as the shared queries want them; each SQL text is prepared once. */
function createRun(connection: Connection): RunQuery {
  const prepare = createPreparer(connection);
  return (sql, params) => {
    try {
      return Promise.resolve(prepare(sql)(params));
    } catch (error) {
      return Promise.reject(asStorageError(error, 'cannot read the database'));
    }
  };
}

type Select = (params: readonly Param[]) => readonly Row[];

function createPreparer(connection: Connection): (text: string) => Select {
  const prepared = new Map<string, Select>();
  return (text) => {
    const known = prepared.get(text);
    if (known !== undefined) return known;
    const { sql, order } = plainPlaces(text, readPlace);
    const statement = connection.prepare<unknown[], Row>(sql);
    const select: Select = (params) => statement.all(...(order === undefined ? params : order(params)));
    prepared.set(text, select);
    return select;
  };
}

function controlReads(run: RunQuery, decoder: Decoder): Pick<Store, 'takeControls'> {
  let lastTaken = 0;
  return {
    takeControls: async () => {
      const rows = await run('SELECT * FROM controls WHERE seq > ?1 ORDER BY seq LIMIT 100', [lastTaken]);
      const records = rows.map(decoder.control);
      lastTaken = records.at(-1)?.seq ?? lastTaken;
      return records;
    },
  };
}

function readTails(connection: Connection): Tails {
  const rows = connection.prepare<unknown[], Row>(
    `SELECT (SELECT COALESCE(MAX(seq), 0) FROM events) AS event,
      (SELECT COALESCE(MAX(seq), 0) FROM sqlite_sequence WHERE name = 'controls') AS control`,
  );
  const row = rows.get() ?? {};
  return { lastEvent: numberOf(row, 'event'), lastControl: numberOf(row, 'control') };
}
