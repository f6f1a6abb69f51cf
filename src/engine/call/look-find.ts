import type { FindOutcome } from '../../contract/index.ts';
import type { JsonObject } from '../../kernel/index.ts';
import type { AttemptRecord } from '../ports/index.ts';
import { notFoundGraceMs } from './history.ts';
import type { Services } from './services.ts';
import { settleAttempt } from './settle.ts';
import { recordHandle } from './submit.ts';
import { ownerOfTask, undecidedTwin } from './task-owner.ts';
import { againAfter, type LookResult, type Watched } from './watched.ts';

const missesThatCount = 3;
const betweenLooksMs = 20_000;

/**
 * What asking after a lost answer came to. "Not there" counts only when the submit can no longer be under way (its
 * timeout plus 90 s), was watched for 90 s, and was said three times; then nothing was bought, and the call goes on by its
 * policy. A task that belongs to a neighbour, or may, decides nothing: it is looked again, until the time for asking is over
 * and a person is asked.
 */
export async function applyFind(services: Services, watched: Watched, outcome: FindOutcome): Promise<LookResult> {
  const { live } = watched;
  const { deps } = services;
  switch (outcome.kind) {
    case 'found':
      if (!(await isOurs(services, live.record, outcome.handle))) return againAfter(services, watched, undefined);
      await recordHandle(services, live, outcome.handle, 'attempt-found');
      return { kind: 'moved' };
    case 'not-found': {
      live.record = { ...live.record, misses: live.record.misses + 1 };
      const ageMs = deps.clock.nowMs() - live.record.intendedAt;
      const graceMs = deps.settings.timeouts.submit + notFoundGraceMs;
      // The age goes by a clock that may have been set; what was watched does not.
      const isWatched = live.record.observedWaitMs >= notFoundGraceMs;
      if (ageMs >= graceMs && live.record.misses >= missesThatCount && isWatched) {
        await settleAttempt(services, live, { state: 'not-accepted', by: 'vendor' });
        return { kind: 'moved' };
      }
      return { kind: 'again', delayMs: betweenLooksMs * (0.9 + 0.2 * deps.random.next()) };
    }
    case 'check-failed':
      return againAfter(services, watched, outcome.failure.retryAfterMs);
  }
}

/** A store that cannot be read throws, as at every look: nothing is written, and it is looked again soon. */
async function isOurs(services: Services, record: AttemptRecord, handle: JsonObject): Promise<boolean> {
  const { store, logger } = services.deps;
  // In this order: a twin that is answered between the two questions has its task on record at the second.
  const other = (await undecidedTwin(store, record)) ?? (await ownerOfTask(store, record, handle));
  if (other === undefined) return true;
  logger.info('a lost call was found as a task that another call has, or may have', {
    attemptId: record.id,
    other,
    handle,
  });
  return false;
}
