import type { Failure } from '../../contract/index.ts';
import { eventOf, failureData } from '../call/events.ts';
import type { ExecutionStatus, OutboxMessage } from '../ports/index.ts';
import type { GraphEnd } from './decide.ts';
import { putExecution, type Run } from './run.ts';

/** The root graph has ended: the execution's end, its event and its outbox entry in one commit. */
export function endExecution(run: Run, end: GraphEnd): void {
  const { deps } = run.services;
  if (run.isOver) return;
  const at = deps.clock.nowMs();
  const status: ExecutionStatus = end.status;
  const failedNode = wordsFor(run, end);
  const failure = failureWith(end);
  const command = putExecution(run, {
    status,
    endedAt: at,
    ...(end.output === undefined ? {} : { output: end.output }),
    ...(failure === undefined ? {} : { failure }),
  });
  const message: OutboxMessage = {
    kind: 'ended',
    status: end.status,
    marks: run.record.marks,
    activeMs: run.record.activeMs,
    ...(end.output === undefined ? {} : { output: end.output }),
    ...(failure === undefined ? {} : { failure }),
    ...(failedNode === undefined ? {} : { failedNode }),
  };
  deps.failpoints.hit('execution:before-end');
  run.journal.push([
    command,
    eventOf(run.record, at, 'execution-ended', {
      status,
      ...(failure === undefined ? {} : { failure: failureData(failure) }),
      ...(failedNode === undefined ? {} : { node: failedNode }),
    }),
    {
      type: 'append-outbox',
      entry: {
        at,
        executionId: run.record.id,
        sourceRef: run.record.sourceRef,
        generation: run.record.generation,
        message,
      },
    },
  ]);
  void run.services.track(
    run.journal.write([]).then((isWritten) => {
      if (!isWritten) return;
      run.isOver = true;
      run.onOver(run);
    }),
  );
}

function failureWith(end: GraphEnd): Failure | undefined {
  return (
    end.failure ?? (end.status === 'canceled' ? { kind: 'canceled', code: 'canceled', message: 'canceled' } : undefined)
  );
}

/** The failed node's title, and where inside it: `分镜 · 绘图`. */
function wordsFor(run: Run, end: GraphEnd): string | undefined {
  if (end.failedNode === undefined) return undefined;
  const root = run.root;
  const title = root?.state.graph.nodes.get(end.failedNode)?.title ?? end.failedNode;
  return root?.failedInside === undefined ? title : `${title} · ${root.failedInside}`;
}
