import { z } from 'zod';
import {
  type AttemptId,
  attemptId,
  executionId,
  type ExecutionId,
  type JsonObject,
  sleep,
} from '../../kernel/index.ts';
import { advance } from '../call/advance.ts';
import type { Services } from '../call/services.ts';
import type { EngineDeps } from '../deps.ts';
import {
  type AttemptRecord,
  ConflictError,
  type ExecutionHead,
  type ExecutionRecord,
  type ResolveVerdict,
} from '../ports/index.ts';
import type { Run } from '../run/run.ts';

/**
 * What changes when several workers share one store.
 *
 * An execution may be taken over when its owner is gone; or when its owner is frozen and has no call whose answer only it
 * could bring (`intended`): a task that a vendor accepted is polled by anyone. A call that was intended while the claim was
 * on its way is waited for: its sender, which need not be the last owner, writes the answer, or is gone one day.
 *
 * Who is asked about an execution that another worker drives leaves the wish in the store (`engine.asks`); the owner looks
 * there once a second, and so does whoever takes over.
 */
export async function mayTakeOver(deps: EngineDeps, record: ExecutionHead): Promise<boolean> {
  const { owner } = record;
  if (owner === undefined || owner === deps.owner || deps.isGone === undefined) return true;
  if (await deps.isGone(owner)) return true;
  if (deps.peers === undefined || !(await deps.peers.isFrozen(owner))) return false;
  return (await sendersAmong(deps, await deps.store.attempts(record.id), owner)).length === 0;
}

/** Who alone could bring the answer of an intended call. `owner`: of calls that do not name their sender. */
async function sendersAmong(
  deps: EngineDeps,
  attempts: readonly AttemptRecord[],
  owner: string | undefined,
): Promise<readonly string[]> {
  const senders = new Set(attempts.filter(isIntended).map((attempt) => attempt.sender ?? owner ?? deps.owner));
  senders.delete(deps.owner);
  const alive: string[] = [];
  for (const sender of senders) if ((await deps.isGone?.(sender)) === false) alive.push(sender);
  return alive;
}

const answerLookMs = 500;

/** The attempts of an execution just claimed, once none waits for an answer that another live worker could bring. */
export async function answeredAttempts(services: Services, former: ExecutionHead): Promise<readonly AttemptRecord[]> {
  const { deps } = services;
  for (;;) {
    const attempts = await deps.store.attempts(former.id);
    if (deps.peers === undefined || !hasIntended(attempts)) return attempts;
    // Read again: what its sender wrote last of all.
    if ((await sendersAmong(deps, attempts, former.owner)).length === 0) return await deps.store.attempts(former.id);
    await sleep(deps.clock, answerLookMs, services.signal);
  }
}

export function hasIntended(attempts: readonly AttemptRecord[]): boolean {
  return attempts.some(isIntended);
}

function isIntended({ state }: AttemptRecord): boolean {
  return state === 'intended';
}

/** Whether what this process drives is still its own. A worker that slept has let go of nothing yet. */
export async function isStillOurs(deps: EngineDeps, run: Run): Promise<boolean> {
  const record = await deps.store.execution(run.record.id);
  return record?.epoch === run.record.epoch && record.owner === deps.owner;
}

/** Bills and late results of an execution that is over are watched by the worker that had it, while that lives. */
export async function isWatchedElsewhere(deps: EngineDeps, execution: ExecutionRecord): Promise<boolean> {
  if (deps.peers === undefined) return false;
  const { id, owner, epoch } = execution;
  if (owner === deps.owner) return false;
  if (owner !== undefined && (await deps.isGone?.(owner)) !== true) return true;
  try {
    await deps.store.commit([{ type: 'claim-execution', id, owner: deps.owner, expectedEpoch: epoch }]);
    return false;
  } catch (error) {
    if (error instanceof ConflictError) return true;
    throw error;
  }
}

/** Whose it is to ask about a bill that came after its result: whoever drives the execution, or watches it. */
export async function mayAskForBill(deps: EngineDeps, id: ExecutionId): Promise<boolean> {
  if (deps.peers === undefined) return true;
  const execution = await deps.store.execution(id);
  if (execution?.endedAt === undefined) return execution?.owner === deps.owner;
  return !(await isWatchedElsewhere(deps, execution));
}

