import type { Failure } from '../../contract/index.ts';
import { type AttemptId, type ExecutionId, fail, type JsonObject, ok, type Result, sleep } from '../../kernel/index.ts';
import { advance } from '../call/advance.ts';
import { eventOf } from '../call/events.ts';
import { askForLateBills } from '../call/late-bill.ts';
import type { EngineDeps } from '../deps.ts';
import type { Engine, EngineActivity, EventType, ResolveVerdict, StoreCommand } from '../ports/index.ts';
import { cancelRun } from '../run/open-run.ts';
import { putExecution, type Run } from '../run/run.ts';
import { waitWords } from '../call/words.ts';
import { createServices, type Switches } from './create-services.ts';
import { createPlans } from './plans.ts';
import { requestCollection } from './request.ts';
import { isDrivenElsewhere, leaveCancel, leaveVerdict, mayAskForBill, obeyAsks, rereadDoubts } from './peers.ts';
import { resolveAttempt } from './resolve.ts';
import { submit } from './submit.ts';
import { createTicks } from './ticks.ts';
import {
  letGo,
  readSideFile,
  sweepUnfinished,
  type TakeUp,
  takeUpNamed,
  watchLeftovers,
  watchOrphans,
} from './take-up.ts';

/** An engine that a dispatcher may tell which execution waits for a worker. */
export interface SharedEngine extends Engine {
  /** Claims the execution and drives it from then on; nothing happens when another live worker has it. */
  takeUp(id: ExecutionId): Promise<void>;
}

/**
 * # The engine
 *
 * It runs workflows for opaque sources, durably, and buys from vendors without ever paying twice. Three state machines,
 * each decided by a pure function, each written before it is acted on:
 *
 * 1. **An execution** (`run/`): `queued → running ⇄ held → succeeded | partial | failed | canceled`. It is created with
 *    its plan (content-addressed: later edits never change what runs) and its idempotency key; taken up by one worker,
 *    which raises its epoch and from then on is the only one that can write it; `held` when all that is left of it waits
 *    for a verdict on a paid call. Its end, its event and its outbox entry are one commit.
 * 2. **A graph** (`run/decide.ts`): `decide(frame, event, now)` says which nodes start, are skipped, have failed, and
 *    when the graph has ended. Nodes: `pending → running ⇄ waiting_provider ⇄ held → succeeded | skipped | failed |
 *    canceled`. A map's items and inner workflows are graphs within the graph.
 * 3. **A paid call** (`call/`): its history is the list of its attempts, `nextStep(policy, history)` says what follows:
 *    wait, use, hold, buy (the same again, or from the next candidate), degrade, fail. An attempt goes
 *    `intended → accepted → succeeded | failed | expired | canceled | overdue`, or `intended → refused | unknown`.
 *    The order of `call/buy.ts` is the heart: inputs prepared, room and budget, then the intent on disk, then the
 *    request, then its answer on disk before anything else.
 *
 * Whatever wakes a call (its vendor, a timer, room at a gate, a person) only asks for the next step again; so a crash is
 * nothing special: the next incarnation reads the attempts and asks the same question. An intent without an answer is
 * `unknown` and is never sent again; an `accepted` one goes on being asked about under the same handle.
 *
 * Everything that waits is an object in one heap (`worker/timers.ts`); nothing that waits holds a slot of its agent or
 * workflow.
 */
