import type { Json } from '../kernel/index.ts';

/** `fatal`: work stands still. `error`: money or results are at risk. `warning`: quality or reserves. `info`: good to know. */
export type Severity = 'fatal' | 'error' | 'warning' | 'info';

/** What a source tells. `title` names the kind of trouble (it folds); `text` says where, and what to do. */
export interface AlertInput {
  readonly title: string;
  readonly text: string;
  readonly severity: Severity;
  /** Names the condition, where it can end: `balance:kie`. `recover` with the same key tells of the end, once. */
  readonly key?: string;
}

/** A message on its way out. `id` is stable over repeats, so that a channel can make them harmless. */
export interface AlertMessage {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly severity: Severity;
  readonly at: number;
}

export type ChannelVerdict =
  | { readonly kind: 'sent' }
  /** Not now: a limit of the service. Costs no try. */
  | { readonly kind: 'later'; readonly atMs: number; readonly reason: string }
  /** The service said no, or nothing. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** This channel will not take it, now or later. */
  | { readonly kind: 'off'; readonly reason: string };

/** Where alerts go. `send` never throws and never rejects. */
export interface AlertChannel {
  readonly name: string;
  send(message: AlertMessage): Promise<ChannelVerdict>;
  /** For the page: what state it is in. */
  status(): { readonly [key: string]: Json };
}

/** What went out, for the page. */
export interface AlertView {
  readonly at: number;
  readonly title: string;
  readonly text: string;
  readonly severity: Severity;
  readonly count: number;
  /** Channel → `sent`, `pending`, `failed: …`, `off: …`. */
  readonly channels: Readonly<Record<string, string>>;
}

/** What sources see. Nothing here throws or rejects: an alert can never hurt the work. */
export interface Alerter {
  /** Resolves when the alert is recorded (not: delivered). */
  alert(input: AlertInput): Promise<void>;
  /** The condition has ended: told once, and only if it had been raised. */
  recover(end: { readonly key: string; readonly title: string; readonly text: string }): Promise<void>;
  /** Whether a condition is raised. */
  isRaised(key: string): Promise<boolean>;
  /** Newest first. */
  recent(): readonly AlertView[];
  /** Conditions that are raised now. */
  raised(): readonly { readonly key: string; readonly title: string; readonly since: number }[];
  channels(): Readonly<Record<string, { readonly [key: string]: Json }>>;
  start(): void;
  /** Stops the timers; tries once more to deliver what waits, at most `limitMs`. */
  stop(limitMs: number): Promise<void>;
}
