import { advance } from '../call/advance.ts';
import { eventOf } from '../call/events.ts';
import { engineFault } from '../call/read-again.ts';
import type { Services } from '../call/services.ts';
import type { LiveGraph, LivePlan } from '../graph/live.ts';
import type { AttemptRecord, ExecutionRecord, NodeRecord, StoreCommand } from '../ports/index.ts';
import { type ExecutionRequest, writeRequest } from '../worker/request.ts';
import { openFrame, stopFrame } from './apply.ts';
import { createCallRun } from './call-run.ts';
import { chooseWorkflow } from './choose-workflow.ts';
import type { GraphEnd } from './decide.ts';
import { endExecution } from './end-execution.ts';
import type { Stopping } from './frame.ts';
import { createJournal } from './journal.ts';
import { putExecution, type Run } from './run.ts';
import { startNode } from './start-node.ts';

export interface RunParts {
  readonly services: Services;
  readonly plan: LivePlan;
  readonly record: ExecutionRecord;
  readonly request: ExecutionRequest;
  readonly nodes: readonly NodeRecord[];
  readonly attempts: readonly AttemptRecord[];
  readonly onOver: (run: Run) => void;
  readonly onLost: (run: Run, error: unknown) => void;
}

/** Makes an execution, new or taken up, ready to run in this process. */
export function createRun(parts: RunParts): Run {
  // Taken apart: a closure must not keep the records that it was opened from.
  const { services, plan, record, request, onLost } = parts;
  const journal = createJournal(services.deps, services.signal, (error) => {
    onLost(run, error);
  });
  const run: Run = {
    services,
    plan,
    journal,
    record,
    params: request.params,
    hasRequest: writeRequest(request) !== undefined,
    anew: nothing,
    storedNodes: byNode(parts.nodes),
    storedAttempts: byPath(parts.attempts),
    leaves: new Map(),
    calls: new Set(),
    frames: new Set(),
    root: undefined,
    stopping: undefined,
    activeSinceMs: record.status === 'held' ? undefined : services.deps.clock.monotonicMs(),
    notedHeld: new Set(),
    toldHeld: new Set(),
    isOver: false,
    startNode,
    onOver: parts.onOver,
  };
  return run;
}

const nothing: ReadonlySet<string> = new Set();

function byNode(nodes: readonly NodeRecord[]): Map<string, NodeRecord> {
  return new Map(nodes.map((node) => [node.path, node]));
}

function byPath(attempts: readonly AttemptRecord[]): Map<string, AttemptRecord[]> {
  const paths = new Map<string, AttemptRecord[]>();
  for (const attempt of [...attempts].sort((left, right) => left.ordinal - right.ordinal)) {
    const list = paths.get(attempt.nodePath);
    if (list === undefined) paths.set(attempt.nodePath, [attempt]);
    else list.push(attempt);
  }
  return paths;
}

/** Starts the execution, or goes on where the store saw it. */
export async function openRun(run: Run, request: ExecutionRequest): Promise<void> {
  const { clock } = run.services.deps;
  if (run.record.status === 'queued') run.journal.push(startCommands(run, clock.nowMs()));
  const graph = await graphOf(run, request.choice);
  if (run.journal.isLost || run.isOver) return;
  if ('status' in graph) {
    endExecution(run, graph);
    return;
  }
  if (request.rerunFrom !== undefined) markAnew(run, graph, request.rerunFrom);
  openFrame(run, graph, {
    prefix: '',
    input: run.record.input,
    startedAt: run.record.startedAt ?? clock.nowMs(),
    onEnd: (end) => {
      endExecution(run, end);
    },
  });
  if (run.record.cancelRequestedAt !== undefined) cancelRun(run);
}

/** The graph to run, which a planner may have to choose; or how the execution ends without one. */
async function graphOf(run: Run, choice: ExecutionRequest['choice']): Promise<LiveGraph | GraphEnd> {
  const { services, plan } = run;
  try {
    if (choice !== undefined && plan.plan.graphs[run.record.workflow] === undefined) {
      const chosen = await chooseWorkflow(run, createCallRun(run), choice);
      if (run.stopping?.status === 'failed') return { status: 'failed', failure: run.stopping.failure };
      if (chosen === 'canceled') return { status: 'canceled' };
      if (chosen !== 'chosen') return { status: 'failed', failure: chosen };
    }
    return plan.graph(run.record.workflow);
  } catch (error) {
    if (services.signal.aborted) throw error;
    // It is in `runs` by now: nobody else would ever end it.
    return { status: 'failed', failure: engineFault(services, run.record.workflow, error) };
  }
}

function startCommands(run: Run, at: number): readonly StoreCommand[] {
  return [
    putExecution(run, { status: 'running', startedAt: at }),
    eventOf(run.record, at, 'execution-started', { workflow: run.record.workflow }),
  ];
}

/** The node and everything that hangs on it. */
function markAnew(run: Run, graph: LiveGraph, from: string): void {
  const anew = new Set<string>();
  const queue = [from.split(/[/[]/)[0] ?? from];
  for (const id of queue) {
    if (anew.has(id)) continue;
    anew.add(id);
    queue.push(...(graph.nodes.get(id)?.dependents ?? []));
  }
  run.anew = anew;
}

/** Asks everything that is under way to end. */
export function cancelRun(run: Run): void {
  stopRun(run, {
    status: 'canceled',
    failure: { kind: 'canceled', code: 'canceled', message: 'canceled on request' },
  });
}

/** Nothing new starts, what is under way ends as it can: in its graph, or before there is one. */
export function stopRun(run: Run, stopping: Stopping): void {
  if (run.root !== undefined) {
    stopFrame(run.root, stopping);
    return;
  }
  if (run.stopping?.status !== 'canceled') run.stopping = stopping;
  for (const call of [...run.calls]) advance(run.services, call);
}
