import { z } from 'zod';
import { attemptId, type ExecutionId, isJsonObject, type JsonObject, nextTurn } from '../../kernel/index.ts';
import { lateCollection, tellLateResult } from '../call/late-result.ts';
import type { Services } from '../call/services.ts';
import { recordHandle, recordUnknown } from '../call/submit.ts';
import type { LiveAttempt } from '../call/types.ts';
import {
  type AttemptRecord,
  ConflictError,
  type ExecutionHead,
  type ExecutionParts,
  type ExecutionRecord,
} from '../ports/index.ts';
import { createRun, openRun, type RunParts } from '../run/open-run.ts';
import type { Run } from '../run/run.ts';
import type { Plans } from './plans.ts';
import { answeredAttempts, hasIntended, isStillOurs, isWatchedElsewhere, mayTakeOver } from './peers.ts';
import { readRequest, requestCollection } from './request.ts';

/** As many are claimed in one commit, and read at once. */
const pageSize = 500;

/** What a sweep needs of the engine. */
export interface TakeUp {
  readonly services: Services;
  readonly plans: Plans;
  readonly runs: ReadonlyMap<ExecutionId, Run>;
  adopt(run: Run): void;
  readonly handlers: Pick<RunParts, 'onOver' | 'onLost'>;
  /** Executions on their way into `runs`. */
  readonly opening: Set<ExecutionId>;
  /** What is left of ended executions was looked at once in this process. */
  hasWatched: boolean;
}

/**
 * Takes up every unfinished execution that has no live driver. Each is claimed first, its epoch raised: whoever had it
 * before can write no more. A claim that was refused runs nothing. One execution that cannot be taken up (a fault, a
 * disk hiccup) does not keep the others waiting; the next sweep comes in 5 s.
 */
export async function sweepUnfinished(takeUp: TakeUp): Promise<void> {
  const { deps } = takeUp.services;
  const suspects = new Set(deps.peers === undefined ? [] : takeUp.runs.values());
  let after: ExecutionId | undefined;
  let requests: Requests | undefined;
  for (;;) {
    const page = await deps.store.unfinishedHeads(pageSize, after);
    const free = page.filter(({ id }) => !isDriven(takeUp, id));
    if (takeUp.services.isStopping()) return;
    // Others submit all the while: what came after the first page was read has its request beside it too.
    if (deps.peers !== undefined) requests = undefined;
    if (free.length > 0) await takeUpAll(takeUp, free, (requests ??= await readRequests(takeUp)));
    clearSuspects(takeUp, suspects, page);
    after = page.at(-1)?.id;
    if (page.length < pageSize || after === undefined) break;
    // Thousands of them are no reason to hold up everything else.
    await new Promise<void>(nextTurn);
  }
  for (const run of suspects) if (!run.isOver && !(await isStillOurs(deps, run))) letGo(takeUp, run);
}

/** Whoever slept may drive what another claimed meanwhile; the rest is as we left it. */
function clearSuspects({ runs }: TakeUp, suspects: Set<Run>, heads: readonly ExecutionHead[]): void {
  for (const { id, epoch } of heads) {
    const run = runs.get(id);
    if (run !== undefined && run.record.epoch >= epoch) suspects.delete(run);
  }
}

/** Another has it: nothing is written, sent or given back in its name any more. */
export function letGo({ handlers }: TakeUp, run: Run): void {
  if (run.isOver || run.journal.isLost) return;
  run.journal.giveUp();
  handlers.onLost(run, new Error('another worker has claimed it'));
}

/** Whether it has a driver in this process, or is about to have one. */
function isDriven({ runs, opening }: TakeUp, id: ExecutionId): boolean {
  return runs.has(id) || opening.has(id);
}

/** What submissions said beside their records, all at once: most said nothing. */
type Requests = ReadonlyMap<string, JsonObject>;

async function readRequests(takeUp: TakeUp): Promise<Requests> {
  const documents = await takeUp.services.deps.store.documents(requestCollection, { limit: 1_000_000 });
  return new Map(documents.map((each) => [each.key, each.value]));
}

/** Claims all in one turn (so in one commit), then reads in bulk what was won. */
async function takeUpAll(takeUp: TakeUp, heads: readonly ExecutionHead[], requests: Requests): Promise<void> {
  const claims = await Promise.all(heads.map((head) => claim(takeUp, head)));
  const won = new Map(claims.filter((head) => head !== undefined).map((head) => [head.id, head]));
  try {
    for (const parts of await takeUp.services.deps.store.executionParts([...won.keys()])) {
      const former = won.get(parts.record.id);
      won.delete(parts.record.id);
      if (former !== undefined) void takeUp.services.track(openClaimed(takeUp, former, parts, requests));
    }
  } finally {
    for (const id of won.keys()) takeUp.opening.delete(id);
  }
}

/** The execution as it was before, when it is ours from now on. It stays in `opening` until it is in `runs`. */
async function claim(takeUp: TakeUp, head: ExecutionHead): Promise<ExecutionHead | undefined> {
  const { deps } = takeUp.services;
  const { id, epoch: expectedEpoch } = head;
  // It may have found its driver since the list was read.
  if (isDriven(takeUp, id)) return undefined;
  takeUp.opening.add(id);
  try {
    if (await mayTakeOver(deps, head)) {
      await deps.store.commit([{ type: 'claim-execution', id, owner: deps.owner, expectedEpoch }]);
      return head;
    }
  } catch (error) {
    if (!(error instanceof ConflictError)) tellLater(takeUp, id, error);
  }
  takeUp.opening.delete(id);
  return undefined;
}

