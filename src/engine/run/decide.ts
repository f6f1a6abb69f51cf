import type { Failure } from '../../contract/index.ts';
import type { Json, JsonObject } from '../../kernel/index.ts';
import type { LiveNode } from '../graph/live.ts';
import type { PlanEdge } from '../graph/plan.ts';
import { type FrameState, hasEnded, type NodeState, type Stopping, scopeOf } from './frame.ts';

/**
 * The graph's state machine, pure. A node starts the moment its own inputs are settled:
 *
 * - An edge has *arrived* when its source succeeded (a branch edge: and took that branch), or was skipped because it
 *   failed under `on_failure: skip`. It is *dead* when its source was skipped, or another branch was taken. A fallback
 *   edge arrives when its source has failed and waits for it, and dies when that source ends in any other way.
 * - `join: all` (default): starts when every edge has arrived; skipped as soon as one is dead. `join: any`: waits until
 *   every edge is settled, starts if one has arrived, is skipped if none has.
 * - A failed node does what its `on_failure` says. `fail` stops the graph: nothing new starts, what is pending is
 *   canceled, what is under way is waited for (it may be paid for), then the graph ends.
 * - The graph ends when every node has ended. Invariant: each node starts at most once, and ends exactly once.
 */
export type GraphEvent =
  | { readonly kind: 'opened' }
  | { readonly kind: 'parked'; readonly id: string; readonly status: 'waiting_provider' | 'held' }
  | { readonly kind: 'unparked'; readonly id: string }
  | { readonly kind: 'finished'; readonly id: string; readonly result: NodeResult }
  | { readonly kind: 'stopped'; readonly stopping: Stopping };

export type NodeResult =
  | {
      readonly kind: 'succeeded';
      readonly output: Json;
      readonly branch?: string;
      readonly degraded?: boolean;
      readonly partial?: Failure;
      readonly fingerprint?: string;
    }
  /** `lastGood`: the last good result of this node for this source, where its policy asks for it and there is one. */
  | { readonly kind: 'failed'; readonly failure: Failure; readonly lastGood?: Json }
  | { readonly kind: 'canceled' };

export interface GraphDecision {
  readonly changes: readonly NodeState[];
  /** Nodes to start now; they are among the changes, as `running`. */
  readonly starts: readonly string[];
  readonly ready: readonly string[];
  readonly stopping: Stopping | undefined;
  readonly end: GraphEnd | undefined;
}

export interface GraphEnd {
  readonly status: 'succeeded' | 'partial' | 'failed' | 'canceled';
  readonly output?: JsonObject;
  readonly failure?: Failure;
  readonly failedNode?: string;
}

export function decide(frame: FrameState, event: GraphEvent, nowMs: number): GraphDecision {
  const draft = new Draft(frame, nowMs);
  switch (event.kind) {
    case 'opened':
      for (const id of frame.graph.nodes.keys()) draft.look(id);
      break;
    case 'parked':
      draft.set({ ...draft.node(event.id), status: event.status });
      break;
    case 'unparked':
      draft.set({ ...draft.node(event.id), status: 'running' });
      break;
    case 'finished':
      draft.finish(event.id, event.result);
      break;
    case 'stopped':
      draft.stop(event.stopping);
      break;
  }
  return draft.close();
}

/** Makes a decision come true in memory. The caller has put it into the same commit as everything it belongs with. */
export function adopt(frame: FrameState, decision: GraphDecision): void {
  for (const node of decision.changes) {
    const before = frame.nodes.get(node.id);
    if (before === undefined) continue;
    if (holdsSlot(before)) frame.active -= 1;
    if (holdsSlot(node)) frame.active += 1;
    if (!hasEnded(before.status) && hasEnded(node.status)) frame.open -= 1;
    frame.nodes.set(node.id, node);
  }
  frame.ready = decision.ready;
  frame.stopping = decision.stopping;
}

function holdsSlot(node: NodeState): boolean {
  return node.status === 'running' && node.awaiting === undefined;
}

class Draft {
  readonly #frame: FrameState;
  readonly #nowMs: number;
  readonly #changed = new Map<string, NodeState>();
  readonly #starts: string[] = [];
  #ready: string[];
  #stopping: Stopping | undefined;
  #active: number;
  #open: number;

