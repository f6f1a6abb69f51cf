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
  const underWay = new FunctionCall(call, node.resolveInput(scopeOf(frame.state)));
  run.leaves.set(path, {
    frame,
    id: node.id,
    abort: underWay,
    status: 'working',
    waitsFor: undefined,
    toldWait: undefined,
    sinceMs: nowMs,
    held: undefined,
  });
  run.journal.push([eventOf(run.record, nowMs, 'node-started', { node: path, title: node.title })]);
  run.services.timers.arm(underWay, limitOf(frame, node));
  void run.services.track(finishFunction(frame, node, underWay));
}

async function finishFunction(frame: Frame, node: LiveNode, underWay: FunctionCall): Promise<void> {
  const { run } = frame;
  const result = await underWay.answer();
  run.services.timers.disarm(underWay);
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

/** A function under way, for no longer than its time limit and its graph allow, whether it heeds its signal or not. */
class FunctionCall implements Timed {
  dueMs = 0;
  slot = -1;
  readonly #call: NodeFunction;
  readonly #input: JsonObject;
  readonly #controller = new AbortController();
  #settle: ((result: NodeResult) => void) | undefined;

  constructor(call: NodeFunction, input: JsonObject) {
    this.#call = call;
    this.#input = input;
  }

  /** Calls it; what comes first is its result: its own answer, or why it was broken off. */
  answer(): Promise<NodeResult> {
    return new Promise((resolve) => {
      this.#settle = resolve;
      const fail = (error: unknown): void => {
        resolve({ kind: 'failed', failure: failureOf(error) });
      };
      try {
        this.#call(this.#input, this.#controller.signal)
          .then((answer) => {
            resolve(resultOf(answer));
          })
          .catch(fail);
      } catch (error) {
        fail(error);
      }
    });
  }

  abort(reason: Error): void {
    this.#settle?.(
      reason === timedOut
        ? { kind: 'failed', failure: { kind: 'timeout', code: 'function', message: timedOut.message } }
        : { kind: 'canceled' },
    );
    this.#controller.abort(reason);
  }

  onDue(): void {
    this.abort(timedOut);
  }
}

function resultOf(answer: Result<JsonObject, Failure>): NodeResult {
  if (!answer.ok) return { kind: 'failed', failure: answer.failure };
  if (isJsonObject(answer.value)) return { kind: 'succeeded', output: answer.value };
  return { kind: 'failed', failure: { kind: 'internal', code: 'function', message: 'the function gave no object' } };
}

function failureOf(error: unknown): Failure {
  return { kind: 'internal', code: 'function', message: error instanceof Error ? error.message : String(error) };
}
