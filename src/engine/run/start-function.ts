import type { Failure } from '../../contract/index.ts';
import { isJsonObject, type JsonObject, type Result } from '../../kernel/index.ts';
import { eventOf } from '../call/events.ts';
import type { LiveNode } from '../graph/live.ts';
import type { NodeFunction } from '../ports/index.ts';
import type { Timed } from '../worker/timers.ts';
import type { NodeResult } from './decide.ts';
import { finishNode, reportNode } from './finish-node.ts';
import { scopeOf } from './frame.ts';
import { checkHeld } from './hold.ts';
import { type Frame, pathOf } from './run.ts';

/** A function without a time limit of its own is given up on after this. */
const functionLimitMs = 3_600_000;

/** Begins a function node. Functions leave no record before their end, and are called again after a crash. */
export function startFunction(frame: Frame, node: LiveNode, name: string): void {
  const { run } = frame;
  const { deps } = run.services;
  const path = pathOf(frame, node.id);
  const call = deps.functions.get(name);
  if (call === undefined) {
    reportNode(frame, node, {
      kind: 'failed',
      failure: { kind: 'configuration', code: 'no-function', message: `no function named ${name}` },
    });
    return;
  }
  const nowMs = deps.clock.nowMs();
  const abort = new AbortController();
  run.leaves.set(path, {
    frame,
    id: node.id,
    abort,
    status: 'working',
    waitsFor: undefined,
    toldWait: undefined,
    sinceMs: nowMs,
    held: undefined,
  });
  run.journal.push([eventOf(run.record, nowMs, 'node-started', { node: path, title: node.title })]);
  void run.services.track(runFunction(frame, node, call, abort));
}

async function runFunction(frame: Frame, node: LiveNode, call: NodeFunction, abort: AbortController): Promise<void> {
  const { run } = frame;
  const { timers } = run.services;
  const limit: Timed = {
    dueMs: 0,
    slot: -1,
    onDue: () => {
      abort.abort(timedOut);
    },
  };
  timers.arm(limit, limitOf(frame, node));
  const result = await answerOf(call, node.resolveInput(scopeOf(frame.state)), abort.signal);
  timers.disarm(limit);
  run.leaves.delete(pathOf(frame, node.id));
  // Broken off by the engine's own end: the next incarnation calls it again.
  if (run.services.signal.aborted) return;
  await finishNode(frame, node, result);
  checkHeld(run);
}

const timedOut = new Error('the function took longer than its time limit');

function limitOf(frame: Frame, node: LiveNode): number {
  const nowMs = frame.run.services.deps.clock.nowMs();
  const startedAt = frame.state.nodes.get(node.id)?.startedAt ?? nowMs;
  const ownMs = startedAt + (node.definition.timeout ?? functionLimitMs) - nowMs;
  return Math.max(1, Math.min(ownMs, (frame.deadlineAt ?? Number.POSITIVE_INFINITY) - nowMs));
}

/** Waits for the function, and no longer than its signal allows, whether it heeds it or not. */
async function answerOf(call: NodeFunction, input: JsonObject, signal: AbortSignal): Promise<NodeResult> {
  const aborted = new Promise<NodeResult>((resolve) => {
    signal.addEventListener('abort', () => {
      resolve(
        signal.reason === timedOut
          ? { kind: 'failed', failure: { kind: 'timeout', code: 'function', message: timedOut.message } }
          : { kind: 'canceled' },
      );
    });
  });
  try {
    return await Promise.race([call(input, signal).then(resultOf), aborted]);
  } catch (error) {
    if (signal.aborted) return await aborted;
    const failure: Failure = {
      kind: 'internal',
      code: 'function',
      message: error instanceof Error ? error.message : String(error),
    };
    return { kind: 'failed', failure };
  }
}

function resultOf(answer: Result<JsonObject, Failure>): NodeResult {
  if (!answer.ok) return { kind: 'failed', failure: answer.failure };
  if (isJsonObject(answer.value)) return { kind: 'succeeded', output: answer.value };
  return { kind: 'failed', failure: { kind: 'internal', code: 'function', message: 'the function gave no object' } };
}
