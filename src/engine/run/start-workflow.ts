import type { NodeDefinition } from '../../contract/index.ts';
import type { LiveNode } from '../graph/live.ts';
import { openFrame } from './apply.ts';
import type { GraphEnd, NodeResult } from './decide.ts';
import { reportNode } from './finish-node.ts';
import { scopeOf } from './frame.ts';
import { type Frame, pathOf } from './run.ts';

/** Another workflow as a node: its graph runs inside, under the node's path. */
export function startWorkflow(
  frame: Frame,
  node: LiveNode,
  definition: Extract<NodeDefinition, { kind: 'workflow' }>,
): void {
  const { run } = frame;
  const { clock } = run.services.deps;
  openFrame(run, run.plan.graph(definition.workflow), {
    prefix: pathOf(frame, node.id),
    parent: frame,
    rootNode: frame.rootNode ?? node.id,
    occurrence: frame.occurrence,
    input: node.resolveInput(scopeOf(frame.state)),
    startedAt: frame.state.nodes.get(node.id)?.startedAt ?? clock.nowMs(),
    onEnd: (end) => {
      frame.failedInside = end.failedNode ?? frame.failedInside;
      reportNode(frame, node, resultOf(end));
    },
  });
}

/** What the end of an inner graph means for the node that holds it. */
function resultOf(end: GraphEnd): NodeResult {
  const failure = end.failure ?? {
    kind: 'internal',
    code: 'no-reason',
    message: 'the inner workflow ended without a reason',
  };
  switch (end.status) {
    case 'succeeded':
      return { kind: 'succeeded', output: end.output ?? {} };
    case 'partial':
      return { kind: 'succeeded', output: end.output ?? {}, partial: failure };
    case 'failed':
      return { kind: 'failed', failure };
    case 'canceled':
      return { kind: 'canceled' };
  }
}
