import type { Failure } from '../../contract/index.ts';
import type { Json, JsonObject } from '../../kernel/index.ts';
import type { LiveGraph } from '../graph/live.ts';
import type { Scope } from '../graph/path.ts';
import type { NodeStatus } from '../ports/index.ts';

/** A node of a running graph, as `decide` sees it. */
export interface NodeState {
  readonly id: string;
  readonly status: NodeStatus;
  readonly branch?: string;
  readonly output?: Json;
  readonly failure?: Failure;
  readonly degraded: boolean;
  readonly fingerprint?: string;
  readonly startedAt?: number;
  readonly endedAt?: number;
  /** It has failed, and waits for the node that it falls back on. */
  readonly awaiting?: string;
  /** The status that the store has, where it was taken up from there: writing the same again is left out. */
  readonly onDisk?: NodeStatus;
  /** It has succeeded, but not all of it: a map that kept its good items. */
  readonly partial?: Failure;
}

/** One running graph: the root of an execution, the inside of a `workflow` node, or one item of a `map`. */
export interface FrameState {
  readonly graph: LiveGraph;
  readonly nodes: Map<string, NodeState>;
  /** Ready to start, waiting for `max_concurrency`; in order of their becoming ready. */
  ready: readonly string[];
  /** Nodes that hold a slot: `running`, and not waiting for a fallback. */
  active: number;
  /** Nodes that have not ended. */
  open: number;
  stopping: Stopping | undefined;
  readonly input: JsonObject;
  readonly item?: Json;
  readonly index?: number;
  readonly params: JsonObject;
}

export interface Stopping {
  readonly status: 'failed' | 'canceled';
  readonly failure: Failure;
  /** The node whose failure it was. */
  readonly node?: string;
}

export function createFrameState(
  graph: LiveGraph,
  values: { readonly input: JsonObject; readonly item?: Json; readonly index?: number; readonly params: JsonObject },
): FrameState {
  const nodes = new Map<string, NodeState>();
  for (const id of graph.nodes.keys()) nodes.set(id, { id, status: 'pending', degraded: false });
  return { graph, nodes, ready: [], active: 0, open: nodes.size, stopping: undefined, ...values };
}

/** Where the frame's data paths find their values. */
export function scopeOf(
  frame: Omit<FrameState, 'nodes'> & { readonly nodes: Pick<ReadonlyMap<string, NodeState>, 'get'> },
): Scope {
  return {
    input: frame.input,
    params: frame.params,
    ...(frame.item === undefined ? {} : { item: frame.item }),
    ...(frame.index === undefined ? {} : { index: frame.index }),
    node: (id) => {
      const node = frame.nodes.get(id);
      if (node?.status !== 'succeeded') return undefined;
      return { output: node.output, ...(node.branch === undefined ? {} : { branch: node.branch }) };
    },
  };
}

export function hasEnded(status: NodeStatus): boolean {
  return status === 'succeeded' || status === 'skipped' || status === 'failed' || status === 'canceled';
}
