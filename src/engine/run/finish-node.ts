import type { LiveNode } from '../graph/live.ts';
import type { StoreCommand } from '../ports/index.ts';
import { happen } from './apply.ts';
import type { NodeResult } from './decide.ts';
import { type Frame, pathOf } from './run.ts';

/** Hands a node's result to the graph. Where its policy asks for the last good result, that is fetched first. */
export async function finishNode(
  frame: Frame,
  node: LiveNode,
  result: NodeResult,
  along: readonly StoreCommand[] = [],
): Promise<void> {
  const policy = node.definition.on_failure;
  const path = pathOf(frame, node.id);
  if (result.kind === 'failed' && typeof policy === 'object' && policy.fallback === 'last_good') {
    const { store } = frame.run.services.deps;
    const found = await store.lastGood(frame.run.record.sourceRef, path);
    happen(
      frame,
      { kind: 'finished', id: node.id, result: found === undefined ? result : { ...result, lastGood: found.output } },
      along,
    );
    return;
  }
  happen(frame, { kind: 'finished', id: node.id, result }, along);
}

/** The same from where nobody waits for it. */
export function reportNode(
  frame: Frame,
  node: LiveNode,
  result: NodeResult,
  along: readonly StoreCommand[] = [],
): void {
  void frame.run.services.track(finishNode(frame, node, result, along));
}
