import type { Clock } from '../../kernel/index.ts';
import { parseDuration } from '../../kernel/index.ts';

/** Whoever waits for room; `go` is called once, with the room already taken. */
export interface Waiter {
  go(): void;
}

/**
 * Counted room by name: how many calls may be open at a provider or a model, how many nodes of an agent may run. A name
 * without a limit has room for all. Several names are taken together or not at all; whoever waits is served in order of
 * coming, but one that waits for a full name does not stop others that do not need it.
 */
export interface Gates {
  /** Takes room under all names and returns true, or queues the waiter. */
  enter(names: readonly string[], waiter: Waiter): boolean;
  /** Takes room whatever the limit: a task that is running at the vendor already. */
  force(names: readonly string[]): void;
  leave(names: readonly string[]): void;
  /** Forgets a waiter. */
  withdraw(waiter: Waiter): void;
  /** How many may be inside at once; undefined: any number. */
  limit(name: string): number | undefined;
  /** Looks again who may go: after time has passed, for names with a rate. */
  serve(): void;
}

export interface GateLimits {
  concurrency(name: string): number | undefined;
  /** `20/10s` → at most 20 entries in 10,000 ms. */
  rate(name: string): { readonly count: number; readonly perMs: number } | undefined;
}

/** Waiters for the same names, in order. */
interface Line {
  readonly names: readonly string[];
  readonly waiters: Map<Waiter, number>;
}

export function createGates(limits: GateLimits, clock: Clock): Gates {
  const taken = new Map<string, number>();
  const entries = new Map<string, number[]>();
  const lines = new Map<string, Line>();
  const lineOf = new Map<Waiter, Line>();
  let serial = 0;
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
  const take = (names: readonly string[], isForced = false): void => {
    for (const name of names) {
      taken.set(name, (taken.get(name) ?? 0) + 1);
      if (isForced || limits.rate(name) === undefined) continue;
      const times = entries.get(name);
      if (times === undefined) entries.set(name, [clock.monotonicMs()]);
      else times.push(clock.monotonicMs());
    }
  };
  const withdraw = (waiter: Waiter): void => {
    const line = lineOf.get(waiter);
    if (line === undefined) return;
    lineOf.delete(waiter);
    line.waiters.delete(waiter);
    if (line.waiters.size === 0) lines.delete(line.names.join(' '));
  };
  /** The first in line, among the lines whose every name has room. */
  const nextWaiter = (): Waiter | undefined => {
    let first: { readonly waiter: Waiter; readonly serial: number } | undefined;
    for (const line of lines.values()) {
      const [head] = line.waiters;
      if (head === undefined || (first !== undefined && first.serial < head[1])) continue;
      if (line.names.every(hasRoom)) first = { waiter: head[0], serial: head[1] };
    }
    return first?.waiter;
  };
  const serve = (): void => {
    for (let waiter = nextWaiter(); waiter !== undefined; waiter = nextWaiter()) {
      const names = lineOf.get(waiter)?.names ?? [];
      withdraw(waiter);
      take(names);
      waiter.go();
    }
  };
  return {
    enter: (names, waiter) => {
      const key = names.join(' ');
      const line = lines.get(key) ?? { names, waiters: new Map<Waiter, number>() };
      if (line.waiters.size === 0 && names.every(hasRoom)) {
        take(names);
        return true;
      }
      lines.set(key, line);
      line.waiters.set(waiter, serial++);
      lineOf.set(waiter, line);
      return false;
    },
    force: (names) => {
      take(names, true);
    },
    leave: (names) => {
      for (const name of names) {
        const left = (taken.get(name) ?? 1) - 1;
        if (left <= 0) taken.delete(name);
        else taken.set(name, left);
      }
      if (lines.size > 0) serve();
    },
    withdraw,
    limit: (name) => limits.concurrency(name),
    serve,
  };
}

/** Reads `20/10s`. */
export function parseRate(text: string): { readonly count: number; readonly perMs: number } | undefined {
  const [count = '', per = ''] = text.split('/');
  const perMs = parseDuration(per);
  return /^\d+$/.test(count) && perMs.ok && perMs.value > 0 ? { count: Number(count), perMs: perMs.value } : undefined;
}
