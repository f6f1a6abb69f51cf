import { attemptId, executionId } from '../../kernel/index.ts';
import { askWorker, type WorkerAnswer } from '../ask-worker.ts';
import { type CommandInput, type CommandIo, exitCodes, type RunCommand, textFlag } from '../command.ts';
import { withData } from '../data.ts';
import { idOf } from '../id-of.ts';
import { plainObject } from '../plain-object.ts';

/** The commands that change what runs; all go through the worker. */
export const runCancel: RunCommand = async (input, io) =>
  await withData(io, async (data) => {
    const id = idOf(input.positionals[0]);
    if (id === undefined || (await data.store.execution(executionId(id))) === undefined) {
      io.err(`no execution ${input.positionals[0] ?? ''}; "gridloom executions" lists them`);
      return exitCodes.failed;
    }
    return told(
      await askWorker(data, io, { ask: 'cancel', execution: id, reason: 'canceled on the command line' }),
      input,
      io,
    );
  });

export const runRerun: RunCommand = async (input, io) =>
  await withData(io, async (data) => {
    const id = idOf(input.positionals[0]);
    const parent = id === undefined ? undefined : await data.store.execution(executionId(id));
    if (parent === undefined) {
      io.err(`no execution ${input.positionals[0] ?? ''}; "gridloom executions" lists them`);
      return exitCodes.failed;
    }
    const from = textFlag(input, 'from');
    const nodes = from === undefined ? [] : (await data.store.nodes(parent.id)).map((node) => node.path);
    if (from !== undefined && !nodes.includes(from)) {
      io.err(`no node "${from}" in it; it has: ${nodes.join(' ')}`);
      return exitCodes.failed;
    }
    const answer = await askWorker(data, io, {
      ask: 'submit',
      workflow: parent.workflow,
      input: plainObject(parent.input),
      sourceRef: parent.sourceRef,
      labels: parent.labels,
      generation: parent.generation,
      parent: parent.id,
      ...(from === undefined ? {} : { rerunFrom: from }),
    });
    if (answer.executionId !== undefined)
      io.out(input.json ? JSON.stringify({ execution: answer.executionId }) : answer.executionId);
    return answer.code;
  });

export const runResolve: RunCommand = async (input, io) => {
  const taskId = textFlag(input, 'accepted');
  if ((taskId === undefined) !== (input.flags['not-accepted'] === true)) {
    io.err('say exactly one of --accepted TASK_ID and --not-accepted');
    return exitCodes.usage;
  }
  return await withData(io, async (data) => {
    const id = idOf(input.positionals[0]);
    if (id === undefined || (await data.store.attempt(attemptId(id))) === undefined) {
      io.err(`no attempt ${input.positionals[0] ?? ''}; "gridloom show ID" lists an execution's attempts`);
      return exitCodes.failed;
    }
    return told(
      await askWorker(data, io, { ask: 'resolve', attempt: id, ...(taskId === undefined ? {} : { taskId }) }),
      input,
      io,
    );
  });
};

export const runPause: RunCommand = async (input, io) =>
  await withData(io, async (data) => told(await askWorker(data, io, { ask: 'pause' }), input, io));

export const runResume: RunCommand = async (input, io) =>
  await withData(io, async (data) => told(await askWorker(data, io, { ask: 'resume' }), input, io));

/** People see an exit code and no fault; a machine gets a line. */
function told(answer: WorkerAnswer, input: CommandInput, io: CommandIo): number {
  if (input.json) io.out(JSON.stringify({ ok: answer.code === exitCodes.done }));
  return answer.code;
}
