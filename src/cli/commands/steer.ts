import { attemptId, executionId } from '../../kernel/index.ts';
import { type Ask, askWorker, type WorkerAnswer } from '../ask-worker.ts';
import { type CommandInput, type CommandIo, exitCodes, type RunCommand, textFlag } from '../command.ts';
import { type OpenData, withData } from '../data.ts';
import { idOf } from '../id-of.ts';
import { onInterrupt } from '../interrupt.ts';
import { plainObject } from '../plain-object.ts';

/** The commands that change what runs; all go through the worker. */
export const runCancel: RunCommand = async (input, io) =>
  await withData(io, async (data) => {
    const id = idOf(input.positionals[0]);
    const execution = id === undefined ? undefined : await data.store.execution(executionId(id));
    if (execution === undefined) {
      io.err(`no execution ${input.positionals[0] ?? ''}; "gridloom executions" lists them`);
      return exitCodes.failed;
    }
    const words =
      execution.endedAt === undefined
        ? `canceling ${execution.id}: calls under way are stopped at the vendor where it can, what was bought stays booked; "gridloom show ${execution.id}" tells how it ends`
        : `${execution.id} had ended before (${execution.status}); nothing was changed`;
    const reason = 'canceled on the command line';
    return told(await waitFor(data, io, { ask: 'cancel', execution: execution.id, reason }), words, input, io);
  });

export const runRerun: RunCommand = async (input, io) =>
  await withData(io, async (data) => {
    const id = idOf(input.positionals[0]);
    const parent = id === undefined ? undefined : await data.store.execution(executionId(id));
    if (parent === undefined) {
      io.err(`no execution ${input.positionals[0] ?? ''}; "gridloom executions" lists them`);
      return exitCodes.failed;
    }
    if (parent.endedAt === undefined) {
      io.err(
        `${parent.id} has not ended (${parent.status}): run beside it, it would buy again what is under way; wait for its end, or "gridloom cancel ${parent.id}" first`,
      );
      return exitCodes.failed;
    }
    const from = textFlag(input, 'from');
    const nodes = from === undefined ? [] : (await data.store.nodes(parent.id)).map((node) => node.path);
    if (from !== undefined && !nodes.includes(from)) {
      io.err(`no node "${from}" in it; it has: ${nodes.join(' ')}`);
      return exitCodes.failed;
    }
    const answer = await waitFor(data, io, {
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
    const words =
      taskId === undefined
        ? `attempt ${id} counts as not accepted: nothing is owed for it, and its node goes on by its policy (it may buy again)`
        : `attempt ${id} is taken up as task ${taskId}: its result is collected and used as if the answer had come`;
    const ask = { ask: 'resolve', attempt: id, ...(taskId === undefined ? {} : { taskId }) } as const;
    return told(await waitFor(data, io, ask), words, input, io);
  });
};

export const runPause: RunCommand = async (input, io) =>
  await withData(io, async (data) => {
    const words = 'paused: no new paid call; what is in flight is still collected, rows wait until "gridloom resume"';
    return told(await waitFor(data, io, { ask: 'pause' }), words, input, io);
  });

export const runResume: RunCommand = async (input, io) =>
  await withData(io, async (data) => {
    const words = 'resumed: paid calls are made again, and what waited goes on';
    return told(await waitFor(data, io, { ask: 'resume' }), words, input, io);
  });

/** Waits for the worker; Ctrl-C ends the waiting, and says that the request stands. */
async function waitFor(data: OpenData, io: CommandIo, ask: Ask): Promise<WorkerAnswer> {
  const leave = new AbortController();
  const stopListening = onInterrupt(
    () => leave.abort(),
    () => process.exit(exitCodes.failed),
  );
  try {
    return await askWorker(data, io, ask, leave.signal);
  } finally {
    stopListening();
  }
}

/** One line of what was done and what comes of it; a machine gets JSON. A fault has been told already. */
function told(answer: WorkerAnswer, words: string, input: CommandInput, io: CommandIo): number {
  const isDone = answer.code === exitCodes.done;
  if (input.json) io.out(JSON.stringify({ ok: isDone }));
  else if (isDone) io.out(words);
  return answer.code;
}
