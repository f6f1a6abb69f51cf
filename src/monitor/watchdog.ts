import type { Clock, Fetch, Logger } from '../kernel/index.ts';
import { deadline } from '../kernel/index.ts';
import type { Alerter } from './alert.ts';

export interface Watchdog {
  /** The main loop calls this at the end of each tick that went through. */
  tickFinished(): void;
  /** Milliseconds since the last finished tick (or since the start). */
  sinceTickMs(): number;
  start(): void;
  stop(): void;
}

export interface WatchdogDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly alerter: Pick<Alerter, 'alert' | 'recover'>;
  /** `poll.interval`. */
  readonly intervalMs: number;
  /** Ends the process; the process manager starts it again. Called once. */
  readonly onDead: () => void;
}

const missedTicks = 3;
const alertLimitMs = 10_000;
/** A timer that fires so late means that the event loop was blocked. */
const lagLimitMs = 2_000;

/**
 * A timer of its own that watches the main loop: no finished tick in three intervals means that the loop hangs without
 * throwing. It alerts, and ends the process whether the alert went out or not. It runs on monotonic time, so neither a
 * jump of the wall clock nor a sleeping machine sets it off. Its own lateness measures the lag of the event loop.
 */
export function createWatchdog(deps: WatchdogDeps): Watchdog {
  let lastTickMs = deps.clock.monotonicMs();
  let cancel: (() => void) | undefined;
  let isDead = false;
  const stepMs = Math.min(1_000, deps.intervalMs);

  const look = (dueMs: number): void => {
    const nowMs = deps.clock.monotonicMs();
    const lateMs = nowMs - dueMs;
    if (lateMs > lagLimitMs) {
      // The loop itself was blocked: what was to tick could not. Count the time from now.
      lastTickMs = Math.max(lastTickMs, nowMs - deps.intervalMs);
      void deps.alerter.alert({
        title: '事件循环卡顿',
        text: `主线程被占用 ${Math.round(lateMs / 100) / 10} 秒，期间所有任务停顿。请检查服务器 CPU、内存和磁盘；反复出现请查看日志。`,
        severity: 'warning',
        key: 'lag',
      });
    }
    if (!isDead && nowMs - lastTickMs > deps.intervalMs * missedTicks) {
      isDead = true;
      void die(nowMs - lastTickMs);
      return;
    }
    arm();
  };
  const die = async (silentMs: number): Promise<void> => {
    deps.logger.error('main loop stalled, ending the process', { silentMs });
    const limit = deadline(deps.clock, alertLimitMs);
    const expired = new Promise<void>((resolve) =>
      limit.signal.addEventListener('abort', () => resolve(), { once: true }),
    );
    const told = deps.alerter.alert({
      title: '主循环停摆，正在重启',
      text: `已 ${Math.round(silentMs / 1_000)} 秒没有完成一轮轮询，进程将退出并由 pm2 拉起；已提交的任务会接着收取，不会重复付费。若反复出现请查看日志。`,
      severity: 'fatal',
    });
    await Promise.race([told, expired]);
    limit.release();
    deps.onDead();
  };
  const arm = (): void => {
    const dueMs = deps.clock.monotonicMs() + stepMs;
    cancel = deps.clock.after(stepMs, () => {
      look(dueMs);
    });
  };
  return {
    tickFinished: () => {
      lastTickMs = deps.clock.monotonicMs();
    },
    sinceTickMs: () => deps.clock.monotonicMs() - lastTickMs,
    start: () => {
      lastTickMs = deps.clock.monotonicMs();
      arm();
    },
    stop: () => {
      cancel?.();
      isDead = true;
    },
  };
}

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
