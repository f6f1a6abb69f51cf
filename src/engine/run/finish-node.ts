import { engineFault, readAgain } from '../call/read-again.ts';
import type { LiveNode } from '../graph/live.ts';
import type { RememberedRecord, StoreCommand } from '../ports/index.ts';
import { happen } from './apply.ts';
import type { NodeResult } from './decide.ts';
import { checkHeld } from './hold.ts';
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
    const found = await lastGood(frame, path);
    happen(
      frame,
      { kind: 'finished', id: node.id, result: found === undefined ? result : { ...result, lastGood: found.output } },
      along,
    );
    // It was under way while its result was sought; what stands still beside it may be all that is left.
    checkHeld(frame.run);
    return;
  }
  happen(frame, { kind: 'finished', id: node.id, result }, along);
}

/** Without an answer the node fails as it would without its policy: it must end, and a graph that stops needs no more. */
async function lastGood(frame: Frame, path: string): Promise<RememberedRecord | undefined> {
  const { run, callRun } = frame;
  const { services } = run;
  const read = async (): Promise<RememberedRecord | undefined> =>
    await services.deps.store.lastGood(run.record.sourceRef, path);
  try {
    const isLost = (): 'canceled' | undefined => (callRun.epoch() === undefined ? 'canceled' : undefined);
    const found = await readAgain(services, read, () => callRun.stopping() ?? isLost());
    return found.ok ? found.value : undefined;
  } catch (error) {
    if (services.signal.aborted) throw error;
    engineFault(services, path, error);
    return undefined;
  }
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
