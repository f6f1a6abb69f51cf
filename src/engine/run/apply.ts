import type { Failure } from '../../contract/index.ts';
import type { Json, JsonObject } from '../../kernel/index.ts';
import { advance } from '../call/advance.ts';
import { eventOf, failureData } from '../call/events.ts';
import type { LiveGraph } from '../graph/live.ts';
import type { StoreCommand } from '../ports/index.ts';
import { createCallRun, stoppingOf } from './call-run.ts';
import { adopt, decide, type GraphDecision, type GraphEnd, type GraphEvent } from './decide.ts';
import { createFrameState, type NodeState } from './frame.ts';
import { restoreFrame } from './restore.ts';
import { addMarks, type Frame, pathOf, putNode, type Run } from './run.ts';

/** Where a graph stands in its execution, and what it is given. */
export interface FramePlace {
  readonly prefix: string;
  readonly parent?: Frame;
  readonly rootNode?: string;
  readonly occurrence?: number | string;
  readonly input: JsonObject;
  readonly item?: Json;
  readonly index?: number;
  readonly startedAt: number;
  readonly onEnd: (end: GraphEnd) => void;
}

/** Opens a graph: the root, the inside of a workflow node, or an item of a map. Takes up what the store knows of it. */
export function openFrame(run: Run, graph: LiveGraph, place: FramePlace): void {
  const { input, parent, startedAt } = place;
  const checked = graph.checkInput(input);
  if (!checked.ok) {
    const message = `the input of workflow ${graph.name} does not fit its schema: ${checked.failure}`;
    place.onEnd({ status: 'failed', failure: { kind: 'invalid-input', code: 'workflow-input', message } });
    return;
  }
  const ownDeadline = graph.deadlineMs === undefined ? undefined : startedAt + graph.deadlineMs;
  const frame = createFrame(run, graph, place, earlier(ownDeadline, parent?.deadlineAt));
  run.frames.add(frame);
  if (parent === undefined) run.root = frame;
  const underWay = restoreFrame(frame);
  if (ownDeadline !== undefined) armDeadline(frame, ownDeadline - run.services.deps.clock.nowMs());
  const stopping = stoppingOf(parent) ?? frame.state.stopping;
  frame.state.stopping = stopping;
  happen(frame, stopping === undefined ? { kind: 'opened' } : { kind: 'stopped', stopping });
  for (const id of underWay) run.startNode(frame, id);
}

function createFrame(run: Run, graph: LiveGraph, place: FramePlace, deadlineAt: number | undefined): Frame {
  const { prefix, parent, rootNode, input, item, index, onEnd } = place;
  const values = {
    input,
    params: run.params,
    ...(item === undefined ? {} : { item }),
    ...(index === undefined ? {} : { index }),
  };
  const state = createFrameState(graph, values);
  const occurrence = place.occurrence ?? 0;
  const callRun = createCallRun(run);
  const frame: Frame = {
    run,
    state,
    prefix,
    parent,
    rootNode,
    occurrence,
    deadlineAt,
    onEnd,
    callRun,
    timer: undefined,
    failedInside: undefined,
  };
  callRun.frame = frame;
  return frame;
}

/** Stops the graph when its own time is over. */
function armDeadline(frame: Frame, afterMs: number): void {
  frame.timer = {
    dueMs: 0,
    slot: -1,
    onDue: () => {
      stopFrame(frame, { status: 'failed', failure: deadlinePassed });
    },
  };
  frame.run.services.timers.arm(frame.timer, afterMs);
}

const deadlinePassed: Failure = {
  kind: 'timeout',
  code: 'workflow-deadline',
  message: 'the deadline of the workflow has passed',
};

function earlier(left: number | undefined, right: number | undefined): number | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return Math.min(left, right);
}

