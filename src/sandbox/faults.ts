import { type Json, type Random, randomInt } from '../kernel/index.ts';
import type { TaskFate } from './vendors/fate.ts';

/** What the world does instead of behaving. */
export type FaultAction =
  /** Answers this and does nothing. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly body?: Json;
      readonly headers?: Record<string, string>;
    }
  /** Does the work, then answers this instead. */
  | {
      readonly kind: 'answer-after';
      readonly status: number;
      readonly body?: Json;
      readonly headers?: Record<string, string>;
    }
  /** Waits before reading (`delay`) or before answering (`delay-answer`). */
  | { readonly kind: 'delay'; readonly delayMs: number }
  | { readonly kind: 'delay-answer'; readonly delayMs: number }
  /** Never answers: before doing the work, or after. */
  | { readonly kind: 'hang' }
  | { readonly kind: 'hang-after' }
  /** The connection breaks: refused outright, before the request is read, or after the work is done. */
  | { readonly kind: 'refuse' }
  | { readonly kind: 'drop-before' }
  | { readonly kind: 'drop-after' }
  /** The answer breaks off after so many bytes. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** The work is done, but the answer to the previous call is given again: of reads, to the same address. */
  | { readonly kind: 'repeat-last' }
  /** The work is done, but the first answer ever given to the same question comes once more, long after newer ones. */
  | { readonly kind: 'repeat-first' }
  /** The work is done once, and its answer is delivered twice in one body. */
  | { readonly kind: 'double' }
  /** The work is done twice (a proxy that repeats the POST); the second answer is given. */
  | { readonly kind: 'twice' }
  /** What becomes of a task that this submit creates. */
  | { readonly kind: 'fate'; readonly fate: TaskFate }
  /** Search answers that mislead. `stale` shows rows as they were before changes of the last `withinMs`. */
  | {
      readonly kind: 'search';
      readonly twist: 'unfiltered' | 'stale' | 'empty' | 'repeat-row' | 'lose-page' | 'repeat-token';
      readonly withinMs?: number;
    };

interface FaultRule {
  /** Endpoint name, or a prefix ending in `*`: `kie.createTask`, `feishu.*`. */
  readonly endpoint: string;
  readonly action: FaultAction;
  /** Only calls whose path with query, or whose body text, contains this. */
  readonly pathIncludes?: string;
  readonly bodyIncludes?: string;
  /** Any other condition; in process only. */
  readonly when?: (call: SeenCall) => boolean;
  /** Matching calls to let pass first. */
  readonly skip?: number;
  /** Times that it strikes; default once. `Infinity` for ever. */
  readonly count?: number;
  /** Chance of striking on each matching call, default 1. */
  readonly probability?: number;
}

interface SeenCall {
  readonly endpoint: string;
  readonly method: string;
  readonly path: string;
  bodyText(): string;
}

export interface FaultPort {
  /** Adds a rule; earlier rules strike first. `remove` takes it away, `hits` counts its strikes. */
  add(rule: FaultRule): { remove(): void; hits(): number };
  clear(): void;
  rules(): readonly FaultRule[];
}

interface LiveRule {
  readonly rule: FaultRule;
  skipped: number;
  hits: number;
}

/** The port with its inner side: `strike` picks what befalls a call (several rules of different kinds may). */
export interface FaultBook extends FaultPort {
  strike(call: SeenCall): readonly FaultAction[];
}

export function createFaultBook(random: Random): FaultBook {
  const live = new Set<LiveRule>();
  return {
    add: (rule) => {
      const entry: LiveRule = { rule, skipped: 0, hits: 0 };
      live.add(entry);
      return { remove: () => live.delete(entry), hits: () => entry.hits };
    },
    clear: () => {
      live.clear();
    },
    rules: () => [...live].map((entry) => entry.rule),
    strike: (call) => {
      if (live.size === 0) return [];
      const actions: FaultAction[] = [];
      for (const entry of live) {
        if (actions.some((action) => action.kind === entry.rule.action.kind)) continue;
        if (strikes(entry, call, random)) actions.push(entry.rule.action);
      }
      return actions;
    },
  };
}

function strikes(entry: LiveRule, call: SeenCall, random: Random): boolean {
  const { rule } = entry;
  if (entry.hits >= (rule.count ?? 1) || !matches(rule, call)) return false;
  if (entry.skipped < (rule.skip ?? 0)) {
    entry.skipped += 1;
    return false;
  }
  if (rule.probability !== undefined && randomInt(random, 1_000_000) >= rule.probability * 1_000_000) return false;
  entry.hits += 1;
  return true;
}

export function isNamed(rule: Pick<FaultRule, 'endpoint'>, endpoint: string): boolean {
  return rule.endpoint.endsWith('*') ? endpoint.startsWith(rule.endpoint.slice(0, -1)) : endpoint === rule.endpoint;
}

function matches(rule: FaultRule, call: SeenCall): boolean {
  if (!isNamed(rule, call.endpoint)) return false;
  if (rule.pathIncludes !== undefined && !call.path.includes(rule.pathIncludes)) return false;
  if (rule.bodyIncludes !== undefined && !call.bodyText().includes(rule.bodyIncludes)) return false;
  return rule.when === undefined || rule.when(call);
}
