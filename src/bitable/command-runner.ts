import type { JsonObject } from '../kernel/index.ts';
import { executeCommand } from './execute-command.ts';
import { maxStarting } from './deps.ts';
import { type Hub, refOf, type RowPlace } from './hub.ts';
import { rowKey } from './refs.ts';
import { openCommands } from './row-documents.ts';
import { createDoorbell } from './signal.ts';

/**
 * Executes cleared commands: rows in parallel, a row's own commands in order, and rows taken in turn between submitters,
 * so that two hundred pasted rows of one person do not stand before the one row of another. Each base has a lane of its own.
 * A command that cannot be executed now stays on disk and is offered again by the next turn.
 */
export interface CommandRunner {
  offer(job: CommandJob): void;
  /** The row waits for its turn or is being executed. */
  isKnown(key: string): boolean;
  /** Rows that wait or are being executed. */
  size(): number;
  /** Resolves when nothing waits and nothing runs. */
  idle(): Promise<void>;
}

export interface CommandJob {
  readonly place: RowPlace;
  readonly submitter: string;
  /** The row as it was read after the clear; undefined after a restart. */
  readonly fields: JsonObject | undefined;
}

interface Lane {
  /** By submitter. */
  readonly waiting: Map<string, CommandJob[]>;
  running: number;
}

export function createCommandRunner(hub: Hub): CommandRunner {
  const lanes = new Map<string, Lane>();
  const known = new Map<string, CommandJob | undefined>();
  const bell = createDoorbell(hub.deps.clock);

  const laneOf = (appToken: string): Lane => {
    const lane = lanes.get(appToken) ?? { waiting: new Map<string, CommandJob[]>(), running: 0 };
    lanes.set(appToken, lane);
    return lane;
  };
  const next = ({ waiting }: Lane): CommandJob | undefined => {
    for (const [submitter, jobs] of waiting) {
      const job = jobs.shift();
      waiting.delete(submitter);
      if (jobs.length > 0) waiting.set(submitter, jobs);
      if (job !== undefined) return job;
    }
    return undefined;
  };
  const work = async (lane: Lane): Promise<void> => {
    for (let job = next(lane); job !== undefined && !hub.signal.aborted; job = next(lane)) {
      const key = rowKey(refOf(job.place));
      await runRow(hub, job).catch((error: unknown) => reportFailure(hub, job, error));
      const again = known.get(key);
      known.delete(key);
      if (again !== undefined) offer(again);
    }
  };
  const offer = (job: CommandJob): void => {
    const key = rowKey(refOf(job.place));
    if (known.has(key)) {
      known.set(key, job);
      return;
    }
    known.set(key, undefined);
    const lane = laneOf(job.place.table.table.appToken);
    lane.waiting.set(job.submitter, [...(lane.waiting.get(job.submitter) ?? []), job]);
    if (lane.running >= maxStarting) return;
    lane.running += 1;
    void work(lane).finally(() => {
      lane.running -= 1;
      bell.ring();
    });
  };
  return {
    offer,
    isKnown: (key) => known.has(key),
    size: () => known.size,
    idle: async () => {
      const isRunning = (): boolean => [...lanes.values()].some((lane) => lane.running > 0);
      while (isRunning() && !hub.signal.aborted) await bell.wait(Number.POSITIVE_INFINITY, hub.signal);
    },
  };
}

async function runRow(hub: Hub, job: CommandJob): Promise<void> {
  const key = rowKey(refOf(job.place));
  for (let count = 0; count < 20 && !hub.signal.aborted; count += 1) {
    const commands = await openCommands(hub.deps.store, `${key}#`);
    const command = commands.find((candidate) => candidate.phase === 'cleared');
    if (command === undefined) return;
    const isDone = await executeCommand(hub, job.place, command, job.fields);
    if (!isDone) return;
  }
}

/** The command stays on disk and is tried again by the next turn; the loop goes on. */
function reportFailure(hub: Hub, job: CommandJob, error: unknown): void {
  if (hub.signal.aborted) return;
  hub.deps.logger.error('a command could not be executed, will be tried again', {
    recordId: job.place.recordId,
    error,
  });
  void hub.notice({
    name: 'command-failed',
    title: '执行操作时程序出错，将自动再试',
    text: error instanceof Error ? error.message : 'unknown error',
  });
}
