import { type Failure, isFailureKind } from '../../contract/index.ts';
import { isJsonObject } from '../../kernel/index.ts';
import type { NodeRecord } from '../ports/index.ts';
import { hasEnded, type NodeState } from './frame.ts';
import { type Frame, pathOf, type Run } from './run.ts';

/**
 * Puts a graph back to where the store saw it. Ended nodes stay ended, and are never run again. Nodes that were under
 * way are returned, to begin again: a skill finds its purchases on disk, a function is called again, a nested graph is put back in turn.
 */
export function restoreFrame(frame: Frame): readonly string[] {
  const { state, run } = frame;
  const underWay: string[] = [];
  for (const id of state.graph.nodes.keys()) {
    const path = pathOf(frame, id);
    const stored = run.storedNodes.get(path);
    if (stored === undefined) continue;
    run.storedNodes.delete(path);
    if (stored.status === 'held') noteHeld(run, path);
    const node = stateOf(id, stored);
    state.nodes.set(id, node);
    if (hasEnded(node.status)) state.open -= 1;
    if (node.status === 'running') {
      state.active += 1;
      underWay.push(id);
    }
    if (node.status === 'failed' && node.failure !== undefined) {
      state.stopping ??= { status: 'failed', failure: node.failure, node: id };
    }
  }
  return underWay;
}

/** The row was told only if the execution as a whole was held: a node may stand still while others are under way. */
function noteHeld(run: Run, path: string): void {
  run.notedHeld.add(path);
  if (run.record.status === 'held') run.toldHeld.add(path);
}

function stateOf(id: string, stored: NodeRecord): NodeState {
  const started = stored.startedAt === undefined ? {} : { startedAt: stored.startedAt };
  if (!hasEnded(stored.status))
    return {
      id,
      status: stored.status === 'pending' ? 'pending' : 'running',
      degraded: false,
      onDisk: stored.status,
      ...started,
    };
  const partial = partialOf(stored);
  return {
    id,
    status: stored.status,
    degraded: stored.degraded,
    ...started,
    ...(stored.branch === undefined ? {} : { branch: stored.branch }),
    ...(stored.output === undefined ? {} : { output: stored.output }),
    ...(stored.failure === undefined ? {} : { failure: stored.failure }),
    ...(stored.fingerprint === undefined ? {} : { fingerprint: stored.fingerprint }),
    ...(stored.endedAt === undefined ? {} : { endedAt: stored.endedAt }),
    ...(partial === undefined ? {} : { partial }),
  };
}

function partialOf(stored: NodeRecord): Failure | undefined {
  const partial = stored.progress?.['partial'];
  if (!isJsonObject(partial)) return undefined;
  const { kind, code, message } = partial;
  if (typeof kind !== 'string' || !isFailureKind(kind)) return undefined;
  return { kind, code: typeof code === 'string' ? code : '', message: typeof message === 'string' ? message : '' };
}
