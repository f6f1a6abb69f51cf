import type { ExecutionId } from '../kernel/index.ts';

/** A running execution's file is written again at most this often. */
const detailSpacingMs = 10_000;
/** More ends than can be written are waiting: the oldest go without a file (the command line shows them). */
const mostUrgent = 200;

/** Which executions' files are to be written next: ended and held ones first, running ones not too often. */
export interface DetailQueue {
  touch(id: ExecutionId, isUrgent: boolean): void;
  /** A file that was there at the start. */
  known(id: string): void;
  /** The next ones to write, at most so many. */
  take(most: number, nowMs: number): ExecutionId[];
  /** Files beyond the most that are kept, those written longest ago first. */
  surplus(most: number): string[];
}

export function createDetailQueue(): DetailQueue {
  const urgent = new Set<ExecutionId>();
  const calm = new Set<ExecutionId>();
  /** Written files, oldest write first. */
  const written = new Map<string, number>();
  return {
    known: (id) => written.set(id, -Infinity),
    touch: (id, isUrgent) => {
      if (isUrgent) {
        calm.delete(id);
        urgent.delete(id);
        urgent.add(id);
        for (const oldest of urgent) {
          if (urgent.size <= mostUrgent) break;
          urgent.delete(oldest);
        }
      } else if (!urgent.has(id)) calm.add(id);
    },
    take: (most, nowMs) => {
      const isDue = (id: ExecutionId): boolean => nowMs - (written.get(id) ?? -Infinity) >= detailSpacingMs;
      // What runs gets its share, however many end.
      const running = pickFrom(calm, Math.max(1, Math.floor(most / 2)), isDue);
      const picked = [...pickFrom(urgent, most - running.length, () => true), ...running];
      for (const id of picked) {
        written.delete(id);
        written.set(id, nowMs);
      }
      return picked;
    },
    surplus: (most) => {
      const gone = [...written.keys()].slice(0, Math.max(0, written.size - most));
      for (const id of gone) written.delete(id);
      return gone;
    },
  };
}

function pickFrom(queue: Set<ExecutionId>, most: number, isDue: (id: ExecutionId) => boolean): ExecutionId[] {
  const picked: ExecutionId[] = [];
  for (const id of queue) {
    if (picked.length >= most) break;
    if (!isDue(id)) continue;
    queue.delete(id);
    picked.push(id);
  }
  return picked;
}