export function createEngine(deps: EngineDeps): SharedEngine {
  const switches: Switches = { isPaused: false, isStopping: false, working: 0, onIdle: undefined };
  const stopped = new AbortController();
  const services = createServices(deps, switches, stopped.signal);
  const plans = createPlans(deps);
  const runs = new Map<ExecutionId, Run>();
  const handlers: TakeUp['handlers'] = {
    onOver: (run) => {
      runs.delete(run.record.id);
      void services.track(watchLeftovers(services, run.storedAttempts));
      if (run.hasRequest) void services.track(forgetRequest(deps, run));
    },
    onLost: (run, error) => {
      deps.logger.warn('an execution was lost to another worker, or cannot be written', {
        executionId: run.record.id,
        error: String(error),
      });
      releaseRun(run);
      runs.delete(run.record.id);
    },
  };
  const adopt = (run: Run): void => {
    runs.set(run.record.id, run);
    ticks.wake();
  };
  const takeUp: TakeUp = { services, plans, runs, adopt, handlers, opening: new Set(), hasWatched: false };
  const ticks = createTicks(
    takeUp,
    async (looks) => {
      await lookAtPeers(takeUp, switches);
      if (looks % doubtLooks === 0) await rereadDoubts(services, runs);
      if (looks % orphanLooks === 0) await watchOrphans(takeUp);
    },
    async () => {
      await askForLateBills(services, async (record) => await mayAskForBill(deps, record.executionId));
    },
  );
  return {
    submit: async (request) => {
      const mine = ticks.isRunning() && !switches.isStopping && deps.peers === undefined;
      return await submit(takeUp, request, mine);
    },
    cancel: async (id, reason) => {
      await requestCancel(takeUp, id, reason);
    },
    resolve: async (id, verdict) => await resolveAmongPeers(takeUp, id, verdict),
    takeUp: async (id) => await takeUpNamed(takeUp, id),
    pause: async () => {
      await writePause(deps, true);
      switches.isPaused = true;
    },
    resume: async () => {
      await writePause(deps, false);
      switches.isPaused = false;
      for (const call of [...services.pausedCalls]) advance(services, call);
    },
    isPaused: () => switches.isPaused,
    start: async () => {
      plans.prepare();
      switches.isPaused = await readPause(deps);
      await readSideFile(services);
      await deps.store.commit([workerEvent(deps, 'worker-started')]);
      ticks.start();
      await sweepUnfinished(takeUp);
      await watchOrphans(takeUp);
    },
    stop: async (drainMs) => {
      if (switches.isStopping) return;
      switches.isStopping = true;
      ticks.stop();
      await drain(deps, switches, drainMs);
      stopped.abort(new Error('the engine has stopped'));
      services.timers.stop();
      for (const run of runs.values()) {
        run.journal.giveUp();
        for (const leaf of run.leaves.values()) leaf.abort?.abort(new Error('the engine has stopped'));
      }
      await drain(deps, switches, 1_000);
      await deps.store.commit([workerEvent(deps, 'worker-stopped')]);
    },
    activity: () => activityOf(runs),
  };
}

/** Looks at peers, one a second, between two looks at calls in doubt, and at what ended executions left behind. */
const doubtLooks = 3;
const orphanLooks = 60;

/** What other workers changed since the last look: a pause, wishes for what we drive. */
async function lookAtPeers(takeUp: TakeUp, switches: Switches): Promise<void> {
  const { services, runs } = takeUp;
  const { deps } = services;
  const isPaused = await readPause(deps);
  const isOver = switches.isPaused && !isPaused;
  switches.isPaused = isPaused;
  if (isOver) for (const call of [...services.pausedCalls]) advance(services, call);
  await obeyAsks(deps, runs, {
    cancel: async (id, reason) => await requestCancel(takeUp, id, reason),
    resolve: async (id, verdict) => {
      await resolveAttempt(services, runs, id, verdict);
    },
    letGo: (run) => letGo(takeUp, run),
  });
}

async function resolveAmongPeers(
  takeUp: TakeUp,
  id: AttemptId,
  verdict: ResolveVerdict,
): Promise<Result<void, Failure>> {
  const { services, runs } = takeUp;
  const stored = await services.deps.store.attempt(id);
  const isTheirs =
    stored !== undefined &&
    (stored.state === 'unknown' || stored.state === 'overdue') &&
    !runs.has(stored.executionId) &&
    (await isDrivenElsewhere(services.deps, stored.executionId));
  if (!isTheirs) return await resolveAttempt(services, runs, id, verdict);
  if (await leaveVerdict(services.deps, stored.executionId, id, verdict)) return ok(undefined);
  return fail({
    kind: 'internal',
    code: 'owner-silent',
    message: 'the worker that drives it has not answered yet; the word is stored and will be obeyed',
  });
}

