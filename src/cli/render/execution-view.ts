import type { AttemptRecord, ChargeRecord, ExecutionRecord, NodeRecord, Store } from '../../engine/ports/index.ts';
import { type ExecutionId, formatMicros } from '../../kernel/index.ts';
import { localTime, textTable } from './text-table.ts';

/** One execution with everything that belongs to it, as `show --json` prints it. */
export interface ExecutionView {
  readonly execution: ExecutionRecord;
  readonly nodes: readonly NodeRecord[];
  readonly attempts: readonly AttemptRecord[];
  readonly charges: readonly ChargeRecord[];
}

export async function readExecution(store: Store, id: ExecutionId): Promise<ExecutionView | undefined> {
  const execution = await store.execution(id);
  if (execution === undefined) return undefined;
  const [nodes, attempts, charges] = await Promise.all([
    store.nodes(id),
    store.attempts(id),
    store.charges({ executionId: id }),
  ]);
  return { execution, nodes, attempts, charges };
}

/** What has been charged, reservations included, in yuan with four places. */
export function costCny(charges: readonly ChargeRecord[]): string {
  return formatMicros(
    charges.filter((charge) => charge.state !== 'released').reduce((sum, charge) => sum + charge.cnyMicros, 0),
    4,
  );
}

export function renderExecution(view: ExecutionView, timeZone: string): string[] {
  const { execution, nodes, attempts, charges } = view;
  return [
    `${execution.id}  ${execution.workflow}  ${execution.status}`,
    `source ${execution.sourceRef}  generation ${execution.generation}${execution.parentId === undefined ? '' : `  parent ${execution.parentId}`}`,
    `created ${localTime(execution.createdAt, timeZone)}  started ${localTime(execution.startedAt, timeZone)}  ended ${localTime(execution.endedAt, timeZone)}  cost ${costCny(charges)} CNY`,
    ...(execution.failure === undefined ? [] : [`failure ${execution.failure.kind}: ${execution.failure.message}`]),
    ...execution.marks.map((mark) => `mark ${mark.kind} ${mark.node}: ${mark.text}`),
    '',
    ...textTable(
      ['NODE', 'STATUS', 'STARTED', 'ENDED', 'NOTE'],
      nodes.map((node) => [
        node.path,
        node.status,
        localTime(node.startedAt, timeZone),
        localTime(node.endedAt, timeZone),
        nodeNote(node),
      ]),
    ),
    '',
    ...textTable(
      ['ATTEMPT', 'NODE', 'VENDOR', 'STATE', 'TASK', 'POLLS', 'COST', 'NOTE'],
      attempts.map((attempt) => [
        attempt.id,
        `${attempt.nodePath} #${attempt.ordinal}`,
        `${attempt.provider}/${attempt.model}`,
        attempt.state,
        attempt.handle === undefined ? '–' : JSON.stringify(attempt.handle).slice(0, 60),
        String(attempt.polls),
        chargeText(charges.filter((charge) => charge.attemptId === attempt.id)),
        attempt.failure === undefined
          ? (attempt.refusedOutput ?? []).join('; ')
          : `${attempt.failure.kind}: ${attempt.failure.message}`,
      ]),
    ),
    ...(execution.output === undefined ? [] : ['', 'output', JSON.stringify(execution.output, undefined, 2)]),
  ];
}

function nodeNote(node: NodeRecord): string {
  if (node.failure !== undefined) return `${node.failure.kind}: ${node.failure.message}`;
  return [node.branch === undefined ? '' : `branch ${node.branch}`, node.degraded ? 'degraded' : '']
    .filter((part) => part !== '')
    .join(', ');
}

function chargeText(charges: readonly ChargeRecord[]): string {
  return charges
    .map(
      (charge) =>
        `${formatMicros(charge.amount.micros, 6)} ${charge.amount.currency} (${charge.state}, ${charge.source})`,
    )
    .join(' + ');
}
