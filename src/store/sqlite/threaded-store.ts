import { Worker } from 'node:worker_threads';
import { StorageError, type Store } from '../../engine/ports/index.ts';
import { pack } from './crossing.ts';
import { openDatabase } from './open.ts';
import { repairUnknownWords } from './repair.ts';
import { assembleStore, type SqliteStoreOptions, type WriteSide } from './store.ts';
import type { ListOutcome } from './writer.ts';
import type { WriterAnswer, WriterRequest, WriterThreadData } from './writer-thread.ts';

/**
 * The same store with its writer in a thread, so that a disk whose fsync takes 10 ms does not stall the event loop. Reads
 * stay here on a connection of their own: write-ahead logging lets them see every commit that has resolved. Must be
 * closed, or the thread keeps the process alive.
 */
export function createThreadedSqliteStore(options: SqliteStoreOptions): Store {
  if (options.path === ':memory:') throw new Error('a database in memory cannot be shared with a thread');
  const connection = openDatabase({ busyTimeoutMs: 5_000, ...options }, (opened) => {
    repairUnknownWords(opened, options.logger);
  });
  return assembleStore(options, connection, createThreadSide(options));
}

/** The thread keeps nothing: a small heap spares the process some 60 MB. */
const resourceLimits = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 128 };

/** What so many callers do next keeps the loop busy for some milliseconds. */
const settledPerTurn = 32;

/** One that is being written, and one that lies ready in the thread's queue. */
export const mostUnderWay = 2;

/** Writes in a thread. */
export function createThreadSide(options: SqliteStoreOptions): WriteSide {
  const data: WriterThreadData = {
    path: options.path,
    busyTimeoutMs: options.busyTimeoutMs ?? 5_000,
    maxPages: options.maxPages,
    slowSyncMs: options.slowSyncMs ?? 0,
  };
  const worker = new Worker(new URL('./writer-thread.ts', import.meta.url), { workerData: data, resourceLimits });
  const ask = createConversation(worker);
  return {
    settledPerTurn,
    mostUnderWay: () => mostUnderWay,
    write: async (lists) => {
      const answer = await ask({ kind: 'write', packed: pack(lists) });
      if (answer.kind === 'written') return outcomesOf(answer, lists.length);
      throw unexpected(answer);
    },
    sendControl: async (at, value) => {
      const answer = await ask({ kind: 'send-control', at, value });
      if (answer.kind === 'control-sent') return answer.seq;
      throw unexpected(answer);
    },
    close: async () => {
      await ask({ kind: 'close' }).catch(() => undefined);
    },
  };
}

const written: ListOutcome = { kind: 'written' };

function outcomesOf({ unwritten }: Extract<WriterAnswer, { kind: 'written' }>, count: number): readonly ListOutcome[] {
  const outcomes = Array.from({ length: count }, () => written);
  for (const [index, outcome] of unwritten) outcomes[index] = outcome;
  return outcomes;
}

/** The thread answers in order, so each answer belongs to the oldest question. A dead thread refuses every question. */
function createConversation(worker: Worker): (request: WriterRequest) => Promise<WriterAnswer> {
  const waiting: { resolve: (answer: WriterAnswer) => void; reject: (error: Error) => void }[] = [];
  let death: StorageError | undefined;
  const die = (cause: unknown): void => {
    death ??= new StorageError('the thread that writes the database has ended', { cause });
    for (const question of waiting.splice(0)) question.reject(death);
  };
  worker.on('message', (answer: WriterAnswer) => waiting.shift()?.resolve(answer));
  worker.on('error', die);
  worker.on('exit', die);
  return (request) =>
    new Promise((resolve, reject) => {
      if (death !== undefined) {
        reject(death);
        return;
      }
      waiting.push({ resolve, reject });
      worker.postMessage(request);
    });
}

function unexpected(answer: WriterAnswer): StorageError {
  return new StorageError(answer.kind === 'failed' ? answer.message : `unexpected answer ${answer.kind}`);
}
