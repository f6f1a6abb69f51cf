import type { Failure, PollOutcome } from '../../contract/index.ts';
import { assertNever, formatMicros } from '../../kernel/index.ts';
import { nextPollDelayMs } from '../policy/poll-schedule.ts';
import type { AttemptRecord } from '../ports/index.ts';
import { commitAnswer } from './commit.ts';
import { attemptEvent } from './events.ts';
import { notFoundGraceMs } from './history.ts';
import { lateMarker } from './late-result.ts';
import { noteProvider } from './provider-health.ts';
import type { Services } from './services.ts';
import { readBack } from './set-aside.ts';
import { settleAttempt } from './settle.ts';
import { withProvider } from './submit.ts';
import { againAfter, type LookResult, rhythmOf, type Watched } from './watched.ts';

const missesThatCount = 3;
/** How often an overdue task is asked about: less and less, until the vendor forgets it. */
const slowestMs = 600_000;
/** A task taken up after a stop is given up on for the clock alone only when it is this many deadlines old. */
const deadlinesByClock = 3;

/** What a status check came to. Only the vendor's own word ends a task; a failed check says nothing about it. */
export async function applyPoll(services: Services, watched: Watched, outcome: PollOutcome): Promise<LookResult> {
  const { live } = watched;
  const { provider } = live.record;
  switch (outcome.kind) {
    case 'running':
      watched.failedChecks = 0;
      return await stillRunning(services, watched);
    case 'unrecognised':
      await tellUnrecognised(services, watched, outcome.statusWord);
      return await stillRunning(services, watched);
    case 'succeeded':
      await settleAttempt(services, live, { state: 'succeeded', output: outcome.output, cost: outcome.cost }, (at) =>
        watched.call === undefined ? [lateMarker(live, at)] : [],
      );
      noteProvider(services, provider, services.breakers.succeeded(provider));
      return { kind: 'moved' };
    case 'failed':
      await settleAttempt(services, live, {
        state: 'failed',
        failure: withProvider(outcome.failure, provider),
        cost: outcome.cost,
      });
      noteProvider(
        services,
        provider,
        services.breakers.failed(provider, outcome.failure, services.deps.clock.monotonicMs()),
        outcome.failure,
      );
      return { kind: 'moved' };
    case 'expired':
      await settleAttempt(services, live, { state: 'expired', failure: withProvider(outcome.failure, provider) });
      return { kind: 'moved' };
    case 'canceled':
      await settleAttempt(services, live, { state: 'canceled', cost: outcome.cost });
      return { kind: 'moved' };
    case 'not-visible':
      return await notVisible(services, watched);
    case 'check-failed': {
      const again = againAfter(services, watched, outcome.failure.retryAfterMs);
      return (await isMadeOverdue(services, watched)) ? { kind: 'moved' } : again;
    }
    default:
      return assertNever(outcome);
  }
}

async function stillRunning(services: Services, watched: Watched): Promise<LookResult> {
  if (await isMadeOverdue(services, watched)) return { kind: 'moved' };
  const { record } = watched.live;
  if (record.state === 'overdue')
    return { kind: 'again', delayMs: Math.min(slowestMs, Math.max(60_000, record.observedWaitMs / 10)) };
  const delayMs = nextPollDelayMs(rhythmOf(services, watched), record.observedWaitMs, services.deps.random);
  // The last look is at the deadline itself: what is there then is believed.
  const leftMs = record.deadlineMs - record.observedWaitMs;
  return { kind: 'again', delayMs: leftMs > 0 ? Math.min(delayMs, leftMs) : delayMs };
}

async function isMadeOverdue(services: Services, watched: Watched): Promise<boolean> {
  const { live } = watched;
  if (live.record.state !== 'accepted' || !isPastDeadline(services, watched)) return false;
  const { deps } = services;
  const at = deps.clock.nowMs();
  await readBack(services, live);
  live.charge ??= (await deps.store.chargesOfAttempt(live.record.id))[0];
  const failure: Failure = {
    kind: 'overdue',
    code: 'deadline',
    message: `no result within ${Math.round(live.record.deadlineMs / 1_000)} s of watching; the vendor may still deliver and charge`,
    provider: live.record.provider,
  };
  const record: AttemptRecord = { ...live.record, state: 'overdue', failure };
  const { mediaClass } = record;
  const policy = mediaClass === 'image' || mediaClass === 'video' ? deps.settings.overdue[mediaClass] : 'retry';
  const isWritten = await commitAnswer(services, [
    { type: 'put-attempt', record, expected: ['accepted'] },
    attemptEvent(record, at, 'attempt-overdue', {
      failure: { ...failure },
      policy,
      atRiskCny: formatMicros(live.charge?.cnyMicros ?? 0, 4),
    }),
  ]);
  live.record = isWritten ? record : ((await deps.store.attempt(record.id)) ?? record);
  return true;
}

function isPastDeadline(services: Services, watched: Watched): boolean {
  const { record } = watched.live;
  if (record.observedWaitMs >= record.deadlineMs) return true;
  const sinceMs = services.deps.clock.nowMs() - (record.acceptedAt ?? record.intendedAt);
  return watched.isRecovered && sinceMs >= record.deadlineMs * deadlinesByClock;
}

async function notVisible(services: Services, watched: Watched): Promise<LookResult> {
  const { live } = watched;
  live.record = { ...live.record, misses: live.record.misses + 1 };
  const ageMs = services.deps.clock.nowMs() - (live.record.acceptedAt ?? live.record.intendedAt);
  if (ageMs < notFoundGraceMs || live.record.misses < missesThatCount) return await stillRunning(services, watched);
  const failure: Failure = {
    kind: 'expired',
    code: 'task-not-found',
    message: 'the vendor no longer knows the task',
    provider: live.record.provider,
  };
  await settleAttempt(services, live, { state: 'expired', failure });
  return { kind: 'moved' };
}

/** Said once a word and task: counted, alarmed, and otherwise treated as unfinished until the deadline. */
async function tellUnrecognised(services: Services, watched: Watched, statusWord: string): Promise<void> {
  if (watched.unrecognised.has(statusWord)) return;
  watched.unrecognised = new Set([...watched.unrecognised, statusWord]);
  const { record } = watched.live;
  await commitAnswer(services, [
    attemptEvent(record, services.deps.clock.nowMs(), 'status-unrecognised', { statusWord }),
  ]);
}
