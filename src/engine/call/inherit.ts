import { capability } from '../../contract/index.ts';
import type { AttemptRecord } from '../ports/index.ts';
import type { Services } from './services.ts';
import type { SkillCall } from './types.ts';

/** An answer of the store is believed for so long: the first try right after the opening asks nothing. */
const freshMs = 100;

/** What an earlier execution paid for and this call can use, if the store has it. */
export async function usablePurchase(services: Services, fingerprint: string): Promise<AttemptRecord | undefined> {
  const settled = await services.deps.store.attemptsByFingerprint(fingerprint);
  return settled.find(
    (each) => each.state === 'succeeded' && each.refusedOutput === undefined && each.output !== undefined,
  );
}

/**
 * Between the opening of a call and its intent hours may pass: for room, a budget, a vendor's pause, a retry. An overdue
 * task of an earlier execution may deliver just then, and what it brought is used instead of being bought again.
 */
export async function hasArrivedSince(services: Services, call: SkillCall): Promise<boolean> {
  const { paid, mediaClass } = capability(call.skill.plan.definition.capability);
  const { lookedAtMs } = call;
  // Text is the cheap one: asking for each would cost more than it saves.
  if (!paid || mediaClass === 'text' || lookedAtMs === undefined) return false;
  const nowMs = services.deps.clock.monotonicMs();
  if (nowMs - lookedAtMs < freshMs) return false;
  call.lookedAtMs = nowMs;
  const arrived = await usablePurchase(services, call.fingerprint);
  if (arrived !== undefined) call.inherited = { record: arrived, charge: undefined };
  return arrived !== undefined;
}
