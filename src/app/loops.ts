import { controlAnswers, obeyControl } from './control.ts';
import { type Clock, type Logger, sleep } from '../kernel/index.ts';
import { clearRestoredMark } from '../store/index.ts';
import type { House } from './assemble.ts';

/** Goes through the main loop again and again until stopped; a turn never overlaps itself. */
export function createTickLoop(
  house: Pick<House, 'tick'>,
  clock: Clock,
  intervalMs: number,
): { start(): void; stop(): Promise<void> } {
  const stopped = new AbortController();
  let running: Promise<void> = Promise.resolve();
  const go = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await house.tick();
      await sleep(clock, intervalMs, stopped.signal).catch(() => undefined);
    }
  };
  return {
    start: () => {
      running = go();
    },
    stop: async () => {
      stopped.abort();
      await running;
    },
  };
}

/** Takes up what the command line asks beside this worker, and answers it. */
export function createControlLoop(house: House, logger: Logger): { start(): void; stop(): void } {
  const { store, clock } = house.ports;
  let unsubscribe: (() => void) | undefined;
  let isBusy = false;
  const takeUp = async (): Promise<void> => {
    for (const { seq, value } of await store.takeControls()) {
      const answer = await obeyControl(house.engine, value);
      if (value['ask'] === 'resume') await clearRestoredMark(store);
      logger.info('control obeyed', { ask: value['ask'], ok: answer.ok });
      const id = typeof value['id'] === 'string' ? value['id'] : String(seq);
      await store.commit([
        {
          type: 'put-document',
          record: { collection: controlAnswers, key: id, value: toJson(answer), updatedAt: clock.nowMs() },
        },
        { type: 'ack-control', seq },
      ]);
    }
  };
  const look = (): void => {
    if (isBusy) return;
    isBusy = true;
    void takeUp()
      .catch((error: unknown) => logger.error('control failed', { error: String(error) }))
      .finally(() => {
        isBusy = false;
      });
  };
  return {
    start: () => {
      unsubscribe = store.onControl(look);
      look();
    },
    stop: () => unsubscribe?.(),
  };
}

function toJson(answer: Awaited<ReturnType<typeof obeyControl>>): {
  ok: boolean;
  executionId?: string;
  message?: string;
} {
  if (!answer.ok) return { ok: false, message: answer.failure.message };
  return { ok: true, ...(answer.executionId === undefined ? {} : { executionId: answer.executionId }) };
}
