import type { PlanEdge } from './plan.ts';

/** A node while its graph is being compiled. */
export interface DraftNode {
  readonly id: string;
  readonly join: 'all' | 'any';
  incoming: readonly PlanEdge[];
}

/** Kahn's order, or the path of a cycle: `a → b → a`. */
export function topologicalOrder(
  nodes: ReadonlyMap<string, DraftNode>,
): { readonly order: readonly string[] } | { readonly cycle: readonly string[] } {
  const successors = successorsOf(nodes);
  const open = new Map<string, number>();
  for (const node of nodes.values()) open.set(node.id, new Set(node.incoming.map((edge) => edge.from)).size);
  const order = [...nodes.keys()].filter((id) => open.get(id) === 0);
  for (let at = 0; at < order.length; at += 1) {
    for (const next of successors.get(order[at] ?? '') ?? []) {
      const left = (open.get(next) ?? 0) - 1;
      open.set(next, left);
      if (left === 0) order.push(next);
    }
  }
  return order.length === nodes.size ? { order } : { cycle: findCycle(nodes, new Set(order)) };
}

function successorsOf(nodes: ReadonlyMap<string, DraftNode>): Map<string, string[]> {
  const successors = new Map<string, string[]>();
  for (const node of nodes.values()) {
    for (const from of new Set(node.incoming.map((edge) => edge.from))) {
      const list = successors.get(from);
      if (list === undefined) successors.set(from, [node.id]);
      else list.push(node.id);
    }
  }
  return successors;
}

/** Walks backwards among the nodes that Kahn could not place: each has a predecessor there, so the walk must close. */
function findCycle(nodes: ReadonlyMap<string, DraftNode>, placed: ReadonlySet<string>): readonly string[] {
  const start = [...nodes.keys()].find((id) => !placed.has(id));
  const walked: string[] = [];
  let current = start;
  while (current !== undefined && !walked.includes(current)) {
    walked.push(current);
    current = nodes.get(current)?.incoming.find((edge) => !placed.has(edge.from))?.from;
  }
  const closed = current === undefined ? walked : [...walked.slice(walked.indexOf(current)), current];
  return closed.reverse();
}

/**
 * Transitive reduction: drops an order-only edge a → n when another path from a to n gives the same order and the same
 * outcome. That path may only run through nodes that need all they wait for, and n must be such a node itself: past a
 * declared join, a skipped a would no longer skip n. Data, branch and fallback edges are never dropped.
 */
export function reduceOrderEdges(nodes: ReadonlyMap<string, DraftNode>, order: readonly string[]): void {
  const ancestors = strictAncestors(nodes, order);
  const position = new Map(order.map((id, at) => [id, at]));
  for (const node of nodes.values()) {
    if (node.join === 'any' || node.incoming.length < 2) continue;
    node.incoming = node.incoming.filter((edge, at) => {
      if (edge.kind !== 'order') return true;
      const from = position.get(edge.from) ?? -1;
      return !node.incoming.some((other, otherAt) => {
        if (otherAt === at || other.kind === 'fallback') return false;
        if (other.from === edge.from) return other.kind !== 'order' || otherAt < at;
        return nodes.get(other.from)?.join !== 'any' && (ancestors.get(other.from)?.has(from) ?? false);
      });
    });
  }
}

/** Who surely precedes each node, through nodes that wait for all: bit sets over positions in the order. */
function strictAncestors(nodes: ReadonlyMap<string, DraftNode>, order: readonly string[]): Map<string, BitSet> {
  const position = new Map(order.map((id, at) => [id, at]));
  const sets = new Map<string, BitSet>();
  for (const id of order) {
    const set = new BitSet(order.length);
    const node = nodes.get(id);
    if (node !== undefined && node.join === 'all') {
      for (const edge of node.incoming) {
        const from = position.get(edge.from);
        if (from === undefined || edge.kind === 'fallback') continue;
        set.add(from);
        const above = sets.get(edge.from);
        if (above !== undefined) set.addAll(above);
      }
    }
    sets.set(id, set);
  }
  return sets;
}

class BitSet {
  readonly #words: Uint32Array;

  constructor(size: number) {
    this.#words = new Uint32Array((size + 31) >>> 5);
  }

  add(bit: number): void {
    const word = bit >>> 5;
    this.#words[word] = (this.#words[word] ?? 0) | (1 << (bit & 31));
  }

  has(bit: number): boolean {
    return ((this.#words[bit >>> 5] ?? 0) & (1 << (bit & 31))) !== 0;
  }

  addAll(other: BitSet): void {
    for (let word = 0; word < this.#words.length; word += 1) {
      this.#words[word] = (this.#words[word] ?? 0) | (other.#words[word] ?? 0);
    }
  }
}

/**
 * Which branches a node stands under: condition → branches that must have been taken. A node that waits for all and
 * stands under two branches of one condition can never run.
 */
export function clashingBranches(
  nodes: ReadonlyMap<string, DraftNode>,
  order: readonly string[],
): readonly { readonly node: string; readonly condition: string; readonly branches: readonly string[] }[] {
  const under = new Map<string, ReadonlyMap<string, ReadonlySet<string>>>();
  const clashes: { node: string; condition: string; branches: string[] }[] = [];
  for (const id of order) {
    const node = nodes.get(id);
    if (node === undefined) continue;
    const parts = node.incoming.map((edge) => demandsThrough(edge, under.get(edge.from)));
    const demands = node.join === 'any' ? common(parts) : union(parts);
    for (const [condition, branches] of demands) {
      if (node.join === 'all' && branches.size > 1) clashes.push({ node: id, condition, branches: [...branches] });
    }
    under.set(id, demands);
  }
  return clashes;
}

type Demands = ReadonlyMap<string, ReadonlySet<string>>;

function demandsThrough(edge: PlanEdge, above: Demands | undefined): Demands {
  if (edge.branch === undefined) return above ?? new Map();
  const demands = new Map(above);
  demands.set(edge.from, new Set([...(demands.get(edge.from) ?? []), edge.branch]));
  return demands;
}

function union(parts: readonly Demands[]): Demands {
  if (parts.every((part) => part.size === 0)) return new Map();
  const all = new Map<string, Set<string>>();
  for (const part of parts) {
    for (const [condition, branches] of part) {
      all.set(condition, new Set([...(all.get(condition) ?? []), ...branches]));
    }
  }
  return all;
}

/** Through a declared join only what every way in demands is still sure; where they differ, nothing is demanded. */
function common(parts: readonly Demands[]): Demands {
  const [first, ...rest] = parts;
  const shared = new Map<string, ReadonlySet<string>>();
  for (const [condition, branches] of first ?? new Map<string, ReadonlySet<string>>()) {
    const same = rest.every((part) => {
      const other = part.get(condition);
      return other !== undefined && other.size === branches.size && [...branches].every((branch) => other.has(branch));
    });
    if (same) shared.set(condition, branches);
  }
  return shared;
}
