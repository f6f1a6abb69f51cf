import { z } from 'zod';
import type { Store } from '../engine/ports/index.ts';
import type { Clock, Logger } from '../kernel/index.ts';
import type { Alerter } from './alert.ts';
import { createStoredState } from './alert-state.ts';

const stateSchema = z.object({ starts: z.array(z.number()), cleanStop: z.boolean(), alertedCount: z.number() });
type RestartState = z.infer<typeof stateSchema>;

const windowMs = 3_600_000;
/** So many starts without a clean stop before them, within an hour, are a crash loop; told at 10, 20, 40 … */
const crashLoopStarts = 10;
const stableMs = 600_000;

/**
 * Crash loops. Each crash has its own alert, folded across restarts by the alerter; this one says that they add up: one
 * alert at the tenth, and one notice when the worker has then lived for ten minutes.
 */
export function createRestartWatch(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly alerter: Pick<Alerter, 'alert' | 'recover'>;
  /** Which of several that share the store, the same after a restart: each counts its own starts. */
  readonly worker?: string;
}): { noteStart(): Promise<void>; noteCleanStop(): Promise<void>; stop(): void } {
  const { worker } = deps;
  const key = worker === undefined ? 'restarts' : `restarts:${worker}`;
  const who = worker === undefined ? '' : `（${worker}）`;
  const stored = createStoredState<RestartState>(deps, key, stateSchema, () => ({
    starts: [],
    cleanStop: true,
    alertedCount: 0,
  }));
  let cancel: (() => void) | undefined;
  return {
    noteStart: async () => {
      const state = await stored.load();
      const nowMs = deps.clock.nowMs();
      // The first start of a streak is no restart, it is counted only when it follows a crash.
      const starts = state.cleanStop ? [] : [...state.starts.filter((at) => nowMs - at < windowMs), nowMs];
      const due = starts.length >= Math.max(crashLoopStarts, state.alertedCount * 2);
      const alertedCount = starts.length === 0 ? 0 : due ? starts.length : state.alertedCount;
      await stored.save({ starts, cleanStop: false, alertedCount });
      if (due) {
        await deps.alerter.alert({
          title: '进程反复重启',
          text: `一小时内重启 ${starts.length} 次${who}。请查看日志中最后一条 fatal/error；已提交的任务会接着收取，不会重复付费。`,
          severity: 'fatal',
          key,
        });
      }
      cancel = deps.clock.after(stableMs, () => {
        void stored.save({ starts: [], cleanStop: false, alertedCount: 0 });
        void deps.alerter.recover({ key, title: '进程已恢复稳定', text: `已连续运行 10 分钟${who}。` });
      });
    },
    noteCleanStop: async () => {
      cancel?.();
      const state = await stored.load();
      await stored.save({ ...state, cleanStop: true });
    },
    stop: () => cancel?.(),
  };
}
