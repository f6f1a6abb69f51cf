import { type Control, controlAnswers } from '../app/reading.ts';
import { createIdSource, createSystemRandom, sleep } from '../kernel/index.ts';
import { type CommandIo, exitCodes } from './command.ts';
import type { OpenData } from './data.ts';

type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never;
/** What may be asked; the id is made here. */
export type Ask = WithoutId<Control>;

/** How it went: the exit code, and the execution that was made. */
export interface WorkerAnswer {
  readonly code: number;
  readonly executionId?: string;
}

const answerLimitMs = 15_000;

/**
 * Leaves an ask for the worker and waits for its answer. The ask is stored, so a worker that is down takes it up at its
 * next start; the caller is told so. `signal` ends the waiting, not the request.
 */
export async function askWorker(
  data: Pick<OpenData, 'store' | 'clock'>,
  io: CommandIo,
  ask: Ask,
  signal?: AbortSignal,
): Promise<WorkerAnswer> {
  const { store, clock } = data;
  const id = createIdSource(clock, createSystemRandom()).uuid();
  await store.sendControl({ ...ask, id });
  const untilMs = clock.monotonicMs() + answerLimitMs;
  while (clock.monotonicMs() < untilMs && signal?.aborted !== true) {
    const answer = (await store.document(controlAnswers, id))?.value;
    if (answer !== undefined) {
      if (answer['ok'] !== true) {
        io.err(typeof answer['message'] === 'string' ? answer['message'] : 'refused');
        return { code: exitCodes.failed };
      }
      const executionId = answer['executionId'];
      return { code: exitCodes.done, ...(typeof executionId === 'string' ? { executionId } : {}) };
    }
    await sleep(clock, 200, signal).catch(() => undefined);
  }
  if (signal?.aborted === true) {
    io.err('not waiting any longer; the request is stored, and the worker does it');
    return { code: exitCodes.failed };
  }
  io.err('no worker answered within 15 s; the request is stored and taken up at the next "npm start"');
  return { code: exitCodes.failed };
}
