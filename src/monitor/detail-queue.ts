import type { ExecutionId } from '../kernel/index.ts';

/** A running execution's file is written again at most this often. */
const detailSpacingMs = 10_000;

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
        urgent.add(id);
      } else if (!urgent.has(id)) calm.add(id);
    },
    take: (most, nowMs) => {
      const picked: ExecutionId[] = [];
      for (const queue of [urgent, calm]) {
        for (const id of queue) {
          if (picked.length >= most) return picked;
          if (queue === calm && nowMs - (written.get(id) ?? -Infinity) < detailSpacingMs) continue;
          queue.delete(id);
          picked.push(id);
          written.delete(id);
          written.set(id, nowMs);
        }
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
