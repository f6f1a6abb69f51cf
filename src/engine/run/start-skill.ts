import type { Failure, NodeDefinition } from '../../contract/index.ts';
import { isJsonObject, type JsonObject } from '../../kernel/index.ts';
import { advance } from '../call/advance.ts';
import { end } from '../call/end-call.ts';
import { eventOf } from '../call/events.ts';
import { countsAsPaid, maxPaidCalls } from '../call/history.ts';
import { openCall } from '../call/open-call.ts';
import type { CallEnd, CallOwner, LiveAttempt, PaidCalls, SkillCall, WaitReason } from '../call/types.ts';
import type { LiveNode } from '../graph/live.ts';
import type { RememberedRecord, StoreCommand } from '../ports/index.ts';
import { happen } from './apply.ts';
import { reportNode } from './finish-node.ts';
import { scopeOf } from './frame.ts';
import { checkHeld, leafHeld, leafWaits, leafWorks, tellNextHeld } from './hold.ts';
import { addMarks, type Frame, pathOf, type Run } from './run.ts';

/** Begins a skill node: opens its call and lets it go. */
export async function startSkill(
  frame: Frame,
  node: LiveNode,
  definition: Extract<NodeDefinition, { kind: 'skill' }>,
): Promise<void> {
  const { run } = frame;
  const path = pathOf(frame, node.id);
  const owner = new NodeOwner(frame, node);
  const opened = await openCall(run.services, path, () => {
    const skill = run.plan.skill(definition.skill);
    const scope = scopeOf(frame.state);
    return {
      run: frame.callRun,
      owner,
      path,
      title: node.title,
      skill,
      input: node.resolveInput(scope),
      params: { ...node.resolveParams(scope), ...runParams(run, node.id) },
      retry: definition.retry,
      paid: paidCallsOf(run, path, maxPaidCalls(run.services, skill.plan.definition)),
      occurrence: frame.occurrence,
      deadlineAt: deadlineOf(frame, node),
      mayReuse: !run.anew.has(frame.rootNode ?? node.id),
      wake: run.services.advance,
    };
  });
  owner.fingerprint = opened.fingerprint;
  if (opened.kind === 'end') {
    endNode(frame, node, opened.end, opened.fingerprint);
    return;
  }
  const { call } = opened;
  run.leaves.set(path, {
    frame,
    id: node.id,
    status: 'working',
    waitsFor: undefined,
    toldWait: undefined,
    sinceMs: run.services.deps.clock.nowMs(),
    held: undefined,
  });
  if (run.isOver || run.journal.isLost) end(run.services, call, { kind: 'canceled' });
  else advance(run.services, call);
}

/** Parameters given with the run: `{draw: {ratio: '9:16'}}` is for the node named draw. */
function runParams(run: Run, id: string): JsonObject {
  const own = run.params[id];
  return isJsonObject(own) ? own : {};
}

/** Purchases made for the node before a crash, its judges' included, count on. */
export function paidCallsOf(run: Run, path: string, max: number): PaidCalls {
  let used = 0;
  for (const [stored, attempts] of run.storedAttempts) {
    if (stored === path || stored.startsWith(`${path}#`)) used += attempts.filter(countsAsPaid).length;
  }
  return { max, used };
}

function deadlineOf(frame: Frame, node: LiveNode): number | undefined {
  const { timeout } = node.definition;
  if (timeout === undefined) return frame.deadlineAt;
  const startedAt = frame.state.nodes.get(node.id)?.startedAt ?? frame.run.services.deps.clock.nowMs();
  return Math.min(startedAt + timeout, frame.deadlineAt ?? Number.POSITIVE_INFINITY);
}

/** What a call tells of, done to its node. A class, since every waiting call has one. */
class NodeOwner implements CallOwner {
  fingerprint: string | undefined;
  readonly #frame: Frame;
  readonly #node: LiveNode;

  constructor(frame: Frame, node: LiveNode) {
    this.fingerprint = undefined;
    this.#frame = frame;
    this.#node = node;
  }

  waits(_call: SkillCall, why: WaitReason | undefined): void {
    leafWaits(this.#frame.run, this.#path, why);
  }

  works(): void {
    leafWorks(this.#frame.run, this.#path);
  }

  held(_call: SkillCall, attempt: LiveAttempt, failure: Failure): void {
    leafHeld(this.#frame.run, this.#path, attempt, failure);
  }

  ended(_call: SkillCall, result: CallEnd): void {
    const { run } = this.#frame;
    const wasHeld = run.leaves.get(this.#path)?.held !== undefined;
    run.leaves.delete(this.#path);
    endNode(this.#frame, this.#node, result, this.fingerprint);
    if (wasHeld) tellNextHeld(run);
  }

  get #path(): string {
    return pathOf(this.#frame, this.#node.id);
  }
}

function endNode(frame: Frame, node: LiveNode, result: CallEnd, fingerprint: string | undefined): void {
  const { run } = frame;
  if (result.kind !== 'succeeded') {
    reportNode(frame, node, result);
    checkHeld(run);
    return;
  }
  const along = resultCommands(run, pathOf(frame, node.id), result, fingerprint);
  happen(
    frame,
    {
      kind: 'finished',
      id: node.id,
      result: {
        kind: 'succeeded',
        output: result.output,
        degraded: result.degraded,
        ...(fingerprint === undefined ? {} : { fingerprint }),
      },
    },
    along,
  );
  checkHeld(run);
}

/** What a call's result adds to the node's commit: it is remembered, and its marks are kept. */
export function resultCommands(
  run: Run,
  path: string,
  result: Extract<CallEnd, { kind: 'succeeded' }>,
  fingerprint: string | undefined,
): readonly StoreCommand[] {
  const at = run.services.deps.clock.nowMs();
  const commands: StoreCommand[] = [...addMarks(run, result.marks)];
  if (result.isReused) {
    // Whose result it was: the attempt names its execution, inputs and vendor.
    const from = result.attemptId === undefined ? {} : { attempt: result.attemptId };
    commands.push(eventOf(run.record, at, 'node-reused', { node: path, ...from }));
  }
  if (fingerprint !== undefined) {
    const record: RememberedRecord = {
      fingerprint,
      sourceRef: run.record.sourceRef,
      nodePath: path,
      output: result.output,
      degraded: result.degraded,
      at,
      ...(result.attemptId === undefined ? {} : { attemptId: result.attemptId }),
    };
    commands.push({ type: 'remember', record });
  }
  return commands;
}
