import { z } from 'zod';
import { attemptId, type ExecutionId, isJsonObject, type JsonObject } from '../../kernel/index.ts';
import { lateCollection, tellLateResult } from '../call/late-result.ts';
import type { Services } from '../call/services.ts';
import { recordHandle, recordUnknown } from '../call/submit.ts';
import type { LiveAttempt } from '../call/types.ts';
import { type AttemptRecord, ConflictError, type ExecutionRecord } from '../ports/index.ts';
import { createRun, openRun, type RunParts } from '../run/open-run.ts';
import type { Run } from '../run/run.ts';
import type { Plans } from './plans.ts';
import { answeredAttempts, isWatchedElsewhere, mayTakeOver } from './peers.ts';
import { readRequest, requestCollection } from './request.ts';

const pageSize = 500;
const atOnce = 500;

/** What a sweep needs of the engine. */
export interface TakeUp {
  readonly services: Services;
  readonly plans: Plans;
  readonly runs: ReadonlyMap<ExecutionId, Run>;
  adopt(run: Run): void;
  readonly handlers: Pick<RunParts, 'onOver' | 'onLost'>;
  /** Executions on their way into `runs`. */
  readonly opening: Set<ExecutionId>;
}

/**
 * Takes up every unfinished execution that has no live driver. Each is claimed first, its epoch raised: whoever had it
 * before can write no more. A claim that was refused runs nothing. One execution that cannot be taken up (a fault, a
 * disk hiccup) does not keep the others waiting; the next sweep comes in 5 s.
 */
export async function sweepUnfinished(takeUp: TakeUp): Promise<void> {
  const { deps } = takeUp.services;
  let after: ExecutionId | undefined;
  let requests: Requests | undefined;
  for (;;) {
    const page = await deps.store.unfinished(pageSize, after);
    const free = page.filter((record) => !takeUp.runs.has(record.id) && !takeUp.opening.has(record.id));
    for (let at = 0; at < free.length; at += atOnce) {
      if (takeUp.services.isStopping()) return;
      const known = (requests ??= await readRequests(takeUp));
      await Promise.all(free.slice(at, at + atOnce).map((record) => takeUpOne(takeUp, record, known)));
    }
    after = page.at(-1)?.id;
    if (page.length < pageSize || after === undefined) return;
  }
}

/** What submissions said beside their records, all at once: most said nothing. */
type Requests = ReadonlyMap<string, JsonObject>;

async function readRequests(takeUp: TakeUp): Promise<Requests> {
  const documents = await takeUp.services.deps.store.documents(requestCollection, { limit: 1_000_000 });
  return new Map(documents.map((each) => [each.key, each.value]));
}

async function takeUpOne(takeUp: TakeUp, record: ExecutionRecord, requests: Requests): Promise<void> {
  const { services } = takeUp;
  takeUp.opening.add(record.id);
  try {
    await claimAndOpen(takeUp, record, requests);
  } catch (error) {
    if (!(error instanceof ConflictError))
      services.deps.logger.error('an execution cannot be taken up; trying again soon', {
        executionId: record.id,
        error: String(error),
      });
  } finally {
    takeUp.opening.delete(record.id);
  }
}

async function claimAndOpen(takeUp: TakeUp, record: ExecutionRecord, requests: Requests): Promise<void> {
  const { services, plans } = takeUp;
  const { deps } = services;
  if (!(await mayTakeOver(deps, record))) return;
  await deps.store.commit([{ type: 'claim-execution', id: record.id, owner: deps.owner, expectedEpoch: record.epoch }]);
  const attempts = await answeredAttempts(services, record);
  const [fresh, nodes] = await Promise.all([deps.store.execution(record.id), deps.store.nodes(record.id)]);
  if (fresh === undefined || services.isStopping()) return;
  const plan = await plans.load(fresh.planHash);
  if (plan === undefined) {
    deps.logger.error('an execution has no plan and cannot go on', {
      executionId: record.id,
      planHash: fresh.planHash,
    });
    return;
  }
  const read = readRequest(requests.get(record.id));
  const run = createRun({ services, plan, record: fresh, request: read, nodes, attempts, ...takeUp.handlers });
  takeUp.adopt(run);
  await openRun(run, read);
}

/** One execution that a dispatcher names: taken up unless somebody drives it. */
export async function takeUpNamed(takeUp: TakeUp, id: ExecutionId): Promise<void> {
  const { services, runs, opening } = takeUp;
  if (services.isStopping() || runs.has(id) || opening.has(id)) return;
  const { store } = services.deps;
  const [record, request] = await Promise.all([store.execution(id), store.document(requestCollection, id)]);
  if (record === undefined || record.endedAt !== undefined || runs.has(id) || opening.has(id)) return;
  await takeUpOne(takeUp, record, new Map(request === undefined ? [] : [[request.key, request.value]]));
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

/** Attempts of executions that are over, still payable: watched for their bills. Late results not told yet are told. */
export async function watchOrphans(takeUp: TakeUp): Promise<void> {
  const { services, runs } = takeUp;
  const { store } = services.deps;
  const open = await store.attemptsInState(['intended', 'accepted', 'unknown', 'overdue'], 100_000);
  for (const record of open) {
    if (runs.has(record.executionId) || takeUp.opening.has(record.executionId)) continue;
    const execution = await store.execution(record.executionId);
    if (execution === undefined || execution.endedAt === undefined) continue;
    if (await isWatchedElsewhere(services.deps, execution)) continue;
    await watchOrphan(services, record);
  }
  for (const marker of await store.documents(lateCollection, { limit: 1_000 })) {
    const record = await store.attempt(attemptId(marker.key));
    const execution = record === undefined ? undefined : await store.execution(record.executionId);
    if (execution !== undefined && (await isWatchedElsewhere(services.deps, execution))) continue;
    if (record !== undefined) await tellLateResult(services, { record, charge: undefined });
  }
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
