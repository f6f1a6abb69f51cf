import { fail, ok, type Result } from './result.ts';

/**
 * Money is an integer of micro-units (a millionth) with a currency, never a float. A currency is an ISO code (`CNY`, `USD`)
 * or a vendor's own unit (`credit:kie`, `credit:toapis`).
 */
export interface Money {
  readonly currency: string;
  readonly micros: number;
}

export const microsPerUnit = 1_000_000;

/** Throws on anything but a safe integer: a sum that cannot be exact must not exist. */
export function money(currency: string, micros: number): Money {
  if (!Number.isSafeInteger(micros)) throw new Error(`not an exact sum: ${micros} micro-${currency}`);
  return { currency, micros };
}

/** Reads a decimal string or number (`"0.35"`, `812.5`, `1e-7`) exactly; what lies beyond a millionth is rounded half-even. */
export function parseMoney(currency: string, text: string | number): Result<Money, string> {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/.exec(String(text).trim());
  const digits = `${match?.[2] ?? ''}${match?.[3] ?? ''}`;
  if (match === null || digits === '') return fail(`"${text}" is not a sum of money`);
  const exponent = Number(match[4] ?? '0') - (match[3]?.length ?? 0) + 6;
  if (exponent > 18 || exponent < -40) return fail(`"${text}" is out of range`);
  const magnitude =
    exponent >= 0 ? BigInt(digits) * 10n ** BigInt(exponent) : divideHalfEven(BigInt(digits), 10n ** BigInt(-exponent));
  const micros = Number(match[1] === '-' ? -magnitude : magnitude);
  return Number.isSafeInteger(micros) ? ok({ currency, micros }) : fail(`"${text}" is out of range`);
}

/** Adds sums of one currency; throws on a mix. */
export function addMoney(left: Money, right: Money): Money {
  if (left.currency !== right.currency) throw new Error(`cannot add ${left.currency} and ${right.currency}`);
  return money(left.currency, left.micros + right.micros);
}

/** `quantity` (an integer) things at `priceMicros` for `perUnits` of them, rounded half-even once. */
export function priceOf(currency: string, quantity: number, priceMicros: number, perUnits = 1): Money {
  const exact = BigInt(quantity) * BigInt(priceMicros);
  return money(currency, Number(divideHalfEven(exact, BigInt(perUnits))));
}

/** Converts at a rate of micro-units of `currency` for one whole unit of the sum's currency, rounded half-even once. */
export function convertMoney(sum: Money, currency: string, rateMicros: number): Money {
  return money(currency, Number(divideHalfEven(BigInt(sum.micros) * BigInt(rateMicros), BigInt(microsPerUnit))));
}

/** A decimal string with exactly `decimals` places, rounded half-even: `formatMicros(1234000, 4)` is `1.2340`. */
export function formatMicros(micros: number, decimals: number): string {
  const scaled = divideHalfEven(BigInt(micros), 10n ** BigInt(6 - decimals));
  const magnitude = (scaled < 0n ? -scaled : scaled).toString().padStart(decimals + 1, '0');
  const whole = magnitude.slice(0, magnitude.length - decimals);
  const text = decimals === 0 ? whole : `${whole}.${magnitude.slice(magnitude.length - decimals)}`;
  return scaled < 0n ? `-${text}` : text;
}

/** Integer division rounded half-even, for either sign of the dividend and a positive divisor. */
function divideHalfEven(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  const twice = (dividend % divisor) * 2n;
  const magnitude = twice < 0n ? -twice : twice;
  const step = dividend < 0n ? -1n : 1n;
  if (magnitude > divisor || (magnitude === divisor && quotient % 2n !== 0n)) return quotient + step;
  return quotient;
}
