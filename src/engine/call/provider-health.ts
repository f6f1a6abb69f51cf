import type { Failure } from '../../contract/index.ts';
import type { BreakerChange } from '../policy/breaker.ts';
import { failureData } from './events.ts';
import type { Services } from './services.ts';

/** Tells the log that a provider was paused or is back, and wakes those who wait for it. Never fails its caller. */
export function noteProvider(services: Services, provider: string, change: BreakerChange, failure?: Failure): void {
  if (change === undefined) return;
  const { store, clock, logger } = services.deps;
  const at = clock.nowMs();
  const data =
    change.kind === 'paused'
      ? {
          provider,
          forMs: change.forMs,
          until: at + change.forMs,
          ...(failure === undefined ? {} : { failure: failureData(failure) }),
        }
      : { provider };
  const type = change.kind === 'paused' ? 'provider-paused' : 'provider-resumed';
  logger.warn(type, { provider, kind: failure?.kind });
  store.commit([{ type: 'append-event', event: { at, type, data } }]).catch((error: unknown) => {
    logger.error('cannot write a provider event', { provider, error: String(error) });
  });
  if (change.kind === 'resumed') {
    for (const call of services.providerWaiters) services.timers.arm(call, services.deps.random.next() * 500);
  }
}
