import type { Store } from '../../engine/ports/index.ts';
import type { Clock, ExecutionId } from '../../kernel/index.ts';
import type { ConnectOptions } from './connect.ts';
import { createDispatcher, type Dispatcher } from './dispatcher.ts';
import { createWorkerPresence, type WorkerPresence } from './presence.ts';
import { createPostgresStore } from './store.ts';

/** What a worker among several is made of, opened in the order that it needs. */
export interface SharedWorker {
  readonly store: Store;
  /** Its sign of life; `isGone` is what the engine asks before it takes an execution up. */
  readonly presence: WorkerPresence;
  /** From now on takes up what it is told to, and hands on what workers that are gone had; `isGone`: in whose judgement. */
  readonly startDispatching: (
    takeUp: (id: ExecutionId) => Promise<void>,
    isGone?: (owner: string) => Promise<boolean>,
  ) => Promise<void>;
  readonly close: () => Promise<void>;
}

/**
 * Opens the shared database for a worker: sign of life, dispatcher, and a store whose new executions are announced in the
 * transaction that creates them. `owner` names this process; two that live under one name are refused.
 */
export async function openSharedWorker(
  options: ConnectOptions & { readonly clock: Clock; readonly owner: string },
): Promise<SharedWorker> {
  let onCreated: Dispatcher['onCreated'] = () => Promise.resolve();
  // First of all: a schema that is not ours to use refuses before anything else is begun.
  const store = await createPostgresStore({ ...options, onCreated: (ids, client) => onCreated(ids, client) });
  const presence = await createWorkerPresence(options).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
  let takeUp: (id: ExecutionId) => Promise<void> = () => Promise.resolve();
  let isGone = presence.isGone;
  const dispatcher = await createDispatcher({
    ...options,
    isGone: (owner) => isGone(owner),
    takeUp: (id) => takeUp(id),
  }).catch(async (error: unknown) => {
    await presence.close();
    await store.close();
    throw error;
  });
  onCreated = dispatcher.onCreated;
  return {
    store,
    presence,
    startDispatching: async (engineTakesUp, judge = presence.isGone) => {
      takeUp = engineTakesUp;
      isGone = judge;
      await dispatcher.start();
    },
    close: async () => {
      await dispatcher.stop();
      await store.close();
      await presence.close();
    },
  };
}
