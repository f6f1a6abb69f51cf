import type { JsonObject } from '../../kernel/index.ts';
import type { Services } from './services.ts';
import type { LiveAttempt } from './types.ts';
import { whileAway } from './read-again.ts';

/** Stands for a request that lies on disk only. Known by its identity. */
const onDisk: JsonObject = Object.freeze({});

/**
 * While a vendor works on a task, its handle is all that is asked for: the prepared request (a prompt may be long) and
 * the reservation are let go, and read back before anything is written. Thousands of tasks wait at a time.
 */
export function setAside(live: LiveAttempt): void {
  if (live.record.state !== 'accepted' || live.record.request === onDisk) return;
  live.record = { ...live.record, request: onDisk };
  live.charge = undefined;
}

/** Before the attempt is written, or its request is needed. The charge is read by whoever settles it. */
export async function readBack(services: Services, live: LiveAttempt): Promise<void> {
  if (live.record.request !== onDisk) return;
  const stored = await whileAway(services, async () => await services.deps.store.attempt(live.record.id));
  if (stored === undefined) throw new Error(`attempt ${live.record.id} is not in the store`);
  live.record = { ...live.record, request: stored.request };
}
