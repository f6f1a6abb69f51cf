import type { ModelSettings, ReportedCost, Settings } from '../../contract/index.ts';
import {
  addMoney,
  convertMoney,
  type JsonObject,
  type Money,
  microsPerUnit,
  money,
  parseMoney,
  priceOf,
} from '../../kernel/index.ts';
import type { ChargeSource } from '../ports/index.ts';

/** A sum with where it comes from, and its worth in yuan at the dated rates. */
export interface Priced {
  readonly source: ChargeSource;
  readonly amount: Money;
  readonly cnyMicros: number;
  readonly usage?: Readonly<Record<string, number>>;
}

export interface Pricer {
  /** Before the call: what it will cost, as far as the price table knows. */
  estimate(model: ModelSettings, input: JsonObject): Priced;
  /** After a call that delivered. */
  settle(model: ModelSettings, cost: ReportedCost, input: JsonObject, output: JsonObject | undefined): Priced;
  /** After a call that ended badly: the vendor's figure, or nothing that anyone knows of. */
  settleFailed(model: ModelSettings, cost: ReportedCost, input: JsonObject): Priced;
  toCnyMicros(amount: Money): number;
}

export function createPricer(settings: Settings['money']): Pricer {
  const toCny = (amount: Money): number => convertToCny(amount, settings);
  const priced = (source: ChargeSource, amount: Money, usage?: Readonly<Record<string, number>>): Priced => ({
    source,
    amount,
    cnyMicros: toCny(amount),
    ...(usage === undefined ? {} : { usage }),
  });
  const byTable = (model: ModelSettings, usage: Readonly<Record<string, number>>, input: JsonObject): Priced => {
    if (model.price?.unpriced === true) return priced('unpriced', money(model.price.currency, 0), usage);
    const sum = tablePrice(model, usage, input);
    return sum === undefined ? priced('unknown', money('CNY', 0), usage) : priced('price_table', sum, usage);
  };
  return {
    toCnyMicros: toCny,
    estimate: (model, input) => byTable(model, expectedUsage(input), input),
    settle: (model, cost, input, output) => {
      if (cost.amount !== undefined) return priced('vendor', cost.amount, cost.usage);
      return byTable(model, { ...deliveredUsage(input, output), ...cost.usage }, input);
    },
    settleFailed: (model, cost, input) => {
      if (cost.amount !== undefined) return priced('vendor', cost.amount, cost.usage);
      if (cost.usage !== undefined) return byTable(model, { calls: 1, ...cost.usage }, input);
      return priced('unknown', money(model.price?.currency ?? 'CNY', 0));
    },
  };
}

/** The sum of the table's items whose conditions hold, each rounded once; undefined where the table says nothing. */
function tablePrice(
  model: ModelSettings,
  usage: Readonly<Record<string, number>>,
  input: JsonObject,
): Money | undefined {
  const { price } = model;
  if (price?.items === undefined) return undefined;
  let sum: Money | undefined;
  const priced = new Set<string>();
  for (const item of price.items) {
    const quantity = usage[item.unit];
    if (quantity === undefined || priced.has(item.unit) || !conditionsHold(item.when, input)) continue;
    const unitPrice = parseMoney(price.currency, item.amount);
    if (!unitPrice.ok) continue;
    // Quantities such as seconds may carry a fraction: taken to the thousandth.
    const exact = priceOf(
      price.currency,
      Math.round(quantity * 1_000),
      unitPrice.value.micros,
      (item.per ?? 1) * 1_000,
    );
    priced.add(item.unit);
    sum = sum === undefined ? exact : addMoney(sum, exact);
  }
  return sum;
}

function conditionsHold(when: JsonObject | undefined, input: JsonObject): boolean {
  return Object.entries(when ?? {}).every(([name, value]) => input[name] === value);
}

function expectedUsage(input: JsonObject): Readonly<Record<string, number>> {
  const prompt = `${textOf(input['prompt'])}${textOf(input['system'])}`;
  const maxOutput = input['maxOutputTokens'];
  return {
    calls: 1,
    images: numberOf(input['count']) ?? 1,
    seconds: numberOf(input['durationS']) ?? 1,
    // A Chinese character is about one token, four Latin letters are one; the upper figure reserves enough.
    inputTokens: prompt.length + 1_000 * (Array.isArray(input['images']) ? input['images'].length : 0),
    outputTokens: numberOf(maxOutput) ?? 2_000,
  };
}

function deliveredUsage(input: JsonObject, output: JsonObject | undefined): Readonly<Record<string, number>> {
  const images = output?.['images'];
  const usage = { calls: 1, images: Array.isArray(images) ? images.length : (numberOf(input['count']) ?? 1) };
  const seconds = numberOf(input['durationS']);
  return seconds === undefined ? usage : { ...usage, seconds };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Credits become their price's currency, then yuan; a unit without a rate counts 0 and stays visible by its amount. */
function convertToCny(amount: Money, settings: Settings['money']): number {
  if (amount.currency === 'CNY') return amount.micros;
  const credit = amount.currency.startsWith('credit:')
    ? settings.credit[amount.currency.slice('credit:'.length)]
    : undefined;
  if (credit !== undefined) {
    const unitPrice = parseMoney(credit.currency, credit.amount);
    if (!unitPrice.ok) return 0;
    return convertToCny(convertMoney(amount, credit.currency, unitPrice.value.micros), settings);
  }
  const rate = settings.rates[amount.currency];
  const parsed = rate === undefined ? undefined : parseMoney('CNY', rate.cny);
  return parsed?.ok === true ? convertMoney(amount, 'CNY', parsed.value.micros).micros : 0;
}

/** A sum of yuan as written in the settings, in micro-units. */
export function cnyMicrosOf(value: string | number): number {
  const parsed = parseMoney('CNY', value);
  return parsed.ok ? parsed.value.micros : Math.round(Number(value) * microsPerUnit);
}
