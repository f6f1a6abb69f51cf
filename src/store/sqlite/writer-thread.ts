import { parentPort, workerData } from 'node:worker_threads';
import type { Operation } from '../shared/encode.ts';
import { openReader } from './open.ts';
import { createBatchWriter, type ListOutcome } from './writer.ts';

/** The thread's end of `threaded-store.ts`: one connection, one message one transaction, answers in order. */
export type WriterRequest =
  | { readonly kind: 'write'; readonly lists: readonly (readonly Operation[])[] }
  | { readonly kind: 'send-control'; readonly at: number; readonly value: string }
  | { readonly kind: 'close' };
export type WriterAnswer =
  | { readonly kind: 'written'; readonly outcomes: readonly ListOutcome[] }
  | { readonly kind: 'control-sent'; readonly seq: number }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'closed' };
export interface WriterThreadData {
  readonly path: string;
  readonly busyTimeoutMs: number;
  readonly maxPages: number | undefined;
  readonly slowSyncMs: number;
}

/** Both ends are this program, so the other end's messages are trusted. */
function serve(data: WriterThreadData): void {
  const { path, busyTimeoutMs, maxPages, slowSyncMs } = data;
  const connection = openReader({ path, busyTimeoutMs, ...(maxPages === undefined ? {} : { maxPages }) });
  const writer = createBatchWriter(connection, slowSyncMs);
  const answer = (message: WriterAnswer): void => {
    parentPort?.postMessage(message);
  };
  parentPort?.on('message', (request: WriterRequest) => {
    try {
      if (request.kind === 'write') answer({ kind: 'written', outcomes: writer.write(request.lists) });
      else if (request.kind === 'send-control') {
        answer({ kind: 'control-sent', seq: writer.sendControl(request.at, request.value) });
      } else {
        connection.close();
        answer({ kind: 'closed' });
        parentPort?.close();
      }
    } catch (error) {
      answer({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
    }
  });
}

// Given by `threaded-store.ts` of this same version.
serve(workerData as WriterThreadData); // eslint-disable-line @typescript-eslint/no-unsafe-type-assertion
