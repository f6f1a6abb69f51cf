import type { Hono } from 'hono';
import { type Clock, type Random, randomInt } from '../kernel/index.ts';
import type { BlobStore } from './blobs.ts';
import type { CellWrite, SentMessage, SentPush } from './books.ts';
import type { FaultBook } from './faults.ts';
import type { Latencies } from './latency.ts';
import type { Painter } from './painter/painter.ts';
import type { WorldState } from './state.ts';

/** A person of the sandbox's company; row edits by hand are theirs. */
export interface Person {
  readonly openId: string;
  readonly name: string;
}

/** How errors of the open platform are dressed: as HTTP 200 with a code, as HTTP 4xx with a code, or both in turn. */
type ErrorForm = '200' | '4xx' | 'alternate';

/** Switches that tests and the simulator may turn while the world runs. */
export interface Controls {
  latencies: Latencies;
  errorForm: ErrorForm;
  /** Feishu calls left this month; undefined: no cap. */
  quotaLeft: number | undefined;
  /** Rate limits of Feishu and the vendors. */
  enforceRates: boolean;
  /** Least lag of `search` behind writes; 0: none. */
  searchLagMs: number;
  tokenLifeMs: number;
}

/** Kept beside the state: what nobody needs after a restart. */
interface Journal {
  cellWrites: CellWrite[];
  messages: SentMessage[];
  pushes: SentPush[];
  calls: Record<string, number>;
}

/** A change of a record, as the event stream tells it. */
export interface RecordChange {
  readonly eventId: string;
  readonly appToken: string;
  readonly tableId: string;
  readonly recordId: string;
  readonly action: 'record_added' | 'record_edited' | 'record_deleted';
  readonly operatorId: string;
  readonly revision: number;
  readonly atMs: number;
  readonly fields: readonly { readonly fieldId: string; readonly before: unknown; readonly after: unknown }[];
}

/** Everything that the parts of the outside world share. */
export interface World {
  readonly app: Hono;
  readonly clock: Clock;
  readonly random: Random;
  readonly baseUrl: () => string;
  readonly blobs: BlobStore;
  readonly painter: Painter;
  readonly faults: FaultBook;
  readonly controls: Controls;
  readonly journal: Journal;
  readonly people: readonly Person[];
  readonly credentials: { readonly appId: string; readonly appSecret: string };
  /** Vendor → the key it takes; absent: any key that does not contain `bad`. */
  readonly keys: Readonly<Record<string, string>>;
  /** What is being written just now: a base, an upload. */
  readonly locks: Set<string>;
  state: WorldState;
  changeListeners: Set<(change: RecordChange) => void>;
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** A token in the platform's looks: a prefix and letters from the injected randomness. */
export function newToken(world: World, prefix: string, length: number): string {
  let text = prefix;
  for (let index = 0; index < length; index += 1) text += letters[randomInt(world.random, letters.length)] ?? 'A';
  return text;
}

/** The app as a person of the base: who edited, in cells and events. */
export const botPerson: Person = { openId: 'ou_sandbox_bot', name: '织表机器人' };

export const staffFallback: Person = { openId: 'ou_sandbox_staff', name: '小织' };

export function personOf(world: World, openId: string): Person {
  if (openId === botPerson.openId) return botPerson;
  return world.people.find((person) => person.openId === openId) ?? { openId, name: openId };
}
