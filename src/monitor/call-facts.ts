import type { AttemptRecord, EventRecord, Store } from '../engine/ports/index.ts';
import { type AttemptId, attemptId } from '../kernel/index.ts';

/** What never changes about a call, from its intent on: enough to count and to show it. */
export interface CallFacts {
  readonly id: AttemptId;
  readonly provider: string;
  readonly model: string;
  readonly node: string;
  readonly ordinal: number;
  readonly intendedAt: number;
}

/** Finds the call that an event is about: from its own intent event where that was seen, else from the store. */
export interface CallBook {
  of(event: EventRecord): Promise<CallFacts | undefined>;
}

/** Calls that are remembered; beyond that the store is asked, which costs a read. */
const mostKnown = 20_000;

export function createCallBook(store: Pick<Store, 'attempt'>): CallBook {
  const known = new Map<AttemptId, CallFacts>();
  const remember = (facts: CallFacts): CallFacts => {
    known.set(facts.id, facts);
    if (known.size > mostKnown) for (const oldest of known.keys()) if (known.delete(oldest)) break;
    return facts;
  };
  return {
    of: async (event) => {
      const id = attemptIdOf(event);
      if (id === undefined) return undefined;
      const before = known.get(id);
      if (before !== undefined) return before;
      const told = event.type === 'attempt-intended' ? fromIntent(id, event) : undefined;
      if (told !== undefined) return remember(told);
      const record = await store.attempt(id);
      return record === undefined ? undefined : remember(fromRecord(record));
    },
  };
}

function fromIntent(id: AttemptId, event: EventRecord): CallFacts | undefined {
  const { provider, model, node, ordinal } = event.data;
  if (typeof provider !== 'string' || typeof model !== 'string' || typeof node !== 'string') return undefined;
  if (typeof ordinal !== 'number') return undefined;
  return { id, provider, model, node, ordinal, intendedAt: event.at };
}

export function fromRecord(record: AttemptRecord): CallFacts {
  const { id, provider, model, nodePath, ordinal, intendedAt } = record;
  return { id, provider, model, node: nodePath, ordinal, intendedAt };
}

function attemptIdOf(event: EventRecord): AttemptId | undefined {
  const id = event.data['attemptId'];
  if (typeof id !== 'string') return undefined;
  try {
    return attemptId(id);
  } catch {
    return undefined;
  }
}
