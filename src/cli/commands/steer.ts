import { attemptId, executionId } from '../../kernel/index.ts';
import { askWorker } from '../ask-worker.ts';
import { type Command, exitCodes, textFlag } from '../command.ts';
import { withData } from '../data.ts';
import { isUuid } from './executions.ts';

/** The commands that change what runs; all go through the worker. */
export const cancelCommand: Command = {
  name: 'cancel',
  usage: 'ID',
  help: 'stops an execution, at the vendor too where it can; what was paid stays booked',
  words: [1, 1],
  run: async (input, io) =>
    await withData(io, async (data) => {
      const [id = ''] = input.positionals;
      if (!isUuid(id) || (await data.store.execution(executionId(id))) === undefined) {
        io.err(`no execution ${id}; "gridloom executions" lists them`);
        return exitCodes.failed;
      }
      return (await askWorker(data, io, { ask: 'cancel', execution: id, reason: 'canceled on the command line' })).code;
    }),
};

export const rerunCommand: Command = {
  name: 'rerun',
  usage: 'ID [--from NODE]',
  help: 'a new execution with the same input that reuses what came before NODE (default: everything that was good)',
  options: { from: { type: 'string', help: 'the node from which everything is made again' } },
  words: [1, 1],
  run: async (input, io) =>
    await withData(io, async (data) => {
      const [id = ''] = input.positionals;
      const parent = isUuid(id) ? await data.store.execution(executionId(id)) : undefined;
      if (parent === undefined) {
        io.err(`no execution ${id}; "gridloom executions" lists them`);
        return exitCodes.failed;
      }
      const from = textFlag(input, 'from');
      const answer = await askWorker(data, io, {
        ask: 'submit',
        workflow: parent.workflow,
        input: toPlain(parent.input),
        sourceRef: parent.sourceRef,
        labels: parent.labels,
        generation: parent.generation,
        parent: parent.id,
        ...(from === undefined ? {} : { rerunFrom: from }),
      });
      if (answer.executionId !== undefined)
        io.out(input.json ? JSON.stringify({ execution: answer.executionId }) : answer.executionId);
      return answer.code;
    }),
};

function toPlain(value: object): Record<string, never> {
  return JSON.parse(JSON.stringify(value)) as Record<string, never>; // eslint-disable-line @typescript-eslint/no-unsafe-type-assertion -- JSON in, JSON out
}

export const resolveCommand: Command = {
  name: 'resolve',
  usage: 'ATTEMPT --accepted TASK_ID | --not-accepted',
  help: "the operator's word on a call in doubt: take its result up, or free the row to buy again",
  options: {
    accepted: { type: 'string', help: "the vendor's task id: the call was accepted; its result is collected" },
    'not-accepted': { type: 'boolean', help: 'the vendor has no such task: the call may be made again' },
  },
  words: [1, 1],
  run: async (input, io) => {
    const taskId = textFlag(input, 'accepted');
    if ((taskId === undefined) !== (input.flags['not-accepted'] === true)) {
      io.err('say exactly one of --accepted TASK_ID and --not-accepted');
      return exitCodes.usage;
    }
    return await withData(io, async (data) => {
      const [id = ''] = input.positionals;
      if (!isUuid(id) || (await data.store.attempt(attemptId(id))) === undefined) {
        io.err(`no attempt ${id}; "gridloom show ID" lists an execution's attempts`);
        return exitCodes.failed;
      }
      return (await askWorker(data, io, { ask: 'resolve', attempt: id, ...(taskId === undefined ? {} : { taskId }) }))
        .code;
    });
  },
};

export const pauseCommand: Command = {
  name: 'pause',
  usage: '',
  help: 'no new paid call; what is in flight is still collected',
  words: [0, 0],
  run: async (_input, io) => await withData(io, async (data) => (await askWorker(data, io, { ask: 'pause' })).code),
};

export const resumeCommand: Command = {
  name: 'resume',
  usage: '',
  help: 'ends a pause',
  words: [0, 0],
  run: async (_input, io) => await withData(io, async (data) => (await askWorker(data, io, { ask: 'resume' })).code),
};