  constructor(frame: FrameState, nowMs: number) {
    this.#frame = frame;
    this.#nowMs = nowMs;
    this.#ready = [...frame.ready];
    this.#stopping = frame.stopping;
    this.#active = frame.active;
    this.#open = frame.open;
  }

  node(id: string): NodeState {
    const node = this.#changed.get(id) ?? this.#frame.nodes.get(id);
    if (node === undefined) throw new Error(`no node ${id} in ${this.#frame.graph.name}`);
    return node;
  }

  set(node: NodeState): void {
    const before = this.node(node.id);
    if (holdsSlot(before)) this.#active -= 1;
    if (holdsSlot(node)) this.#active += 1;
    if (!hasEnded(before.status) && hasEnded(node.status)) this.#open -= 1;
    this.#changed.set(node.id, node);
  }

  /** Looks at a pending node: is it ready, to be skipped, or still waiting? */
  look(id: string): void {
    const node = this.node(id);
    if (node.status !== 'pending' || this.#ready.includes(id) || this.#stopping !== undefined) return;
    const verdict = verdictOn(this.#live(id), (from) => this.node(from));
    if (verdict === 'ready') this.#ready.push(id);
    if (verdict === 'skip') this.#end({ ...node, status: 'skipped' });
  }

  finish(id: string, result: NodeResult): void {
    const node = this.node(id);
    if (hasEnded(node.status)) return;
    if (result.kind === 'canceled') this.#end({ ...node, status: 'canceled' });
    else if (result.kind === 'failed') this.#fail(node, result);
    else {
      this.#end({ ...node, ...valuesOf(result), status: 'succeeded' });
    }
  }

  stop(stopping: Stopping): void {
    this.#stopping = this.#stopping?.status === 'canceled' ? this.#stopping : stopping;
    this.#ready = [];
    for (const id of this.#frame.graph.nodes.keys()) {
      const node = this.node(id);
      if (node.status === 'pending') this.#end({ ...node, status: 'canceled' });
    }
  }

  close(): GraphDecision {
    const { maxConcurrency } = this.#frame.graph;
    while (this.#ready.length > 0 && this.#active < maxConcurrency) {
      const id = this.#ready.shift() ?? '';
      this.set({ ...this.node(id), status: 'running', startedAt: this.node(id).startedAt ?? this.#nowMs });
      this.#starts.push(id);
    }
    return {
      changes: [...this.#changed.values()],
      starts: this.#starts,
      ready: this.#ready,
      stopping: this.#stopping,
      end: this.#open === 0 ? this.#graphEnd() : undefined,
    };
  }

  #live(id: string): LiveNode {
    const live = this.#frame.graph.nodes.get(id);
    if (live === undefined) throw new Error(`no node ${id} in the plan of ${this.#frame.graph.name}`);
    return live;
  }

  #fail(node: NodeState, result: Extract<NodeResult, { kind: 'failed' }>): void {
    const live = this.#live(node.id);
    const failed: NodeState = { ...node, failure: result.failure };
    const isCanceled = this.#stopping?.status === 'canceled';
    if (isCanceled || live.definition.on_failure === undefined || live.definition.on_failure === 'fail') {
      this.#failForGood(failed);
    } else if (live.definition.on_failure === 'skip') this.#end({ ...failed, status: 'skipped' });
    else if (live.preset !== undefined) {
      this.#end({ ...failed, status: 'succeeded', output: live.preset.resolve(this.#scope()), degraded: true });
    } else if (live.fallbackNode !== undefined) this.#awaitFallback(failed, live.fallbackNode);
    else if (result.lastGood !== undefined) {
      this.#end({ ...failed, status: 'succeeded', output: result.lastGood, degraded: true });
    } else this.#failForGood(failed);
  }

  #awaitFallback(node: NodeState, target: string): void {
    this.set({ ...node, status: 'running', awaiting: target });
    if (hasEnded(this.node(target).status)) this.#takeFallback(node.id);
    else this.look(target);
  }

  /** The fallback has ended: its output is the failed node's, or there is none and the node has failed for good. */
  #takeFallback(id: string): void {
    const { awaiting, ...node } = this.node(id);
    const fallback = awaiting === undefined ? undefined : this.node(awaiting);
    if (fallback?.status === 'succeeded') {
      this.#end({ ...node, status: 'succeeded', output: fallback.output ?? null, degraded: true });
    } else this.#failForGood(node);
  }

  #failForGood(node: NodeState): void {
    this.#end({ ...node, status: 'failed' });
    if (this.#stopping === undefined && node.failure !== undefined) {
      this.stop({ status: 'failed', failure: node.failure, node: node.id });
    }
  }

