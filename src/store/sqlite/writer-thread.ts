import { parentPort, workerData } from 'node:worker_threads';
import { type Crossing, unpack } from './crossing.ts';
import { openReader } from './open.ts';
import { createBatchWriter, type ListOutcome } from './writer.ts';

/** The thread's end of `threaded-store.ts`: one connection, one message one transaction, answers in order. */
export type WriterRequest =
  | { readonly kind: 'write'; readonly packed: Crossing }
  | { readonly kind: 'send-control'; readonly at: number; readonly value: string }
  | { readonly kind: 'close' };
export type WriterAnswer =
  /** With the outcome of each list that was not. */
  | { readonly kind: 'written'; readonly unwritten: readonly (readonly [index: number, outcome: ListOutcome])[] }
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
      if (request.kind === 'write') {
        const outcomes = writer.write(unpack(request.packed));
        const indexed = outcomes.map((outcome, index) => [index, outcome] as const);
        answer({ kind: 'written', unwritten: indexed.filter(([, { kind }]) => kind !== 'written') });
      } else if (request.kind === 'send-control') {
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
