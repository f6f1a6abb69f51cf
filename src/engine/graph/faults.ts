import type { DefinitionFault } from '../../contract/index.ts';

/** Reports a fault at a place of one definition. */
export type Fault = (path: readonly (string | number)[], what: string, advice: string) => void;

export interface Faults {
  readonly list: readonly DefinitionFault[];
  of(kind: DefinitionFault['of']['kind'], name: string): Fault;
}

export function createFaults(): Faults {
  const list: DefinitionFault[] = [];
  return {
    list,
    of: (kind, name) => (path, what, advice) => {
      list.push({ of: { kind, name }, path, what, advice });
    },
  };
}

/** The nearest known name to a misspelt one, as advice. */
export function didYouMean(name: string, known: Iterable<string>): string {
  let best: { name: string; distance: number } | undefined;
  for (const each of known) {
    const distance = editDistance(name, each);
    if (best === undefined || distance < best.distance) best = { name: each, distance };
  }
  if (best === undefined) return 'nothing of that kind is defined';
  return best.distance <= Math.max(2, name.length / 3) ? `did you mean "${best.name}"?` : 'check the name';
}

function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (let at = 1; at <= left.length; at += 1) {
    const next = [at];
    for (let other = 1; other <= right.length; other += 1) {
      const swap = (row[other - 1] ?? 0) + (left[at - 1] === right[other - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[other] ?? 0) + 1, (next[other - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