  #end(node: NodeState): void {
    this.set({ ...node, endedAt: this.#nowMs });
    const live = this.#live(node.id);
    for (const id of live.fallbackOf) if (this.node(id).awaiting === node.id) this.#takeFallback(id);
    for (const id of live.dependents) this.look(id);
  }

  /** As the frame will be when this decision is adopted. */
  #scope(): ReturnType<typeof scopeOf> {
    const nodes: Pick<ReadonlyMap<string, NodeState>, 'get'> = {
      get: (id) => this.#changed.get(id) ?? this.#frame.nodes.get(id),
    };
    return scopeOf({ ...this.#frame, nodes });
  }

  #graphEnd(): GraphEnd {
    const output = (): JsonObject => this.#frame.graph.resolveOutput(this.#scope());
    const stopping = this.#stopping;
    if (stopping === undefined) {
      const partial = [...this.#frame.nodes.keys()]
        .map((id) => this.node(id))
        .find((node) => node.partial !== undefined);
      if (partial?.partial === undefined) return { status: 'succeeded', output: output() };
      return { status: 'partial', output: output(), failure: partial.partial, failedNode: partial.id };
    }
    const failed = stopping.node === undefined ? {} : { failedNode: stopping.node };
    const found = this.#frame.graph.keepPartial && stopping.status === 'failed' ? output() : {};
    if (Object.keys(found).length === 0) return { status: stopping.status, failure: stopping.failure, ...failed };
    return { status: 'partial', output: found, failure: stopping.failure, ...failed };
  }
}

function valuesOf(result: Extract<NodeResult, { kind: 'succeeded' }>): Partial<NodeState> {
  return {
    output: result.output,
    degraded: result.degraded ?? false,
    ...(result.branch === undefined ? {} : { branch: result.branch }),
    ...(result.partial === undefined ? {} : { partial: result.partial }),
    ...(result.fingerprint === undefined ? {} : { fingerprint: result.fingerprint }),
  };
}

function verdictOn(live: LiveNode, node: (id: string) => NodeState): 'ready' | 'skip' | 'wait' {
  let arrived = 0;
  let dead = 0;
  let regular = 0;
  let fallbacks = 0;
  let fallbackArrived = false;
  let fallbackOpen = false;
  for (const edge of live.incoming) {
    const state = edgeState(edge, node(edge.from), live.id);
    if (edge.kind === 'fallback') {
      fallbacks += 1;
      fallbackArrived ||= state === 'arrived';
      fallbackOpen ||= state === 'open';
      continue;
    }
    regular += 1;
    if (state === 'arrived') arrived += 1;
    if (state === 'dead') dead += 1;
  }
  if (fallbacks > 0 && !fallbackArrived) return fallbackOpen ? 'wait' : 'skip';
  if (live.join === 'all') return dead > 0 ? 'skip' : arrived === regular ? 'ready' : 'wait';
  if (arrived + dead < regular) return 'wait';
  return arrived > 0 || regular === 0 ? 'ready' : 'skip';
}

function edgeState(edge: PlanEdge, from: NodeState, target: string): 'arrived' | 'dead' | 'open' {
  if (edge.kind === 'fallback') {
    if (from.awaiting === target) return 'arrived';
    return hasEnded(from.status) ? 'dead' : 'open';
  }
  if (from.status === 'skipped') return from.failure === undefined || edge.kind === 'branch' ? 'dead' : 'arrived';
  if (from.status !== 'succeeded') return 'open';
  return edge.kind === 'branch' && from.branch !== edge.branch ? 'dead' : 'arrived';
}
