import type { ModelSettings, ReportedCost } from '../../contract/index.ts';
import { isJsonObject, type JsonObject } from '../../kernel/index.ts';
import type { Priced } from '../policy/pricing.ts';
import type { AttemptRecord, ChargeRecord } from '../ports/index.ts';
import type { Services } from './services.ts';
import type { Settlement } from './types.ts';

/** The charge of a reservation whose attempt has been settled. */
export function settleCharge(
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

/** What the vendor told after the settlement, as a price. */
export function priceAgain(services: Services, record: AttemptRecord, cost: ReportedCost): Priced {
  return services.pricer.settle(modelOf(record), cost, inputOf(record), record.output);
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
