import { executionId } from '../../kernel/index.ts';
import { type RunCommand, exitCodes, textFlag, wholeFlag } from '../command.ts';
import { withData } from '../data.ts';
import { idOf } from '../id-of.ts';
import { costCny, readExecution, renderExecution } from '../render/execution-view.ts';
import { localTime, textTable } from '../render/text-table.ts';

export const runExecutions: RunCommand = async (input, io) => {
  const limit = wholeFlag(input, 'limit', { preset: 30, min: 1, max: 10_000 });
  const wanted = textFlag(input, 'status');
  const status = statuses.find((each) => each === wanted);
  if (limit === undefined || (wanted !== undefined && status === undefined)) {
    io.err(`--limit takes a whole number from 1 to 10000, --status one of ${statuses.join(' ')}`);
    return exitCodes.usage;
  }
  return await withData(io, async ({ store, config }) => {
    const found = await store.executions({ limit, ...(status === undefined ? {} : { statuses: [status] }) });
    const rows = await Promise.all(
      found.map(async (each) => ({ execution: each, cost: costCny(await store.charges({ executionId: each.id })) })),
    );
    if (input.json) {
      for (const { execution, cost } of rows) io.out(JSON.stringify({ ...execution, cost_cny: cost }));
      return exitCodes.done;
    }
    const lines = rows.map(({ execution, cost }) => [
      execution.id,
      execution.labels.agent ?? '–',
      execution.workflow,
      execution.status,
      localTime(execution.createdAt, config.environment.timezone),
      cost,
      execution.failure?.kind ?? '',
    ]);
    for (const line of textTable(['ID', 'AGENT', 'WORKFLOW', 'STATUS', 'CREATED', 'CNY', 'FAILURE'], lines))
      io.out(line);
    return exitCodes.done;
  });
};

const statuses = ['queued', 'running', 'held', 'succeeded', 'partial', 'failed', 'canceled'] as const;

export const runShow: RunCommand = async (input, io) =>
  await withData(io, async ({ store, config }) => {
    const text = idOf(input.positionals[0]);
    const view = text === undefined ? undefined : await readExecution(store, executionId(text));
    if (view === undefined) {
      io.err(`no execution ${input.positionals[0] ?? ''}; "gridloom executions" lists them`);
      return exitCodes.failed;
    }
    if (input.json) io.out(JSON.stringify(view));
    else for (const line of renderExecution(view, config.environment.timezone)) io.out(line);
    return exitCodes.done;
  });
