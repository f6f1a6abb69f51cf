import type { FindOutcome } from '../../contract/index.ts';
import { notFoundGraceMs } from './history.ts';
import type { Services } from './services.ts';
import { settleAttempt } from './settle.ts';
import { recordHandle } from './submit.ts';
import { againAfter, type LookResult, type Watched } from './watched.ts';

const missesThatCount = 3;
const betweenLooksMs = 20_000;

/**
 * What asking after a lost answer came to. "Not there" counts only when the submit can no longer be under way (its
 * timeout plus 90 s) and was said three times; then nothing was bought, and the call goes on by its policy.
 */
export async function applyFind(services: Services, watched: Watched, outcome: FindOutcome): Promise<LookResult> {
  const { live } = watched;
  const { deps } = services;
  switch (outcome.kind) {
    case 'found':
      await recordHandle(services, live, outcome.handle, 'attempt-found');
      return { kind: 'moved' };
    case 'not-found': {
      live.record = { ...live.record, misses: live.record.misses + 1 };
      const ageMs = deps.clock.nowMs() - live.record.intendedAt;
      const graceMs = deps.settings.timeouts.submit + notFoundGraceMs;
      if (ageMs >= graceMs && live.record.misses >= missesThatCount && watched.live.record.observedWaitMs > 0) {
        await settleAttempt(services, live, { state: 'not-accepted', by: 'vendor' });
        return { kind: 'moved' };
      }
      return { kind: 'again', delayMs: betweenLooksMs * (0.9 + 0.2 * deps.random.next()) };
    }
    case 'check-failed':
      return againAfter(services, watched, outcome.failure.retryAfterMs);
  }
}
