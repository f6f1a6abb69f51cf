import type { Failure } from '../../contract/index.ts';
import { assertNever, isJsonObject } from '../../kernel/index.ts';
import { withLimit } from '../call/limit.ts';
import { eventOf } from '../call/events.ts';
import type { LiveNode } from '../graph/live.ts';
import type { NodeResult } from './decide.ts';
import { scopeOf } from './frame.ts';
import { type Frame, pathOf, putNode } from './run.ts';
import { startMap } from './start-map.ts';
import { startSkill } from './start-skill.ts';
import { startWorkflow } from './start-workflow.ts';
import { finishNode, reportNode } from './finish-node.ts';

/** A function without a time limit of its own is given up on after this. */
const functionLimitMs = 3_600_000;

/** Begins a node that `decide` has started; also after a crash. */
export function startNode(frame: Frame, id: string): void {
  const node = frame.state.graph.nodes.get(id);
  const { run } = frame;
  // What does not start any more in this process starts in the next one.
  if (node === undefined || run.isOver || run.journal.isLost || run.services.isStopping()) return;
  const { definition } = node;
  switch (definition.kind) {
    case 'function':
      void frame.run.services.track(runFunction(frame, node, definition.function));
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
  if (state === undefined) return;
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

/** Functions are called again after a crash; they leave no record before their end. */
async function runFunction(frame: Frame, node: LiveNode, name: string): Promise<void> {
  const { run } = frame;
  const { deps } = run.services;
  const path = pathOf(frame, node.id);
  const call = deps.functions.get(name);
  if (call === undefined) {
    const failure: Failure = { kind: 'configuration', code: 'no-function', message: `no function named ${name}` };
    await finishNode(frame, node, { kind: 'failed', failure });
    return;
  }
  const abort = new AbortController();
  run.leaves.set(path, {
    frame,
    id: node.id,
    abort,
    status: 'working',
    waitsFor: undefined,
    toldWait: undefined,
    sinceMs: deps.clock.nowMs(),
    held: undefined,
  });
  run.journal.push([eventOf(run.record, deps.clock.nowMs(), 'node-started', { node: path, title: node.title })]);
  const input = node.resolveInput(scopeOf(frame.state));
  const result = await callFunction(frame, node, abort, (signal) => call(input, signal));
  run.leaves.delete(path);
  if (result !== undefined) await finishNode(frame, node, result);
}

async function callFunction(
  frame: Frame,
  node: LiveNode,
  abort: AbortController,
  call: (signal: AbortSignal) => ReturnType<FunctionCall>,
): Promise<NodeResult | undefined> {
  const { services } = frame.run;
  const startedAt = frame.state.nodes.get(node.id)?.startedAt ?? services.deps.clock.nowMs();
  const leftMs = (frame.deadlineAt ?? Number.POSITIVE_INFINITY) - services.deps.clock.nowMs();
  const ownMs =
    node.definition.timeout === undefined
      ? functionLimitMs
      : startedAt + node.definition.timeout - services.deps.clock.nowMs();
  const stop = AbortSignal.any([services.signal, abort.signal]);
  const answer = await withLimit(services.deps.clock, Math.max(1, Math.min(ownMs, leftMs)), stop, call);
  if (services.signal.aborted) return undefined;
  if (abort.signal.aborted) return { kind: 'canceled' };
  if (answer.kind === 'no-answer') {
    const isTimeout = answer.error.name === 'AbortedError';
    const failure: Failure = {
      kind: isTimeout ? 'timeout' : 'internal',
      code: 'function',
      message: answer.error.message,
    };
    return { kind: 'failed', failure };
  }
  if (!answer.value.ok) return { kind: 'failed', failure: answer.value.failure };
  return isJsonObject(answer.value.value)
    ? { kind: 'succeeded', output: answer.value.value }
    : { kind: 'failed', failure: { kind: 'internal', code: 'function', message: 'the function gave no object' } };
}

type FunctionCall = NonNullable<ReturnType<Frame['run']['services']['deps']['functions']['get']>>;
