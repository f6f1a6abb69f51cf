import { type Clock, deadline, type Logger } from '../kernel/index.ts';
import type { Alerter } from './alert.ts';

export interface Watchdog {
  /** The main loop calls this at the end of each tick that went through. */
  tickFinished(): void;
  /** Milliseconds since the last finished tick (or since the start). */
  sinceTickMs(): number;
  /** The worst lateness of this timer in the last minute: the lag of the event loop. */
  lagMs(): number;
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
const lagWindowMs = 60_000;

/**
 * A timer of its own that watches the main loop: no finished tick in three intervals means that the loop hangs without
 * throwing. It alerts, and ends the process whether the alert went out or not. It runs on monotonic time, so neither a
 * jump of the wall clock nor a sleeping machine sets it off. Its own lateness measures the lag of the event loop.
 */
export function createWatchdog(deps: WatchdogDeps): Watchdog {
  let lastTickMs = deps.clock.monotonicMs();
  let cancel: (() => void) | undefined;
  let isDead = false;
  let lags: number[] = [];
  const stepMs = Math.min(1_000, deps.intervalMs);

  const look = (dueMs: number): void => {
    const nowMs = deps.clock.monotonicMs();
    const lateMs = nowMs - dueMs;
    lags = [...lags, lateMs].slice(-Math.ceil(lagWindowMs / stepMs));
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
    lagMs: () => Math.max(0, ...lags),
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
