import type { WakeEvent } from '../feishu/index.ts';
import type { Clock, Json } from '../kernel/index.ts';
import { readText } from './codec-read.ts';
import type { BoundColumn } from './columns.ts';
import { normalizeWord, parseOperation } from './words.ts';

/**
 * Words that staff typed over another between our last read and our clear: the platform has no compare-and-set, so the
 * clear wipes them unseen. The long connection may have told of them. A word counts as lost when it is the last that was
 * heard of the row, came after the read, differs from what was cleared, and a fresh read shows 操作 empty; it is waited for
 * a moment in case a later event is still on its way. Events may arrive out of their order: one whose revision is older than
 * the newest heard of its row tells of a word that staff have corrected, and is left out. Memory only: after a restart
 * nothing is recovered.
 */
export interface WordWitness {
  heard(event: WakeEvent, operation: BoundColumn): void;
  /** Our read was issued at `readAtMs`; the clear of `word` has been answered now. */
  cleared(recordId: string, word: string, readAtMs: number): void;
  /** For a row whose fresh read shows 操作 empty. `wait`: ask again in a moment. */
  lost(recordId: string): LostWord | 'wait' | undefined;
}

export interface LostWord {
  readonly word: string;
  readonly operatorId?: string;
}

/** An event later than this after the clear is no witness of it. */
const afterClearMs = 10_000;
export const witnessWaitMs = 1_000;
const rememberMs = 60_000;
/** Longer than a redelivered event takes to come, its last try excepted; and than most clears have to wait. */
const rememberRevisionMs = 2 * 3_600_000;

interface Heard {
  readonly word: string;
  readonly operatorId: string | undefined;
  readonly atMs: number;
}
interface Cleared {
  readonly word: string;
  readonly readAtMs: number;
  readonly answeredAtMs: number;
}

export function createWordWitness(clock: Clock): WordWitness {
  const words = new Map<string, Heard>();
  const clears = new Map<string, Cleared>();
  const events = new Map<string, number>();
  const revisions = new Map<string, { readonly revision: number; readonly atMs: number }>();
  const prune = (): void => {
    const oldest = clock.monotonicMs() - rememberMs;
    for (const [id, heard] of words) if (heard.atMs < oldest) words.delete(id);
    for (const [id, cleared] of clears) if (cleared.answeredAtMs < oldest) clears.delete(id);
    for (const [id, atMs] of events) if (atMs < oldest) events.delete(id);
    const oldestRevision = clock.monotonicMs() - rememberRevisionMs;
    for (const [id, { atMs }] of revisions) {
      if (atMs >= oldestRevision) break;
      revisions.delete(id);
    }
  };
  /** Whether a newer edit of 操作 in this row has been heard of; an event without a revision counts as the newest. */
  const isOutdated = (recordId: string, revision: number | undefined): boolean => {
    if (revision === undefined) return false;
    if (revision < (revisions.get(recordId)?.revision ?? 0)) return true;
    // Put last: the map stays in order of time.
    revisions.delete(recordId);
    revisions.set(recordId, { revision, atMs: clock.monotonicMs() });
    return false;
  };
  return {
    heard: (event, operation) => {
      prune();
      if (events.has(event.eventId)) return;
      events.set(event.eventId, clock.monotonicMs());
      for (const record of event.records) {
        if (!record.fieldIds.includes(operation.fieldId)) continue;
        const word = wordOfEvent(record.after?.[operation.fieldId], operation);
        // An emptied cell may be our own clear, where our own id is not known: what it wiped is older, and not corrected.
        if (word === '' && event.isOwn === undefined) continue;
        if (isOutdated(record.recordId, event.revision)) continue;
        words.set(record.recordId, { word, operatorId: event.operatorId, atMs: clock.monotonicMs() });
      }
    },
    cleared: (recordId, word, readAtMs) => {
      clears.set(recordId, { word, readAtMs, answeredAtMs: clock.monotonicMs() });
    },
    lost: (recordId) => {
      const heard = words.get(recordId);
      const cleared = clears.get(recordId);
      if (heard === undefined || cleared === undefined || parseOperation(heard.word) === undefined) return undefined;
      const isWitness = heard.atMs >= cleared.readAtMs && heard.atMs <= cleared.answeredAtMs + afterClearMs;
      if (!isWitness || heard.word === cleared.word) return undefined;
      if (clock.monotonicMs() < heard.atMs + witnessWaitMs) return 'wait';
      words.delete(recordId);
      clears.delete(recordId);
      return { word: heard.word, ...(heard.operatorId === undefined ? {} : { operatorId: heard.operatorId }) };
    },
  };
}

/** Events carry a select as its option's id (or name), a text as segments. */
function wordOfEvent(cell: Json | undefined, operation: BoundColumn): string {
  const text = readText(cell);
  return normalizeWord(operation.optionNames.get(text) ?? text);
}
