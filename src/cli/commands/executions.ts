import { executionId } from '../../kernel/index.ts';
import { type Command, exitCodes, textFlag } from '../command.ts';
import { withData } from '../data.ts';
import { costCny, readExecution, renderExecution } from '../render/execution-view.ts';
import { localTime, textTable } from '../render/text-table.ts';

export const executionsCommand: Command = {
  name: 'executions',
  usage: '[--limit N] [--status running]',
  help: 'lists executions, newest first',
  options: {
    limit: { type: 'string', help: 'how many (default 30)' },
    status: { type: 'string', help: 'queued, running, held, succeeded, partial, failed or canceled' },
  },
  words: [0, 0],
  run: async (input, io) =>
    await withData(io, async ({ store, config }) => {
      const limit = Number(textFlag(input, 'limit') ?? '30');
      if (!Number.isInteger(limit) || limit < 1 || limit > 10_000) {
        io.err('--limit takes a whole number from 1 to 10000');
        return exitCodes.usage;
      }
      const status = statuses.find((each) => each === textFlag(input, 'status'));
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
    }),
};

const statuses = ['queued', 'running', 'held', 'succeeded', 'partial', 'failed', 'canceled'] as const;

export const showCommand: Command = {
  name: 'show',
  usage: 'ID',
  help: 'shows one execution with every node, attempt, vendor, cost and result',
  words: [1, 1],
  run: async (input, io) =>
    await withData(io, async ({ store, config }) => {
      const [text = ''] = input.positionals;
      const view = isUuid(text) ? await readExecution(store, executionId(text)) : undefined;
      if (view === undefined) {
        io.err(`no execution ${text}; "gridloom executions" lists them`);
        return exitCodes.failed;
      }
      if (input.json) io.out(JSON.stringify(view));
      else for (const line of renderExecution(view, config.environment.timezone)) io.out(line);
      return exitCodes.done;
    }),
};

/** Ids are UUIDs; 执行编号 in a row carries the installation's tag behind it, which may be pasted along. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
}
