import type { Alerter } from '../monitor/index.ts';
import type { Clock, JsonObject, Logger } from '../kernel/index.ts';
import type { Store } from '../engine/ports/index.ts';
import type { Monitoring } from './monitoring.ts';
import type { Scale } from './scale.ts';

/** What one worker at a time does for all: started when its lease is gained, ended when it is lost, and again. */
export interface Duty {
  start(): Promise<void> | void;
  stop(): Promise<void> | void;
}

/** Keeps the duty with whichever worker holds the lease of its name. `make` gives a fresh one each time. */
export function holdDuty(
  { scale, logger }: { readonly scale: Scale; readonly logger: Logger },
  name: string,
  make: () => Duty,
): { stop(): Promise<void> } {
  let current: Duty | undefined;
  let last: Promise<void> = Promise.resolve();
  // One change after the other: a lease that comes back quickly finds the old duty ended.
  const next = (change: () => Promise<void> | void): Promise<void> => {
    last = last.then(change).catch((error: unknown) => logger.error('a duty failed', { name, error: String(error) }));
    return last;
  };
  const leases = scale.lease([`duty:${name}`], {
    onGained: () => {
      void next(async () => {
        current = make();
        await current.start();
      });
    },
    onLost: async () => {
      await next(async () => {
        await current?.stop();
        current = undefined;
      });
    },
  });
  return { stop: async () => await leases.close() };
}

/**
 * Watching is one worker's at a time: alerts, metrics, balances and the daily summary keep their state and their place in
 * the event log in the store they share. The others tell what they have to say through the log (`notice`), where the one
 * that watches finds it.
 */
export function leaseMonitoring(
  deps: { readonly scale: Scale; readonly store: Store; readonly clock: Clock; readonly logger: Logger },
  make: () => Monitoring,
): Monitoring {
  // Answers what is asked while another worker watches; it is never started.
  const idle = make();
  let watching: Monitoring | undefined;
  let duty: { stop(): Promise<void> } | undefined;
  const now = (): Monitoring => watching ?? idle;
  const tell = async (data: JsonObject): Promise<void> => {
    const event = { at: deps.clock.nowMs(), type: 'notice', data } as const;
    await deps.store.commit([{ type: 'append-event', event }]).catch((error: unknown) => {
      deps.logger.error('an alert could not be stored', { title: data['title'], error: String(error) });
    });
  };
  const alerter: Alerter = {
    alert: async ({ title, text, severity, key }) => {
      const data = { name: key ?? title, title, text, severity, ...(key === undefined ? {} : { key }) };
      await (watching === undefined
        ? tell(data)
        : watching.alerter.alert({ title, text, severity, ...(key === undefined ? {} : { key }) }));
    },
    recover: async (end) => {
      await (watching === undefined ? tell({ name: end.key, ...end, recovered: true }) : watching.alerter.recover(end));
    },
    isRaised: async (key) => await now().alerter.isRaised(key),
    recent: () => now().alerter.recent(),
    raised: () => now().alerter.raised(),
    channels: () => now().alerter.channels(),
    start: () => undefined,
    stop: async () => await Promise.resolve(),
  };
  return {
    alerter,
    get metrics() {
      return now().metrics;
    },
    get patrol() {
      return now().patrol;
    },
    summary: {
      ...idle.summary,
      due: () => watching?.summary.due() ?? Promise.resolve(),
    },
    start: async () => {
      duty = holdDuty(deps, 'watch', () => {
        const mine = make();
        return {
          start: async () => {
            watching = mine;
            await mine.start();
          },
          stop: async () => {
            watching = undefined;
            await mine.stop();
          },
        };
      });
      await Promise.resolve();
    },
    stop: async () => await duty?.stop(),
  };
}
