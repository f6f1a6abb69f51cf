import type { Failure, ModelSettings, ReportedCost } from '../../contract/index.ts';
import { isJsonObject, type JsonObject } from '../../kernel/index.ts';
import type { Priced } from '../policy/pricing.ts';
import type { AttemptRecord, AttemptState, ChargeRecord, StoreCommand } from '../ports/index.ts';
import { commitAnswer } from './commit.ts';
import { attemptEvent, chargeData, failureData } from './events.ts';
import type { Services } from './services.ts';
import { readBack } from './set-aside.ts';
import type { LiveAttempt } from './types.ts';

/** The last word on an attempt. */
export type Settlement =
  | { readonly state: 'succeeded'; readonly output: JsonObject; readonly cost: ReportedCost }
  | { readonly state: 'failed'; readonly failure: Failure; readonly cost: ReportedCost }
  | { readonly state: 'expired'; readonly failure: Failure }
  | { readonly state: 'canceled'; readonly cost: ReportedCost | undefined }
  | { readonly state: 'refused'; readonly failure: Failure }
  | { readonly state: 'not-accepted'; readonly by: 'vendor' | 'person' };

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
  const charge = live.charge ?? (await deps.store.chargesOfAttempt(before.id))[0];
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
    }
    const isWritten = await commitAnswer(services, commands);
    if (isWritten) {
      live.record = record;
      live.charge = settledCharge ?? charge;
      if (charge !== undefined && settledCharge !== undefined) noteBudget(services, charge, settledCharge);
      break;
    }
    const stored = await deps.store.attempt(before.id);
    if (stored === undefined) throw new Error(`attempt ${before.id} is not in the store`);
    live.record = stored;
    live.charge = (await deps.store.chargesOfAttempt(before.id))[0];
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

function settleCharge(
  services: Services,
  charge: ChargeRecord,
  record: AttemptRecord,
  settlement: Settlement,
  nowMs: number,
): ChargeRecord {
  if (settlement.state === 'refused' || settlement.state === 'not-accepted') {
    return { ...charge, state: 'released', cnyMicros: 0, amount: { ...charge.amount, micros: 0 }, settledAt: nowMs };
  }
  const priced = priceSettlement(services, charge, record, settlement);
  return { ...charge, ...priced, state: 'settled', settledAt: nowMs };
}

/** Expired and cancelled tasks without a vendor's word keep their estimate: a bill may exist. */
function priceSettlement(
  services: Services,
  charge: ChargeRecord,
  record: AttemptRecord,
  settlement: Exclude<Settlement, { state: 'refused' | 'not-accepted' }>,
): Pick<ChargeRecord, 'source' | 'amount' | 'cnyMicros' | 'usage'> | Priced {
  const input = inputOf(record);
  const model = modelOf(record);
  const estimate = { source: 'unknown', amount: charge.amount, cnyMicros: charge.cnyMicros } as const;
  switch (settlement.state) {
    case 'succeeded':
      return services.pricer.settle(model, settlement.cost, input, settlement.output);
    case 'failed':
      return services.pricer.settleFailed(model, settlement.cost, input);
    case 'canceled': {
      const { cost } = settlement;
      return cost === undefined || (cost.amount === undefined && cost.usage === undefined)
        ? estimate
        : services.pricer.settleFailed(model, cost, input);
    }
    case 'expired':
      return estimate;
  }
}

function noteBudget(services: Services, before: ChargeRecord, after: ChargeRecord): void {
  services.budgets.note(after.labels, after.sourceRef, after.cnyMicros - before.cnyMicros);
}

/** The capability's input and the model's price lie with the stored request: late bills need them. */
function inputOf(record: AttemptRecord): JsonObject {
  const input = record.request['input'];
  return isJsonObject(input) ? input : {};
}

function modelOf(record: AttemptRecord): ModelSettings {
  const stored = record.request['price'];
  const base = {
    id: record.model,
    capability: [record.capability],
    implementation: record.implementation,
    model: record.model,
  };
  return isPrice(stored) ? { ...base, price: stored } : base;
}

function isPrice(value: unknown): value is NonNullable<ModelSettings['price']> {
  return isJsonObject(value) && typeof value['currency'] === 'string' && typeof value['dated'] === 'string';
}
