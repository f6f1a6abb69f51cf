import { Worker } from 'node:worker_threads';
import type { HashAnswer, HashRequest } from './hash-thread.ts';

/** The SHA-256 of a file that is still being written. */
export interface FileHash {
  /** The file holds so many bytes by now. */
  written(bytes: number): void;
  /** The hash of its first `bytes`, which is all of it. Rejects when the thread has failed. */
  finish(bytes: number): Promise<string>;
  /** Lets go of it; harmless after its end. */
  drop(): void;
}

export type FileHasher = (path: string) => FileHash;

/** It keeps one small buffer. */
const resourceLimits = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 16 };

/**
 * Hashes large files in a thread of their own, from what has been written of them: a film of 1 GB costs a second of
 * processor time that the event loop has better use for. The thread begins with the first file and ends with the last
 * one, since it takes 10 MB; while it begins, the file goes on growing, and the thread catches up.
 */
export function createFileHasher(): FileHasher {
  let thread: HashThread | undefined;
  let lastId = 0;
  let openFiles = 0;
  return (path) => {
    thread ??= startThread();
    const mine = thread;
    const id = (lastId += 1);
    let isOpen = true;
    openFiles += 1;
    const end = (): void => {
      if (!isOpen) return;
      isOpen = false;
      openFiles -= 1;
      if (openFiles > 0 || thread !== mine) return;
      thread = undefined;
      mine.end();
    };
    return {
      written: (bytes) => {
        mine.tell({ id, path, writtenBytes: bytes, isWhole: false });
      },
      finish: async (bytes) => {
        try {
          return await mine.ask({ id, path, writtenBytes: bytes, isWhole: true });
        } finally {
          end();
        }
      },
      drop: () => {
        if (isOpen) mine.tell({ id, isDropped: true });
        end();
      },
    };
  };
}

interface HashThread {
  tell(request: HashRequest): void;
  ask(request: HashRequest): Promise<string>;
  end(): void;
}

interface Waiting {
  readonly resolve: (hex: string) => void;
  readonly reject: (error: Error) => void;
}

function startThread(): HashThread {
  const worker = new Worker(new URL('./hash-thread.ts', import.meta.url), { resourceLimits });
  // A transfer keeps the process alive by itself.
  worker.unref();
  const waiting = new Map<number, Waiting>();
  let death: Error | undefined;
  const die = (cause: unknown): void => {
    death ??= new Error('the thread that hashes files has ended', { cause });
    for (const one of waiting.values()) one.reject(death);
    waiting.clear();
  };
  worker.on('message', (answer: HashAnswer) => {
    const one = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ('hex' in answer) one?.resolve(answer.hex);
    else one?.reject(new Error(answer.fault));
  });
  worker.on('error', die);
  worker.on('exit', die);
  return {
    tell: (request) => {
      worker.postMessage(request);
    },
    ask: (request) =>
      new Promise((resolve, reject) => {
        if (death !== undefined) {
          reject(death);
          return;
        }
        waiting.set(request.id, { resolve, reject });
        worker.postMessage(request);
      }),
    end: () => {
      void worker.terminate();
    },
  };
}
