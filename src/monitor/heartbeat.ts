import { type Clock, deadline, type Fetch, type Logger } from '../kernel/index.ts';

export interface HeartbeatDeps {
  readonly clock: Clock;
  readonly fetch: Fetch;
  readonly logger: Logger;
  /** `HEARTBEAT_URL`; it may carry a token, so it is never logged. */
  readonly url: string;
  readonly intervalMs: number;
  /** Called only while this holds: a dead loop must not look alive to the outside. */
  readonly isAlive: () => boolean;
}

const heartbeatLimitMs = 10_000;

/** Calls the operator's dead-man's-switch while the loop lives. What it answers changes nothing here. */
export function createHeartbeat(deps: HeartbeatDeps): { start(): void; stop(): void; beat(): Promise<void> } {
  let cancel: (() => void) | undefined;
  const beat = async (): Promise<void> => {
    if (!deps.isAlive()) return;
    const limit = deadline(deps.clock, heartbeatLimitMs);
    try {
      const response = await deps.fetch(deps.url, { method: 'GET', signal: limit.signal, proxy: 'env' });
      await response.arrayBuffer();
      if (!response.ok) deps.logger.warn('heartbeat refused', { httpStatus: response.status });
    } catch (error) {
      deps.logger.warn('heartbeat not delivered', { error: error instanceof Error ? error.name : 'error' });
    } finally {
      limit.release();
    }
  };
  const arm = (): void => {
    cancel = deps.clock.after(deps.intervalMs, () => {
      void beat().finally(() => {
        if (cancel !== undefined) arm();
      });
    });
  };
  return {
    beat,
    start: arm,
    stop: () => {
      cancel?.();
      cancel = undefined;
    },
  };
}
