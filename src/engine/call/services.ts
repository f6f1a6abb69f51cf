import type { Adapter } from '../../contract/index.ts';
import type { EngineDeps } from '../deps.ts';
import type { Breakers } from '../policy/breaker.ts';
import type { Budgets } from '../policy/budget.ts';
import type { Gates } from '../policy/gates.ts';
import type { Pricer } from '../policy/pricing.ts';
import type { Timers } from '../worker/timers.ts';
import type { LiveAttempt, SkillCall } from './types.ts';

/** What all calls of one engine share. */
export interface Services {
  readonly deps: EngineDeps;
  readonly timers: Timers;
  readonly gates: Gates;
  readonly breakers: Breakers;
  readonly budgets: Budgets;
  readonly pricer: Pricer;
  /** Aborts when the engine gives up waiting for what is under way. */
  readonly signal: AbortSignal;
  isPaused(): boolean;
  /** True once nothing new may be begun. */
  isStopping(): boolean;
  /** Calls that wait for `resume`. */
  readonly pausedCalls: Set<SkillCall>;
  /** Calls that wait for a paused provider. */
  readonly providerWaiters: Set<SkillCall>;
  readonly watcher: Watcher;
  /** Takes a call as far as it goes now. */
  readonly advance: (call: SkillCall) => void;
  adapter(provider: string, implementation: string): Adapter | undefined;
  /** Counts work that a drain waits for. */
  track(work: Promise<unknown>): Promise<void>;
  /** Handles in the side file that the store has not taken yet. */
  readonly beside: { count: number };
  /** Budget limits already warned of: `agent name day`. */
  readonly warned: Set<string>;
}

/** Looks after tasks at vendors: polls the accepted, asks after the lost, until each is settled. */
export interface Watcher {
  /** `call` is told when the attempt has moved; without one its execution is over. */
  watch(attempt: LiveAttempt, call: SkillCall | undefined): void;
  /** The call is over; the attempt is watched on for its bill. */
  orphan(attempt: LiveAttempt): void;
  /** Looks at once: a person gave a handle. */
  hurry(attempt: LiveAttempt): void;
  forget(attempt: LiveAttempt): void;
  readonly size: number;
}
