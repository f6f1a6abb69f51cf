import { sweepUnfinished, type TakeUp } from './take-up.ts';
import type { Timed } from './timers.ts';

const sweepMs = 5_000;
const tickMs = 1_000;
const billsMs = 60_000;

/**
 * The engine's own clockwork: rates at the gates, slow writes, and the sweep for executions that nobody drives. It ticks
 * once a second while something runs (`wake` says that something does), and by itself only for the sweep.
 */
export function createTicks(
  takeUp: TakeUp,
  /** With peers: called once a second, with the number of the look. */
  lookBeside: (looks: number) => Promise<void>,
  /** Once a minute: bills that came after their results. */
  askForBills: () => Promise<void>,
): { start(): void; stop(): void; wake(): void; isRunning(): boolean } {
  const { services, runs } = takeUp;
  const { clock } = services.deps;
  let isRunning = false;
  let isSweeping = false;
  let isLooking = false;
  let isAsking = false;
  let sweptAtMs = 0;
  let askedAtMs = 0;
  let looks = 0;
  /** Nothing is written, nothing waits at a gate: every second there is only the sweep to wait for. */
  const isIdle = (): boolean => runs.size === 0 && services.deps.peers === undefined;
  const look = async (): Promise<void> => {
    isLooking = true;
    try {
      looks += 1;
      await lookBeside(looks);
    } finally {
      isLooking = false;
    }
  };
  const sweep = async (): Promise<void> => {
    isSweeping = true;
    try {
      await sweepUnfinished(takeUp);
    } finally {
      isSweeping = false;
    }
  };
  const ask = async (): Promise<void> => {
    isAsking = true;
    try {
      await askForBills();
    } finally {
      isAsking = false;
    }
  };
  const tick: Timed = {
    dueMs: 0,
    slot: -1,
    onDue: () => {
      if (!isRunning) return;
      services.gates.serve();
      for (const run of runs.values()) if (run.journal.hasPending) void services.track(run.journal.write([]));
      const nowMs = clock.monotonicMs();
      if (nowMs - sweptAtMs >= sweepMs && !isSweeping) {
        sweptAtMs = nowMs;
        void services.track(sweep());
      }
      if (nowMs - askedAtMs >= billsMs && !isAsking) {
        askedAtMs = nowMs;
        void services.track(ask());
      }
      if (services.deps.peers !== undefined && !isLooking) void services.track(look());
      services.timers.arm(tick, isIdle() ? sweepMs : tickMs);
    },
  };
  return {
    start: () => {
      isRunning = true;
      sweptAtMs = askedAtMs = clock.monotonicMs();
      services.timers.arm(tick, tickMs);
    },
    stop: () => {
      isRunning = false;
      services.timers.disarm(tick);
    },
    wake: () => {
      if (isRunning && tick.dueMs > clock.monotonicMs() + tickMs) services.timers.arm(tick, tickMs);
    },
    isRunning: () => isRunning,
  };
}
