import { formatMicros } from '../../kernel/index.ts';
import type { ChargeRecord } from '../ports/index.ts';
import { commitAnswer } from './commit.ts';
import { attemptEvent, failureData } from './events.ts';
import { canStillBeFound, unknownPolicyOf } from './history.ts';
import type { Services } from './services.ts';
import type { LiveAttempt, SkillCall } from './types.ts';

/** Nobody will look again: the ledger keeps the estimate as a bill that may exist. */
export function settledInDoubt(charge: ChargeRecord, at: number): ChargeRecord {
  return { ...charge, state: 'settled', source: 'unknown', settledAt: at };
}

/**
 * Under `unknown_outcome: retry` a lost answer is bought again once the time for asking after it is over; from then on
 * nobody looks for the first purchase. Its estimate is booked and the operator told, as `recordUnknown` does where the
 * vendor cannot be asked at all. Called by whoever may be first to notice that the time is over (the look, the call's next
 * step, the end of the call, a restart): the charge can be settled only once, and the event is in the same commit.
 */
export async function bookDoubt(services: Services, live: LiveAttempt, call: SkillCall | undefined): Promise<void> {
  const { record } = live;
  if (record.state !== 'unknown' || canStillBeFound(services, record)) return;
  const policy = unknownPolicyOf(services, record.mediaClass);
  if (policy !== 'retry') return;
  const { store, clock } = services.deps;
  const charge = live.charge ?? (await store.chargesOfAttempt(record.id))[0];
  live.charge = charge;
  if (charge?.state !== 'reserved') return;
  const at = clock.nowMs();
  const settled = settledInDoubt(charge, at);
  const isBoughtAgain = call !== undefined && call.state !== 'ended' && call.run.stopping() === undefined;
  const isWritten = await commitAnswer(services, [
    { type: 'put-attempt', record, expected: ['unknown'] },
    { type: 'put-charge', record: settled },
    attemptEvent(record, at, 'attempt-unknown', {
      ...(record.failure === undefined ? {} : { failure: failureData(record.failure) }),
      canFind: false,
      policy,
      handling: isBoughtAgain ? policy : 'end',
      // Told once before, when the answer was lost: this is no second loss.
      afterFind: true,
      atRiskCny: formatMicros(charge.cnyMicros, 4),
    }),
  ]);
  if (isWritten) {
    live.charge = settled;
    return;
  }
  // A person's word, another worker, or another look was first.
  live.record = (await store.attempt(record.id)) ?? record;
  live.charge = (await store.chargesOfAttempt(record.id))[0];
}
