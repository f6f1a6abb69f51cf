import type { FindOutcome, PollOutcome, PreparedRequest } from '../../contract/index.ts';
import { isJsonObject } from '../../kernel/index.ts';
import { nextPollDelayMs } from '../policy/poll-schedule.ts';
import type { AttemptRecord } from '../ports/index.ts';
import { bookDoubt } from './book-doubt.ts';
import { canStillBeFound } from './history.ts';
import { withLimit } from './limit.ts';
import { applyFind } from './look-find.ts';
import { applyPoll } from './look-poll.ts';
import type { Services, Watcher } from './services.ts';
import { setAside } from './set-aside.ts';
import type { LiveAttempt, SkillCall } from './types.ts';
import { type LookResult, rhythmOf, type Watched } from './watched.ts';

const nothing: ReadonlySet<string> = new Set();
const looksAtOnce = 64;
const noAdapterMs = 60_000;
const firstFindMs = 5_000;
/** A delay counts as watched up to half more than was planned (plus a little): beyond that the process was not there. */
const slackRatio = 1.5;
const slackMs = 5_000;

/**
 * Looks after every task at a vendor. One small object a task in the engine's one heap; a bounded number of looks at a
 * time, first due first served, so that no provider starves another. A look that says "still running" writes nothing.
 *
 * Deadlines count waiting that was really observed: time during which this process was not running, or slept, does not
 * count, and the deadline is judged only after a look, never before one.
 */
export function createWatcher(services: () => Services, onMoved: (watched: Watched) => void): Watcher {
  const all = new Map<LiveAttempt, Watched>();
  const due: Watched[] = [];
  let looking = 0;
  const arm = (watched: Watched, delayMs: number): void => {
    watched.plannedMs = delayMs;
    services().timers.arm(watched, delayMs);
  };
  const forget = (live: LiveAttempt): void => {
    const watched = all.get(live);
    if (watched === undefined) return;
    services().timers.disarm(watched);
    all.delete(live);
  };
  const pump = (): void => {
    while (looking < looksAtOnce) {
      const watched = due.shift();
      if (watched === undefined) return;
      if (all.get(watched.live) !== watched) continue;
      looking += 1;
      void look(watched).finally(() => {
        looking -= 1;
        pump();
      });
    }
  };
  const look = async (watched: Watched): Promise<void> => {
    try {
      const result = await lookOnce(services(), watched);
      if (all.get(watched.live) !== watched) return;
      if (result.kind === 'again') arm(watched, result.delayMs);
      else if (isWatchable(services(), watched.live.record)) arm(watched, firstDelayMs(services(), watched));
      else forget(watched.live);
      if (result.kind === 'moved') onMoved(watched);
    } catch (error) {
      if (services().signal.aborted) return;
      services().deps.logger.error('a look at a task failed', {
        attemptId: watched.live.record.id,
        error: String(error),
      });
      if (all.get(watched.live) === watched) arm(watched, noAdapterMs);
    }
  };
  const begin = (live: LiveAttempt, call: SkillCall | undefined): void => {
    if (!isWatchable(services(), live.record)) {
      forget(live);
      return;
    }
    const known = all.get(live);
    if (known !== undefined) {
      known.call = call;
      return;
    }
    if (!isWatchable(services(), live.record)) return;
    const nowMs = services().deps.clock.monotonicMs();
    // A clock that was set back leaves an acceptance in the future: that is no task of just now either.
    const sinceMs = services().deps.clock.nowMs() - (live.record.acceptedAt ?? live.record.intendedAt);
    const isRecovered = Math.abs(sinceMs) > 1_000;
    const watched: Watched = {
      live,
      call,
      lastLookMs: nowMs,
      plannedMs: 0,
      isRecovered,
      failedChecks: 0,
      unrecognised: nothing,
      dueMs: 0,
      slot: -1,
      onDue: () => {
        due.push(watched);
        pump();
      },
    };
    all.set(live, watched);
    setAside(live);
    // Taken up after a restart: looked at soon, spread, since the result may have been waiting for long.
    arm(watched, isRecovered ? services().deps.random.next() * 2_000 : firstDelayMs(services(), watched));
  };
  return {
    watch: begin,
    orphan: (live) => {
      if (isWatchable(services(), live.record)) begin(live, undefined);
      else {
        forget(live);
        if (live.record.state === 'unknown') void services().track(bookDoubt(services(), live, undefined));
      }
    },
    hurry: (live) => {
      const watched = all.get(live);
      if (watched !== undefined) arm(watched, 0);
    },
    forget,
    get size() {
      return all.size;
    },
  };
}

/** A call in doubt that its vendor cannot be asked about waits for a person's word: there is nothing to look at. */
function isWatchable(services: Services, record: AttemptRecord): boolean {
  if (record.state === 'unknown') return canStillBeFound(services, record);
  return record.state === 'accepted' || record.state === 'overdue';
}

function firstDelayMs(services: Services, watched: Watched): number {
  if (watched.live.record.state === 'unknown') return firstFindMs;
  return watched.live.record.state === 'overdue'
    ? 60_000
    : nextPollDelayMs(rhythmOf(services, watched), 0, services.deps.random);
}

async function lookOnce(services: Services, watched: Watched): Promise<LookResult> {
  const { deps } = services;
  const nowMs = deps.clock.monotonicMs();
  const sinceMs = Math.min(nowMs - watched.lastLookMs, watched.plannedMs * slackRatio + slackMs);
  watched.lastLookMs = nowMs;
  const { record } = watched.live;
  watched.live.record = { ...record, observedWaitMs: record.observedWaitMs + sinceMs, polls: record.polls + 1 };
  const adapter = services.adapter(record.provider, record.implementation);
  const limitMs = deps.settings.timeouts.query + 10_000;
  if (record.state === 'unknown') {
    if (adapter?.find === undefined || !canStillBeFound(services, record)) {
      await bookDoubt(services, watched.live, watched.call);
      return { kind: 'moved' };
    }
    const find = adapter.find.bind(adapter);
    const answer = await withLimit(deps.clock, limitMs, services.signal, (signal) => find(preparedOf(record), signal));
    return await applyFind(
      services,
      watched,
      answer.kind === 'answered' ? answer.value : failedLook(record, answer.error),
    );
  }
  if (adapter?.poll === undefined || record.handle === undefined) {
    // Its account has lost its key, say: a check that failed, until the deadline makes it overdue.
    return await applyPoll(
      services,
      watched,
      failedLook(record, new Error(`nobody can ask ${record.provider} about it`)),
    );
  }
  const poll = adapter.poll.bind(adapter);
  const { handle } = record;
  const answer = await withLimit(deps.clock, limitMs, services.signal, (signal) => poll(handle, signal));
  if (services.signal.aborted) return { kind: 'again', delayMs: noAdapterMs };
  return await applyPoll(
    services,
    watched,
    answer.kind === 'answered' ? answer.value : failedLook(record, answer.error),
  );
}

function failedLook(record: AttemptRecord, error: Error): Extract<PollOutcome & FindOutcome, { kind: 'check-failed' }> {
  return {
    kind: 'check-failed',
    failure: { kind: 'network', code: 'no-answer', message: error.message, provider: record.provider },
  };
}

function preparedOf(record: AttemptRecord): PreparedRequest {
  const { body } = record.request;
  return {
    implementation: record.implementation,
    version: record.adapterVersion,
    key: record.key,
    model: typeof record.request['model'] === 'string' ? record.request['model'] : record.model,
    capability: record.capability,
    body: isJsonObject(body) ? body : {},
  };
}
