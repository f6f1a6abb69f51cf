import { ConflictError, StorageError, type StoreCommand } from '../../engine/ports/index.ts';
import { nextTurn } from '../../kernel/index.ts';
import { appends, encodeCommand, type Operation } from './encode.ts';

/** What became of one list of a group. */
export type GroupOutcome =
  | { readonly kind: 'written' }
  | { readonly kind: 'conflict'; readonly code: ConflictError['code']; readonly message: string }
  | { readonly kind: 'storage'; readonly message: string }
  | { readonly kind: 'refused'; readonly message: string };

interface Waiting {
  readonly operations: readonly Operation[];
  readonly appends: boolean;
  resolve(): void;
  reject(error: Error): void;
}

/**
 * Group commit: every list that arrives before the group leaves shares its transaction and its fsync. While a group is
 * being written (in a thread, or on a server) the next one gathers. A writer that takes its groups one after the other
 * may have a second one lie ready, so that it does not wait for the loop between two: that one leaves once it is as large
 * as the last two on average, since each costs a sync of its own.
 */
export interface CommitGroup {
  readonly commit: (commands: readonly StoreCommand[]) => Promise<void>;
  /** Writes what waits and refuses everything after. */
  close(): Promise<void>;
}

export interface CommitGroupOptions {
  /** Calls `leave` once when the group may leave: at the end of the turn, or in the next. */
  readonly schedule: (leave: () => void) => void;
  readonly write: (lists: readonly (readonly Operation[])[]) => Promise<readonly GroupOutcome[]>;
  /** After a group that appended events or outbox entries is on disk. */
  readonly onAppended: () => void;
  /**
   * How many promises of a group may resolve in one turn of the event loop. A slow disk makes large groups, and what a
   * hundred callers do next, all at once, would stall the loop. Default: all of them.
   */
  readonly settledPerTurn?: number;
  /** How many groups may be with the writer, which writes and answers them in order. Default 1. */
  readonly mostUnderWay?: () => number;
}

export function createCommitGroup(options: CommitGroupOptions): CommitGroup {
  const mostUnderWay = options.mostUnderWay ?? ((): number => 1);
  let waiting: Waiting[] = [];
  let isScheduled = false;
  let underWay = 0;
  let lastSizes: readonly [number, number] = [0, 0];
  let settled: Promise<void> = Promise.resolve();
  let isClosed = false;

  const mayLeave = (): boolean => {
    if (waiting.length === 0) return false;
    const isWorthASync = waiting.length * 2 >= lastSizes[0] + lastSizes[1];
    return underWay === 0 || (underWay < mostUnderWay() && isWorthASync);
  };
  const schedule = (): void => {
    if (isScheduled || !mayLeave()) return;
    isScheduled = true;
    options.schedule(leave);
  };
  const leave = (): void => {
    isScheduled = false;
    if (!mayLeave()) return;
    const group = waiting;
    waiting = [];
    underWay += 1;
    lastSizes = [lastSizes[1], group.length];
    const written = writeGroup(group, options.write).then((outcomes) => {
      underWay -= 1;
      // A writer beside the loop does not wait while the loop settles what has been written.
      if (mostUnderWay() > 1) leave();
      else schedule();
      return outcomes;
    });
    settled = settled.then(async () => {
      await settleGroup(group, await written, options);
    });
  };
  return {
    commit: (commands) => {
      if (isClosed) return Promise.reject(new StorageError('the store is closed'));
      if (commands.length === 0) return Promise.resolve();
      const operations = commands.map(encodeCommand);
      return new Promise<void>((resolve, reject) => {
        waiting.push({ operations, appends: commands.some(appends), resolve, reject });
        schedule();
      });
    },
    close: async () => {
      isClosed = true;
      while (waiting.length > 0 || underWay > 0) {
        leave();
        await settled;
      }
      await settled;
    },
  };
}

/** Never rejects: a write that could not be done is every list's outcome. */
async function writeGroup(
  group: readonly Waiting[],
  write: CommitGroupOptions['write'],
): Promise<readonly GroupOutcome[]> {
  try {
    return await write(group.map((entry) => entry.operations));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return group.map(() => ({ kind: 'storage', message: `nothing was written: ${message}` }));
  }
}

async function settleGroup(
  group: readonly Waiting[],
  outcomes: readonly GroupOutcome[],
  options: Pick<CommitGroupOptions, 'settledPerTurn' | 'onAppended'>,
): Promise<void> {
  const perTurn = options.settledPerTurn ?? group.length;
  for (const [index, entry] of group.entries()) {
    if (index > 0 && index % perTurn === 0) await new Promise<void>(nextTurn);
    settle(entry, outcomes[index]);
  }
  if (group.some((entry, index) => entry.appends && outcomes[index]?.kind === 'written')) options.onAppended();
}

function settle(entry: Waiting, outcome: GroupOutcome | undefined): void {
  if (outcome?.kind === 'written') entry.resolve();
  else if (outcome?.kind === 'conflict') entry.reject(new ConflictError(outcome.code, outcome.message));
  else if (outcome?.kind === 'refused') {
    entry.reject(new Error(`the database refused a statement: ${outcome.message}`));
  } else entry.reject(new StorageError(outcome?.message ?? 'the writer gave no answer'));
}
