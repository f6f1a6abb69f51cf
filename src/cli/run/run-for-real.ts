import { openLoneEngine } from '../../app/working.ts';
import type { LoadedConfig } from '../../config/index.ts';
import type { Store, SubmitRequest } from '../../engine/ports/index.ts';
import {
  type Clock,
  createIdSource,
  createSystemRandom,
  type ExecutionId,
  executionId,
  type JsonObject,
} from '../../kernel/index.ts';
import { createDiskSpool, type Spool } from '../../media/index.ts';
import { askWorker } from '../ask-worker.ts';
import { type CommandInput, type CommandIo, exitCodes } from '../command.ts';
import { withData } from '../data.ts';
import { onInterrupt } from '../interrupt.ts';
import { plainObject } from '../plain-object.ts';
import { folderOf, takeFilesIn } from '../workflow-input.ts';
import { tellResult } from './tell-result.ts';
import { waitForEnd } from './wait-for-end.ts';

export interface WantedRun {
  readonly name: string;
  readonly config: LoadedConfig;
  readonly values: JsonObject;
  readonly file: string;
}

/** Where a run happens: in an engine of our own, or in the worker that holds the data directory. */
interface Place {
  readonly store: Store;
  readonly spool: Spool;
  readonly clock: Clock;
  /** Undefined when it was refused, which has then been told. */
  submit(request: Submission): Promise<ExecutionId | undefined>;
  cancel(id: ExecutionId): Promise<void>;
}

type Submission = Pick<SubmitRequest, 'input' | 'sourceRef' | 'generation'> & { readonly workflow: string };

const cancelReason = 'interrupted on the command line';

/** Runs where it can: alone when no worker holds the data directory, else through that worker. */
export async function runForReal(wanted: WantedRun, input: CommandInput, io: CommandIo): Promise<number> {
  const alone = await openLoneEngine(io, wanted.config);
  if (!alone.ok) {
    if (alone.failure.exitCode === exitCodes.heldElsewhere) return await runBesideWorker(wanted, input, io);
    for (const line of alone.failure.lines) io.err(line);
    return alone.failure.exitCode;
  }
  const { engine, ports } = alone.value;
  try {
    if (engine.isPaused()) io.err('paused: no paid call is made until "gridloom resume"; waiting');
    const place: Place = {
      ...ports,
      submit: async (request) => {
        const idempotencyKey = `cli:${ports.ids.uuid()}`;
        const submitted = await engine.submit({ ...request, labels: {}, idempotencyKey });
        if (submitted.ok) return submitted.value.executionId;
        io.err(submitted.failure.message);
        return undefined;
      },
      cancel: async (id) => await engine.cancel(id, cancelReason),
    };
    return await runIn(place, wanted, input, io);
  } finally {
    await alone.value.close();
  }
}

async function runBesideWorker(wanted: WantedRun, input: CommandInput, io: CommandIo): Promise<number> {
  return await withData(io, async (data) => {
    const ids = createIdSource(data.clock, createSystemRandom());
    const place: Place = {
      ...data,
      spool: createDiskSpool({ directory: data.directory.spool, ids, isShared: true }),
      submit: async (request) => {
        const answer = await askWorker(data, io, {
          ask: 'submit',
          ...request,
          input: plainObject(request.input),
          labels: {},
        });
        return answer.executionId === undefined ? undefined : executionId(answer.executionId);
      },
      cancel: async (id) => {
        await askWorker(data, io, { ask: 'cancel', execution: id, reason: cancelReason });
      },
    };
    return await runIn(place, wanted, input, io);
  });
}

/** Takes the files in, submits, waits for the end. The first Ctrl-C cancels and waits on, the second leaves at once. */
async function runIn(place: Place, wanted: WantedRun, input: CommandInput, io: CommandIo): Promise<number> {
  const leave = new AbortController();
  let running: ExecutionId | undefined;
  const stopListening = onInterrupt(
    () => {
      io.err('canceling; what was bought stays booked (Ctrl-C again: leave at once)');
      if (running === undefined) leave.abort();
      else place.cancel(running).catch((error: unknown) => io.err(String(error)));
    },
    () => leave.abort(),
  );
  try {
    const taken = await takeFilesIn(wanted.values, {
      directory: folderOf(wanted.file),
      spool: place.spool,
      maxBytes: wanted.config.settings.transfer.max_bytes,
      signal: leave.signal,
    });
    if (!taken.ok) {
      io.err(taken.failure);
      return exitCodes.usage;
    }
    running = await place.submit({
      workflow: wanted.name,
      input: taken.value,
      sourceRef: `cli:${wanted.name}`,
      generation: input.flags['anew'] === true ? Math.floor(place.clock.nowMs() / 1_000) : 0,
    });
    if (running === undefined) return exitCodes.failed;
    const ended = await waitForEnd(place, running, input.json ? undefined : io, leave.signal);
    return await tellResult(place, ended, input, io);
  } finally {
    stopListening();
  }
}
