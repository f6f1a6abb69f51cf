import { ConflictError, StorageError, type StoreCommand } from '../../engine/ports/index.ts';
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
 * being written (in a thread, or on a server) the next one gathers.
 */
export interface CommitGroup {
  readonly commit: (commands: readonly StoreCommand[]) => Promise<void>;
  /** Writes what waits and refuses everything after. */
  close(): Promise<void>;
}

export function createCommitGroup(options: {
  /** Calls `leave` once when the group may leave: at the end of the turn, or in the next. */
  readonly schedule: (leave: () => void) => void;
  readonly write: (lists: readonly (readonly Operation[])[]) => Promise<readonly GroupOutcome[]>;
  /** After a group that appended events or outbox entries is on disk. */
  readonly onAppended: () => void;
}): CommitGroup {
  let waiting: Waiting[] = [];
  let isScheduled = false;
  let writing: Promise<void> | undefined;
  let isClosed = false;

  const schedule = (): void => {
    if (isScheduled || writing !== undefined || waiting.length === 0) return;
    isScheduled = true;
    options.schedule(leave);
  };
  const leave = (): void => {
    isScheduled = false;
    if (waiting.length === 0 || writing !== undefined) return;
    const group = waiting;
    waiting = [];
    writing = writeGroup(group, options).finally(() => {
      writing = undefined;
      schedule();
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
      while (waiting.length > 0 || writing !== undefined) {
        leave();
        await writing;
      }
    },
  };
}

async function writeGroup(
  group: readonly Waiting[],
  options: Pick<Parameters<typeof createCommitGroup>[0], 'write' | 'onAppended'>,
): Promise<void> {
  let outcomes: readonly GroupOutcome[];
  try {
    outcomes = await options.write(group.map((entry) => entry.operations));
  } catch (error) {
    outcomes = [];
    const reason = error instanceof Error ? error.message : String(error);
    for (const entry of group) entry.reject(new StorageError(`nothing was written: ${reason}`, { cause: error }));
  }
  let hasAppended = false;
  for (const [index, outcome] of outcomes.entries()) {
    const entry = group[index];
    if (entry === undefined) continue;
    hasAppended ||= entry.appends && outcome.kind === 'written';
    settle(entry, outcome);
  }
  if (hasAppended) options.onAppended();
}

function settle(entry: Waiting, outcome: GroupOutcome): void {
  if (outcome.kind === 'written') entry.resolve();
  else if (outcome.kind === 'conflict') entry.reject(new ConflictError(outcome.code, outcome.message));
  else if (outcome.kind === 'storage') entry.reject(new StorageError(outcome.message));
  else entry.reject(new Error(`the database refused a statement: ${outcome.message}`));
}