/** A call in doubt may have been answered by its former owner, or resolved beside this worker: its row is read again. */
export async function rereadDoubts(services: Services, runs: ReadonlyMap<ExecutionId, Run>): Promise<void> {
  for (const run of runs.values()) {
    for (const call of [...run.calls]) {
      const live = call.tries.at(-1)?.attempt;
      if (live === undefined || !isInDoubt(live.record)) continue;
      const stored = await services.deps.store.attempt(live.record.id);
      if (stored === undefined || stored.state === live.record.state || !isInDoubt(live.record)) continue;
      live.record = stored;
      services.watcher.forget(live);
      advance(services, call);
    }
  }
}

function isInDoubt({ state }: AttemptRecord): boolean {
  return state === 'unknown' || state === 'overdue';
}

const askCollection = 'engine.asks';
const askSchema = z.discriminatedUnion('ask', [
  z.object({ ask: z.literal('cancel'), reason: z.string() }),
  z.object({ ask: z.literal('resolve'), attempt: z.string(), taskId: z.string().optional(), end: z.boolean() }),
]);

/** Whether another live worker drives it: it alone may be asked. */
export async function isDrivenElsewhere(deps: EngineDeps, id: ExecutionId): Promise<boolean> {
  if (deps.peers === undefined) return false;
  const record = await deps.store.execution(id);
  const owner = record?.owner;
  if (record === undefined || record.endedAt !== undefined || owner === undefined || owner === deps.owner) return false;
  return (await deps.isGone?.(owner)) !== true;
}

export async function leaveCancel(deps: EngineDeps, id: ExecutionId, reason: string): Promise<void> {
  await leaveAsk(deps, `${id}/cancel`, { ask: 'cancel', reason });
}

const resolveLimitMs = 10_000;
const resolveLookMs = 200;

/** Leaves a person's word with the worker that drives the execution; true once that has taken it. */
export async function leaveVerdict(
  deps: EngineDeps,
  execution: ExecutionId,
  id: AttemptId,
  verdict: ResolveVerdict,
): Promise<boolean> {
  const key = `${execution}/resolve/${id}`;
  const end = verdict.kind === 'not-accepted' && verdict.endExecution;
  const taskId = verdict.kind === 'accepted' ? { taskId: verdict.taskId } : {};
  await leaveAsk(deps, key, { ask: 'resolve', attempt: id, end, ...taskId });
  for (let waitedMs = 0; waitedMs < resolveLimitMs; waitedMs += resolveLookMs) {
    await sleep(deps.clock, resolveLookMs);
    if ((await deps.store.document(askCollection, key)) === undefined) return true;
  }
  return false;
}

async function leaveAsk(deps: EngineDeps, key: string, value: JsonObject): Promise<void> {
  const record = { collection: askCollection, key, value, updatedAt: deps.clock.nowMs() };
  await deps.store.commit([{ type: 'put-document', record }]);
}

/** Obeys what was left for executions that this worker drives. What nobody will ever drive again is swept out. */
export async function obeyAsks(
  deps: EngineDeps,
  runs: ReadonlyMap<ExecutionId, Run>,
  obey: {
    readonly cancel: (id: ExecutionId, reason: string) => Promise<void>;
    readonly resolve: (id: AttemptId, verdict: ResolveVerdict) => Promise<void>;
    /** Another has it by now. */
    readonly letGo: (run: Run) => void;
  },
): Promise<void> {
  for (const { key, value } of await deps.store.documents(askCollection, { limit: 500 })) {
    const id = executionId(key.slice(0, key.indexOf('/')));
    const run = runs.get(id);
    if (run === undefined) {
      const record = await deps.store.execution(id);
      if (record === undefined || record.endedAt !== undefined) await forgetAsk(deps, key);
      continue;
    }
    // A wish that a sleeper woke up to is not its own to obey, nor to forget.
    if (!(await isStillOurs(deps, run))) {
      obey.letGo(run);
      continue;
    }
    const ask = askSchema.safeParse(value);
    if (ask.success && ask.data.ask === 'cancel') await obey.cancel(id, ask.data.reason);
    else if (ask.success && ask.data.ask === 'resolve')
      await obey.resolve(attemptId(ask.data.attempt), verdictOf(ask.data));
    else deps.logger.error('a wish for an execution cannot be read and is dropped', { key });
    if (!run.journal.isLost) await forgetAsk(deps, key);
  }
}

function verdictOf(ask: { readonly taskId?: string | undefined; readonly end: boolean }): ResolveVerdict {
  return ask.taskId === undefined
    ? { kind: 'not-accepted', endExecution: ask.end }
    : { kind: 'accepted', taskId: ask.taskId };
}

async function forgetAsk(deps: EngineDeps, key: string): Promise<void> {
  await deps.store.commit([{ type: 'delete-document', collection: askCollection, key }]);
}
