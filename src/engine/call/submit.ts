import { capability, type Failure, type PreparedRequest, type SubmitOutcome } from '../../contract/index.ts';
import { assertNever, type JsonObject } from '../../kernel/index.ts';
import type { AttemptRecord, StoreCommand } from '../ports/index.ts';
import { settledInDoubt } from './book-doubt.ts';
import { commitAnswer } from './commit.ts';
import { attemptEvent } from './events.ts';
import { canStillBeFound, unknownPolicyOf } from './history.ts';
import { withLimit } from './limit.ts';
import { noteProvider } from './provider-health.ts';
import type { Services } from './services.ts';
import { settleAttempt, withoutFailure } from './settle.ts';
import type { LiveAttempt } from './types.ts';

/** Beyond the adapter's own timeout for a submit: for one that keeps no time. */
const marginMs = 30_000;

/**
 * Sends the request of an intent that is on disk, once, and writes what came of it before anything else happens. The
 * request is awaited to its end whatever is asked meanwhile; only the engine's own end breaks it off, and then the
 * intent on disk says that the outcome is unknown.
 */
export async function sendIntent(services: Services, live: LiveAttempt, prepared: PreparedRequest): Promise<void> {
  const { deps } = services;
  const { record } = live;
  const adapter = services.adapter(record.provider, record.implementation);
  if (adapter === undefined) {
    await settleAttempt(services, live, { state: 'refused', failure: gone(record) });
    return;
  }
  const { timeouts } = deps.settings;
  const limitMs =
    (capability(record.capability).mediaClass === 'text' ? Math.max(timeouts.text, timeouts.submit) : timeouts.submit) +
    marginMs;
  services.breakers.callStarts(record.provider);
  const answer = await withLimit(deps.clock, limitMs, services.signal, (signal) => adapter.submit(prepared, signal));
  deps.failpoints.hit('attempt:after-send');
  if (services.signal.aborted && answer.kind === 'no-answer') return;
  const outcome: SubmitOutcome =
    answer.kind === 'answered' ? answer.value : { kind: 'unknown', failure: noAnswer(record, answer.error) };
  await recordOutcome(services, live, outcome);
}

async function recordOutcome(services: Services, live: LiveAttempt, outcome: SubmitOutcome): Promise<void> {
  const { provider } = live.record;
  const { breakers, deps } = services;
  switch (outcome.kind) {
    case 'accepted':
      await recordHandle(services, live, outcome.handle, 'attempt-accepted');
      noteProvider(services, provider, breakers.accepted(provider));
      return;
    case 'completed':
      await settleAttempt(services, live, { state: 'succeeded', output: outcome.output, cost: outcome.cost });
      noteProvider(services, provider, breakers.succeeded(provider));
      return;
    case 'refused':
      await settleAttempt(services, live, { state: 'refused', failure: withProvider(outcome.failure, provider) });
      noteProvider(
        services,
        provider,
        breakers.failed(provider, outcome.failure, deps.clock.monotonicMs()),
        outcome.failure,
      );
      return;
    case 'failed':
      await settleAttempt(services, live, {
        state: 'failed',
        failure: withProvider(outcome.failure, provider),
        cost: outcome.cost,
      });
      noteProvider(
        services,
        provider,
        breakers.failed(provider, outcome.failure, deps.clock.monotonicMs()),
        outcome.failure,
      );
      return;
    case 'unknown':
      await recordUnknown(services, live, outcome.failure);
      noteProvider(
        services,
        provider,
        breakers.failed(provider, outcome.failure, deps.clock.monotonicMs()),
        outcome.failure,
      );
      return;
    default:
      assertNever(outcome);
  }
}

/**
 * The handle is on disk before anything else happens. When the store refuses, its line goes to the side file at once and
 * the store is tried again until it takes it.
 */
export async function recordHandle(
  services: Services,
  live: LiveAttempt,
  handle: JsonObject,
  event: 'attempt-accepted' | 'attempt-found' | 'attempt-resolved',
): Promise<void> {
  const { deps } = services;
  const at = deps.clock.nowMs();
  const record: AttemptRecord = {
    ...withoutFailure(live.record),
    state: 'accepted',
    handle,
    acceptedAt: at,
    misses: 0,
  };
  const commands: readonly StoreCommand[] = [
    { type: 'put-attempt', record, expected: ['intended', 'unknown', 'overdue', 'not-accepted'] },
    attemptEvent(record, at, event, { handle }),
  ];
  const beside: string[] = [];
  const isWritten = await commitAnswer(services, commands, () => {
    try {
      services.beside.count += 1;
      beside.push(record.id);
      deps.sideFile.append(JSON.stringify({ kind: 'handle', attemptId: record.id, handle, at }));
    } catch (error) {
      deps.logger.error('a vendor task id could be written nowhere', {
        attemptId: record.id,
        handle,
        error: String(error),
      });
    }
  });
  if (isWritten) live.record = record;
  else live.record = (await deps.store.attempt(record.id)) ?? record;
  if (beside.length > 0) forgetBeside(services);
  deps.failpoints.hit('attempt:after-handle');
}

/** The store has taken it after all; once it has taken every such handle, the side file is empty again. */
function forgetBeside(services: Services): void {
  services.beside.count -= 1;
  if (services.beside.count === 0) services.deps.sideFile.clear();
}

/** The request may have been read, and no usable answer came: nothing is bought again without a verdict on it. */
export async function recordUnknown(services: Services, live: LiveAttempt, cause: Failure): Promise<void> {
  const { deps } = services;
  const at = deps.clock.nowMs();
  const failure: Failure = {
    ...withProvider(cause, live.record.provider),
    kind: 'unknown-outcome',
    evidence: { ...cause.evidence, cause: cause.kind },
  };
  const record: AttemptRecord = { ...live.record, state: 'unknown', failure };
  const canFind = canStillBeFound(services, record);
  const policy = unknownPolicyOf(services, record.mediaClass);
  const commands: StoreCommand[] = [
    { type: 'put-attempt', record, expected: ['intended'] },
    attemptEvent(record, at, 'attempt-unknown', {
      failure: { ...failure },
      canFind,
      policy,
      handling: canFind ? 'find' : policy,
    }),
  ];
  // Where it can be asked after, `bookDoubt` does the same once the time for that is over.
  const charge = live.charge ?? (await deps.store.chargesOfAttempt(record.id))[0];
  const settled =
    !canFind && policy === 'retry' && charge?.state === 'reserved' ? settledInDoubt(charge, at) : undefined;
  if (settled !== undefined) commands.push({ type: 'put-charge', record: settled });
  const isWritten = await commitAnswer(services, commands);
  live.record = isWritten ? record : ((await deps.store.attempt(record.id)) ?? record);
  live.charge = isWritten ? (settled ?? charge) : live.charge;
}

export function withProvider(failure: Failure, provider: string): Failure {
  return failure.provider === undefined ? { ...failure, provider } : failure;
}

function noAnswer(record: AttemptRecord, error: Error): Failure {
  return {
    kind: 'network',
    code: 'no-answer',
    message: `${record.implementation} gave no answer: ${error.message}`,
    provider: record.provider,
  };
}

function gone(record: AttemptRecord): Failure {
  return {
    kind: 'configuration',
    code: 'no-adapter',
    message: `no implementation ${record.implementation} at ${record.provider}`,
    provider: record.provider,
  };
}