function tellLater({ services }: TakeUp, executionId: ExecutionId, error: unknown): void {
  const facts = { executionId, error: String(error) };
  services.deps.logger.error('an execution cannot be taken up; trying again soon', facts);
}

async function openClaimed(
  takeUp: TakeUp,
  former: ExecutionHead,
  { record, nodes, attempts: read }: ExecutionParts,
  requests: Requests,
): Promise<void> {
  const { services, plans, opening } = takeUp;
  const { logger } = services.deps;
  try {
    if (!isAsClaimed(services, former, record)) return;
    const attempts = hasIntended(read) ? await answeredAttempts(services, former) : read;
    // It may have ended between the list and the claim.
    if (record.endedAt !== undefined || services.isStopping()) return;
    const plan = await plans.load(record.planHash);
    if (plan === undefined) {
      const { id: executionId, planHash } = record;
      logger.error('an execution has no plan and cannot go on', { executionId, planHash });
      return;
    }
    const request = readRequest(requests.get(record.id));
    const run = createRun({ services, plan, record, request, nodes, attempts, ...takeUp.handlers });
    takeUp.adopt(run);
    opening.delete(record.id);
    await openRun(run, request);
  } catch (error) {
    tellLater(takeUp, record.id, error);
  } finally {
    opening.delete(record.id);
  }
}

/**
 * Whether the record that was read is the one of our own claim. A worker that was frozen between its claim and its reading
 * finds a later owner's record, maybe with attempts read before that owner bought: with that epoch it would pass for the
 * owner, and buy everything again.
 */
function isAsClaimed({ deps }: Services, former: ExecutionHead, record: ExecutionRecord): boolean {
  return record.epoch === former.epoch + 1 && record.owner === deps.owner;
}

/** One execution that a dispatcher names: taken up unless somebody drives it. */
export async function takeUpNamed(takeUp: TakeUp, id: ExecutionId): Promise<void> {
  const { services } = takeUp;
  if (services.isStopping() || isDriven(takeUp, id)) return;
  const { store } = services.deps;
  const [record, request] = await Promise.all([store.execution(id), store.document(requestCollection, id)]);
  if (record === undefined || record.endedAt !== undefined) return;
  await takeUpAll(takeUp, [record], new Map(request === undefined ? [] : [[request.key, request.value]]));
}

const handleLine = z.object({
  kind: z.literal('handle'),
  attemptId: z.string(),
  handle: z.custom<JsonObject>(isJsonObject),
});

/** Handles that the store could not take before the program stopped. */
export async function readSideFile(services: Services): Promise<void> {
  const { sideFile, store, logger } = services.deps;
  const lines = sideFile.readAll();
  for (const line of lines) {
    const parsed = handleLine.safeParse(parseJson(line));
    if (!parsed.success) {
      logger.error('a line of the side file cannot be read', { line: line.slice(0, 200) });
      continue;
    }
    const record = await store.attempt(attemptId(parsed.data.attemptId));
    if (record === undefined || (record.state !== 'intended' && record.state !== 'unknown')) continue;
    await recordHandle(services, { record, charge: undefined }, parsed.data.handle, 'attempt-found');
  }
  if (lines.length > 0) sideFile.clear();
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

const mostOrphans = 100_000;

/** Attempts of executions that are over, still payable: watched for their bills. Late results not told yet are told. */
export async function watchOrphans(takeUp: TakeUp): Promise<void> {
  const { services } = takeUp;
  const { store } = services.deps;
  for (const record of await store.openAttemptsOfEnded(mostOrphans)) {
    if (isDriven(takeUp, record.executionId)) continue;
    const execution = await store.execution(record.executionId);
    if (execution === undefined || (await isWatchedElsewhere(services.deps, execution))) continue;
    // With peers it is looked again and again: what was ours before is watched by us already.
    if (takeUp.hasWatched && execution.owner === services.deps.owner) continue;
    await watchOrphan(services, record);
  }
  for (const marker of await store.documents(lateCollection, { limit: 1_000 })) {
    const record = await store.attempt(attemptId(marker.key));
    const execution = record === undefined ? undefined : await store.execution(record.executionId);
    if (execution !== undefined && (await isWatchedElsewhere(services.deps, execution))) continue;
    if (takeUp.hasWatched && execution?.owner === services.deps.owner) continue;
    if (record !== undefined) await tellLateResult(services, { record, charge: undefined });
  }
  takeUp.hasWatched = true;
}

/** Attempts that no call of an ended execution asked for: nobody may lose sight of what was bought. */
export async function watchLeftovers(
  services: Services,
  stored: ReadonlyMap<string, readonly AttemptRecord[]>,
): Promise<void> {
  for (const record of [...stored.values()].flat()) await watchOrphan(services, record);
}

async function watchOrphan(services: Services, record: AttemptRecord): Promise<void> {
  const live: LiveAttempt = { record, charge: undefined };
  if (record.state === 'intended') {
    await recordUnknown(services, live, {
      kind: 'unknown-outcome',
      code: 'interrupted',
      message: 'the program stopped before the vendor’s answer',
      provider: record.provider,
    });
  }
  services.watcher.orphan(live);
}