/** Something happened in a graph: decide, make it true in memory, write it in one commit, and only then act on it. */
export function happen(frame: Frame, event: GraphEvent, along: readonly StoreCommand[] = []): void {
  const { run } = frame;
  if (run.isOver || run.journal.isLost || !run.frames.has(frame)) return;
  const { deps } = run.services;
  const before = frame.state.stopping;
  const decision = decide(frame.state, event, deps.clock.nowMs());
  adopt(frame.state, decision);
  run.journal.push(along);
  run.journal.push(commandsOf(frame, decision));
  if (decision.end !== undefined) {
    closeFrame(frame, decision.end);
    return;
  }
  if (decision.stopping !== undefined && decision.stopping.status !== before?.status) stopInside(frame);
  const { starts } = decision;
  // Nodes that start with the graph need nothing on disk first: what they buy is written before it is sent.
  if (event.kind === 'opened') for (const id of starts) run.startNode(frame, id);
  else if (starts.length > 0 || event.kind === 'finished') void run.services.track(startWhenWritten(frame, starts));
}

/** Once the result is on disk: it may be that nothing starts on it. */
async function startWhenWritten(frame: Frame, starts: readonly string[]): Promise<void> {
  const { run } = frame;
  if (!(await run.journal.write([]))) return;
  run.services.deps.failpoints.hit('node:after-result');
  for (const id of starts) run.startNode(frame, id);
}

function closeFrame(frame: Frame, end: GraphEnd): void {
  if (frame.timer !== undefined) frame.run.services.timers.disarm(frame.timer);
  frame.run.frames.delete(frame);
  frame.onEnd(end);
}

/** Stops a graph and everything inside it: nothing new starts; what is under way sees it and ends as it can. */
export function stopFrame(frame: Frame, stopping: NonNullable<Frame['state']['stopping']>): void {
  happen(frame, { kind: 'stopped', stopping });
}

function stopInside(frame: Frame): void {
  const { run } = frame;
  const stopping = frame.state.stopping;
  if (stopping === undefined) return;
  for (const child of [...run.frames]) {
    if (child.parent === frame) stopFrame(child, { status: stopping.status, failure: stopping.failure });
  }
  // Judges as well: the call that waits for one is busy, and would not hear of it.
  for (const call of [...run.calls]) if (call.run === frame.callRun) advance(run.services, call);
  if (stopping.status !== 'canceled') return;
  for (const leaf of [...run.leaves.values()]) {
    if (leaf.frame === frame) leaf.abort?.abort(new Error('canceled'));
  }
}

/** Records and events of a decision. A node that merely became ready, or started and will say so itself, writes nothing. */
function commandsOf(frame: Frame, decision: GraphDecision): readonly StoreCommand[] {
  const commands: StoreCommand[] = [];
  for (const node of decision.changes) {
    if ((node.status === 'running' && node.awaiting === undefined) || node.status === node.onDisk) continue;
    if (node.onDisk !== undefined) frame.state.nodes.set(node.id, { ...node, onDisk: node.status });
    commands.push(putNode(frame, node), ...eventsOf(frame, node));
  }
  return commands;
}

function eventsOf(frame: Frame, node: NodeState): readonly StoreCommand[] {
  const { run } = frame;
  const at = run.services.deps.clock.nowMs();
  const live = frame.state.graph.nodes.get(node.id);
  const facts = { node: pathOf(frame, node.id), title: live?.title ?? node.id };
  const failure = node.failure === undefined ? {} : { failure: failureData(node.failure) };
  const tell = (type: Parameters<typeof eventOf>[2], data: JsonObject = {}): StoreCommand =>
    eventOf(run.record, at, type, { ...facts, ...data });
  switch (node.status) {
    case 'succeeded': {
      const branch = node.branch === undefined ? {} : { branch: node.branch };
      const told = [tell('node-succeeded', { ...branch, ...(node.degraded ? { degraded: true } : {}) })];
      if (node.failure === undefined) return told;
      const text = `「${facts.title}」失败，用了后备结果`;
      return [
        tell('node-failed', failure),
        tell('node-degraded', failure),
        ...told,
        ...addMarks(run, [{ kind: 'degraded', node: facts.node, text }]),
      ];
    }
    case 'skipped':
      if (node.failure === undefined) return [tell('node-skipped')];
      return [
        tell('node-failed', failure),
        tell('node-skipped', failure),
        ...addMarks(run, [{ kind: 'degraded', node: facts.node, text: `「${facts.title}」失败，已跳过` }]),
      ];
    case 'failed':
      return [tell('node-failed', failure)];
    default:
      return [];
  }
}