const openingLookMs = 20;

async function requestCancel(takeUp: TakeUp, id: ExecutionId, reason: string): Promise<void> {
  const { deps, signal } = takeUp.services;
  // On its way to its driver, which has read its record already: that one must be told, not the record.
  while (takeUp.opening.has(id)) await sleep(deps.clock, openingLookMs, signal);
  const run = takeUp.runs.get(id);
  const at = deps.clock.nowMs();
  if (run === undefined) {
    const record = await deps.store.execution(id);
    if (record === undefined || record.endedAt !== undefined || record.cancelRequestedAt !== undefined) return;
    if (await isDrivenElsewhere(deps, id)) {
      await leaveCancel(deps, id, reason);
      return;
    }
    // Nobody drives it just now: the wish is stored, and obeyed by whoever takes it up.
    await deps.store.commit([
      { type: 'put-execution', record: { ...record, cancelRequestedAt: at } },
      eventOf(record, at, 'cancel-requested', { reason }),
    ]);
    return;
  }
  if (run.isOver || run.record.cancelRequestedAt !== undefined) return;
  const command = putExecution(run, { cancelRequestedAt: at });
  if (await run.journal.write([command, eventOf(run.record, at, 'cancel-requested', { reason })])) cancelRun(run);
}

/** Frees what a lost execution holds in memory; what it bought is watched by whoever has it now. */
function releaseRun(run: Run): void {
  const { services } = run;
  for (const call of run.calls) {
    services.timers.disarm(call);
    services.gates.withdraw(call);
    if (call.slots.length > 0) services.gates.leave(call.slots);
    // A request that is still under way leaves no room twice.
    call.slots = [];
    call.slotsFor = undefined;
    services.pausedCalls.delete(call);
    services.providerWaiters.delete(call);
    for (const each of call.tries) if (each.attempt !== undefined) services.watcher.forget(each.attempt);
  }
  for (const { timer } of run.frames) if (timer !== undefined) services.timers.disarm(timer);
}

async function forgetRequest(deps: EngineDeps, run: Run): Promise<void> {
  await deps.store.commit([{ type: 'delete-document', collection: requestCollection, key: run.record.id }]);
}

const stateCollection = 'engine.state';
const pauseKey = 'paused';

async function readPause(deps: EngineDeps): Promise<boolean> {
  const stored = await deps.store.document(stateCollection, pauseKey);
  return stored?.value['isPaused'] === true;
}

async function writePause(deps: EngineDeps, isPaused: boolean): Promise<void> {
  const value: JsonObject = { isPaused };
  await deps.store.commit([
    {
      type: 'put-document',
      record: { collection: stateCollection, key: pauseKey, value, updatedAt: deps.clock.nowMs() },
    },
  ]);
}

function workerEvent(deps: EngineDeps, type: EventType): StoreCommand {
  return { type: 'append-event', event: { at: deps.clock.nowMs(), type, data: { owner: deps.owner } } };
}

/** Waits until nothing is under way, or the time is up. Tasks at vendors are not waited for: their handles are on disk. */
async function drain(deps: EngineDeps, switches: Switches, limitMs: number): Promise<void> {
  if (switches.working === 0) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      cancel();
      switches.onIdle = undefined;
      resolve();
    };
    const cancel = deps.clock.after(limitMs, done);
    switches.onIdle = done;
  });
}

function activityOf(runs: ReadonlyMap<ExecutionId, Run>): EngineActivity {
  const waiting: EngineActivity['waiting'][number][] = [];
  for (const run of runs.values()) {
    for (const leaf of run.leaves.values()) {
      if (leaf.waitsFor === undefined) continue;
      const node = leaf.frame.state.graph.nodes.get(leaf.id)?.title ?? leaf.id;
      waiting.push({
        executionId: run.record.id,
        sourceRef: run.record.sourceRef,
        node,
        reason: waitWords(leaf.waitsFor),
        sinceMs: leaf.sinceMs,
      });
    }
  }
  return { driving: runs.size, waiting };
}
