import type { JsonObject } from '../../kernel/index.ts';
import type { AttemptRecord, AttemptState, ChargeRecord, StoreCommand } from '../ports/index.ts';
import { commitAnswer } from './commit.ts';
import { attemptEvent, chargeData, failureData } from './events.ts';
import { settleCharge } from './charge.ts';
import { billMarker } from './late-bill.ts';
import type { Services } from './services.ts';
import { readBack } from './set-aside.ts';
import type { LiveAttempt, Settlement } from './types.ts';
import { whileAway } from './read-again.ts';

/** States from which a settlement may come: everything that is not settled. */
const unsettled: readonly AttemptState[] = ['intended', 'accepted', 'unknown', 'overdue'];

/**
 * Writes the settlement, its charge and their events in one commit. One winner among racing settlements: when the stored
 * attempt had been settled already, the stored record is taken over and nothing is written. `along` is written with it.
 */
export async function settleAttempt(
  services: Services,
  live: LiveAttempt,
  settlement: Settlement,
  along: (at: number) => readonly StoreCommand[] = () => [],
): Promise<void> {
  const { deps } = services;
  deps.failpoints.hit('attempt:before-settle');
  await readBack(services, live);
  const before = live.record;
  // An answer is in hand: it waits for the database.
  const chargeOf = async (): Promise<ChargeRecord | undefined> =>
    (await whileAway(services, async () => await deps.store.chargesOfAttempt(before.id)))[0];
  let charge = live.charge ?? (await chargeOf());
  for (;;) {
    const nowMs = deps.clock.nowMs();
    const record = settledRecord(live.record, settlement, nowMs);
    const settledCharge = charge === undefined ? undefined : settleCharge(services, charge, record, settlement, nowMs);
    const commands: StoreCommand[] = [
      { type: 'put-attempt', record, expected: unsettled },
      attemptEvent(record, nowMs, eventType(settlement), settlementData(settlement)),
      ...along(nowMs),
    ];
    if (settledCharge !== undefined) {
      // Under `unknown_outcome: retry` an estimate was booked already: the vendor's word corrects it.
      commands.push({
        type: 'put-charge',
        record: settledCharge,
        ...(charge?.state === 'settled' ? { correction: true } : {}),
      });
      commands.push(attemptEvent(record, nowMs, 'charge-settled', chargeData(settledCharge)));
      commands.push(...billMarker(services, record, settledCharge, nowMs));
    }
    const isWritten = await commitAnswer(services, commands);
    if (isWritten) {
      live.record = record;
      live.charge = settledCharge ?? charge;
      if (charge !== undefined && settledCharge !== undefined) noteBudget(services, charge, settledCharge);
      break;
    }
    const stored = await whileAway(services, async () => await deps.store.attempt(before.id));
    if (stored === undefined) throw new Error(`attempt ${before.id} is not in the store`);
    live.record = stored;
    charge = live.charge = await chargeOf();
    if (!unsettled.includes(stored.state)) return;
  }
  deps.failpoints.hit('attempt:after-settle');
}

function settledRecord(record: AttemptRecord, settlement: Settlement, nowMs: number): AttemptRecord {
  const settled = { ...withoutFailure(record), state: settlement.state, settledAt: nowMs };
  switch (settlement.state) {
    case 'succeeded':
      return { ...settled, output: settlement.output, cost: settlement.cost };
    case 'failed':
      return { ...settled, failure: settlement.failure, cost: settlement.cost };
    case 'expired':
    case 'refused':
      return { ...settled, failure: settlement.failure };
    case 'canceled':
      return settlement.cost === undefined ? settled : { ...settled, cost: settlement.cost };
    case 'not-accepted':
      return settled;
  }
}

export function withoutFailure(record: AttemptRecord): AttemptRecord {
  if (record.failure === undefined) return record;
  const copy = { ...record };
  delete copy.failure;
  return copy;
}

function eventType(settlement: Settlement): 'attempt-refused' | 'attempt-resolved' | 'attempt-settled' {
  if (settlement.state === 'refused') return 'attempt-refused';
  return settlement.state === 'not-accepted' && settlement.by === 'person' ? 'attempt-resolved' : 'attempt-settled';
}

function settlementData(settlement: Settlement): JsonObject {
  return 'failure' in settlement
    ? { state: settlement.state, failure: failureData(settlement.failure) }
    : { state: settlement.state };
}

function noteBudget(services: Services, before: ChargeRecord, after: ChargeRecord): void {
  services.budgets.note(after, after.cnyMicros - before.cnyMicros);
}
