import type { Clock } from '../../kernel/index.ts';
import { parseDuration } from '../../kernel/index.ts';

/** Whoever waits for room; `go` is called once, with the room already taken. */
export interface Waiter {
  go(): void;
}

/**
 * Counted room by name: how many calls may be open at a provider or a model, how many nodes of an agent may run. A name
 * without a limit has room for all. Several names are taken together or not at all; waiters are served in order, but one
 * that waits for a full name does not stop others behind it.
 */
export interface Gates {
  /** Takes room under all names and returns true, or queues the waiter. */
  enter(names: readonly string[], waiter: Waiter): boolean;
  /** Takes room whatever the limit: a task that is running at the vendor already. */
  force(names: readonly string[]): void;
  leave(names: readonly string[]): void;
  /** Forgets a waiter. */
  withdraw(waiter: Waiter): void;
  /** Looks again who may go: after time has passed, for names with a rate. */
  serve(): void;
  nextRateAt(): number | undefined;
}

export interface GateLimits {
  concurrency(name: string): number | undefined;
  /** `20/10s` → at most 20 entries in 10,000 ms. */
  rate(name: string): { readonly count: number; readonly perMs: number } | undefined;
}

export function createGates(limits: GateLimits, clock: Clock): Gates {
  const taken = new Map<string, number>();
  const entries = new Map<string, number[]>();
  const queue = new Map<Waiter, readonly string[]>();
  const hasRate = (name: string): boolean => {
    const rate = limits.rate(name);
    if (rate === undefined) return true;
    const times = entries.get(name) ?? [];
    const since = clock.monotonicMs() - rate.perMs;
    while (times.length > 0 && (times[0] ?? 0) <= since) times.shift();
    return times.length < rate.count;
  };
  const hasRoom = (name: string): boolean =>
    (taken.get(name) ?? 0) < (limits.concurrency(name) ?? Number.POSITIVE_INFINITY) && hasRate(name);
  const take = (names: readonly string[]): void => {
    for (const name of names) {
      taken.set(name, (taken.get(name) ?? 0) + 1);
      if (limits.rate(name) === undefined) continue;
      const times = entries.get(name);
      if (times === undefined) entries.set(name, [clock.monotonicMs()]);
      else times.push(clock.monotonicMs());
    }
  };
  const serve = (): void => {
    const full = new Set<string>();
    for (const [waiter, names] of queue) {
      if (names.some((name) => full.has(name))) continue;
      const blocked = names.find((name) => !hasRoom(name));
      if (blocked !== undefined) {
        full.add(blocked);
        continue;
      }
      queue.delete(waiter);
      take(names);
      waiter.go();
    }
  };
  return {
    enter: (names, waiter) => {
      const isBehind = [...queue.values()].some((waiting) => waiting.some((name) => names.includes(name)));
      if (!isBehind && names.every(hasRoom)) {
        take(names);
        return true;
      }
      queue.set(waiter, names);
      return false;
    },
    force: take,
    leave: (names) => {
      for (const name of names) {
        const left = (taken.get(name) ?? 1) - 1;
        if (left <= 0) taken.delete(name);
        else taken.set(name, left);
      }
      if (queue.size > 0) serve();
    },
    withdraw: (waiter) => {
      queue.delete(waiter);
    },
    serve,
    nextRateAt: () => {
      let next: number | undefined;
      for (const names of queue.values()) {
        for (const name of names) {
          const rate = limits.rate(name);
          const first = entries.get(name)?.[0];
          if (rate === undefined || first === undefined || hasRate(name)) continue;
          next = Math.min(next ?? Number.POSITIVE_INFINITY, first + rate.perMs);
        }
      }
      return next;
    },
  };
}

/** Reads `20/10s`. */
export function parseRate(text: string): { readonly count: number; readonly perMs: number } | undefined {
  const [count = '', per = ''] = text.split('/');
  const perMs = parseDuration(per);
  return /^\d+$/.test(count) && perMs.ok && perMs.value > 0 ? { count: Number(count), perMs: perMs.value } : undefined;
}
