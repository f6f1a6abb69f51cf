import { z } from 'zod';
import type { Store } from '../engine/ports/index.ts';
import { type Clock, jsonObjectOf, type Logger } from '../kernel/index.ts';

const severity = z.enum(['fatal', 'error', 'warning', 'info']);

/** A kind of trouble that is being folded: told at `sentAt`, seen `folded` times since then. */
const bucket = z.object({ severity, sentAt: z.number(), folded: z.number(), lastText: z.string() });
const digestEntry = z.object({ severity, count: z.number(), text: z.string() });
const delivery = z.object({
  state: z.enum(['pending', 'sent', 'failed', 'off']),
  tries: z.number(),
  nextAt: z.number(),
  reason: z.string(),
});
const message = z.object({
  id: z.string(),
  title: z.string(),
  text: z.string(),
  severity,
  at: z.number(),
  count: z.number(),
  deliveries: z.record(z.string(), delivery),
});

const stateSchema = z.object({
  buckets: z.record(z.string(), bucket),
  /** When single messages went out, within the last cooldown. */
  singles: z.array(z.number()),
  digest: z.object({ since: z.number(), entries: z.record(z.string(), digestEntry) }).nullable(),
  lastDigestAt: z.number(),
  /** Oldest first; delivered ones stay for the page, bounded. */
  messages: z.array(message),
  raised: z.record(z.string(), z.object({ title: z.string(), since: z.number() })),
});

export type AlertState = z.infer<typeof stateSchema>;
export type QueuedMessage = z.infer<typeof message>;

export const emptyAlertState = (): AlertState => ({
  buckets: {},
  singles: [],
  digest: null,
  lastDigestAt: 0,
  messages: [],
  raised: {},
});

/** Small durable state of this room: one document each, written whole. */
export interface StoredState<T> {
  load(): Promise<T>;
  /** Never rejects; saves that come while one is under way share the next. */
  save(value: T): Promise<void>;
}

export const monitorCollection = 'monitor';

/** A value in a store document. What cannot be read or parsed counts as absent; what cannot be written is logged. */
export function createStoredState<T extends object>(
  deps: { readonly store: Store; readonly clock: Clock; readonly logger: Logger },
  key: string,
  schema: z.ZodType<T>,
  empty: () => T,
): StoredState<T> {
  let waiting: { value: T; done: Promise<void> } | undefined;
  let tail: Promise<void> = Promise.resolve();
  const write = async (value: T): Promise<void> => {
    try {
      await deps.store.commit([
        {
          type: 'put-document',
          record: { collection: monitorCollection, key, value: jsonObjectOf(value), updatedAt: deps.clock.nowMs() },
        },
      ]);
    } catch (error) {
      deps.logger.error('monitor state not stored', { key, error: String(error) });
    }
  };
  return {
    load: async () => {
      try {
        const stored = await deps.store.document(monitorCollection, key);
        if (stored === undefined) return empty();
        const parsed = schema.safeParse(stored.value);
        if (parsed.success) return parsed.data;
        deps.logger.warn('monitor state unreadable, starting anew', { key });
      } catch (error) {
        deps.logger.error('monitor state not read', { key, error: String(error) });
      }
      return empty();
    },
    save: (value) => {
      if (waiting !== undefined) {
        waiting.value = value;
        return waiting.done;
      }
      const entry = { value, done: Promise.resolve() };
      entry.done = tail.then(async () => {
        waiting = undefined;
        await write(entry.value);
      });
      waiting = entry;
      tail = entry.done;
      return entry.done;
    },
  };
}

export const alertStateSchema: z.ZodType<AlertState> = stateSchema;
