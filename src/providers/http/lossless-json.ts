type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;
const parse: (text: string, reviver: Reviver) => unknown = JSON.parse;

/**
 * Parses JSON without losing a digit: an integer beyond 2^53 becomes its own text, so that ids which some vendors send as
 * numbers survive. A byte-order mark and white space in front (keep-alive blank lines) are tolerated. Undefined: not JSON.
 */
export function parseLosslessJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parse(text.replace(/^[\s\uFEFF]+/u, ''), keepDigits) };
  } catch {
    return undefined;
  }
}

const keepDigits: Reviver = (_key, value, context) =>
  typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
    ? context?.source
    : value;
