import type { Settings } from '../contract/index.ts';
import { convertMoney, fail, type Money, ok, parseMoney, type Result } from '../kernel/index.ts';

type MoneySettings = Settings['money'];

/** A sum in yuan at the dated rates; a vendor's credits go through the price of a credit. */
function toCny(sum: Money, settings: MoneySettings): Result<Money, string> {
  if (sum.currency === 'CNY') return ok(sum);
  if (sum.currency.startsWith('credit:')) {
    const price = settings.credit[sum.currency.slice('credit:'.length)];
    if (price === undefined) return fail(`no price of a credit for ${sum.currency} (money.credit)`);
    const perCredit = parseMoney(price.currency, price.amount);
    if (!perCredit.ok) return perCredit;
    return toCny(convertMoney(sum, price.currency, perCredit.value.micros), settings);
  }
  const rate = settings.rates[sum.currency];
  if (rate === undefined) return fail(`no rate for ${sum.currency} (money.rates)`);
  const parsed = parseMoney('CNY', rate.cny);
  return parsed.ok ? ok(convertMoney(sum, 'CNY', parsed.value.micros)) : parsed;
}

/** A threshold as it is written: a number in the vendor's own unit, or `50CNY`. */
export function parseThreshold(value: string | number, ownCurrency: string): Result<Money, string> {
  if (typeof value === 'number') return parseMoney(ownCurrency, value);
  const match = /^\s*(\d+(?:\.\d+)?)\s*([A-Za-z][A-Za-z:_-]*)?\s*$/.exec(value);
  if (match === null) return fail(`"${value}" is not a threshold; write a number in the vendor's unit, or 50CNY`);
  return parseMoney(match[2] ?? ownCurrency, match[1] ?? '');
}

/** Whether a balance has fallen below a threshold; compared in one unit where both have it, else in yuan. */
export function isBelow(balance: Money, threshold: Money, settings: MoneySettings): Result<boolean, string> {
  if (balance.currency === threshold.currency) return ok(balance.micros < threshold.micros);
  const left = toCny(balance, settings);
  if (!left.ok) return left;
  const right = toCny(threshold, settings);
  return right.ok ? ok(left.value.micros < right.value.micros) : right;
}
