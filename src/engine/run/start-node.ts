import type { Failure } from '../../contract/index.ts';
import { assertNever } from '../../kernel/index.ts';
import { eventOf } from '../call/events.ts';
import type { LiveNode } from '../graph/live.ts';
import { scopeOf } from './frame.ts';
import { type Frame, pathOf, putNode } from './run.ts';
import { startFunction } from './start-function.ts';
import { startMap } from './start-map.ts';
import { startSkill } from './start-skill.ts';
import { startWorkflow } from './start-workflow.ts';
import { reportNode } from './finish-node.ts';

/** Begins a node that `decide` has started; also after a crash. */
export function startNode(frame: Frame, id: string): void {
  const node = frame.state.graph.nodes.get(id);
  const { run } = frame;
  // What does not start any more in this process starts in the next one.
  if (node === undefined || run.isOver || run.journal.isLost || run.services.isStopping()) return;
  const { definition } = node;
  switch (definition.kind) {
    case 'function':
      startFunction(frame, node, definition.function);
      return;
    case 'condition':
      evaluate(frame, node);
      return;
    case 'skill':
      announce(frame, node);
      void frame.run.services.track(startSkill(frame, node, definition));
      return;
    case 'map':
      announce(frame, node);
      startMap(frame, node, definition);
      return;
    case 'workflow':
      announce(frame, node);
      startWorkflow(frame, node, definition);
      return;
    default:
      assertNever(definition);
  }
}

/** The node's start, on disk with whatever is written next. A node of an item of a map is announced by the map. */
function announce(frame: Frame, node: LiveNode): void {
  const state = frame.state.nodes.get(node.id);
  if (state === undefined || state.onDisk !== undefined) return;
  const { run } = frame;
  const at = run.services.deps.clock.nowMs();
  run.journal.push([
    putNode(frame, state),
    eventOf(run.record, at, 'node-started', { node: pathOf(frame, node.id), title: node.title }),
  ]);
}

function evaluate(frame: Frame, node: LiveNode): void {
  const input = node.resolveInput(scopeOf(frame.state));
  for (const [branch, rule] of node.branches) {
    const holds = rule.holds({ input });
    if (!holds.ok) {
      const failure: Failure = {
        kind: 'invalid-input',
        code: 'condition',
        message: `branch ${branch} cannot be decided: ${holds.failure}`,
      };
      reportNode(frame, node, { kind: 'failed', failure });
      return;
    }
    if (holds.value) {
      reportNode(frame, node, { kind: 'succeeded', output: { branch }, branch });
      return;
    }
  }
  reportNode(frame, node, { kind: 'succeeded', output: { branch: 'else' }, branch: 'else' });
}
