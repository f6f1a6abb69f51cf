import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addMoney, convertMoney, formatMicros, money, parseMoney, priceOf } from '../../src/kernel/index.ts';

const micros = fc.integer({ min: -9_000_000_000_000, max: 9_000_000_000_000 });

describe('money', () => {
  it('reads what it writes, for every sum', () => {
    fc.assert(
      fc.property(micros, (value) => {
        expect(parseMoney('CNY', formatMicros(value, 6))).toEqual({
          ok: true,
          value: { currency: 'CNY', micros: value },
        });
      }),
    );
  });

  it('adds exactly what floats would not', () => {
    const tenth = parseMoney('CNY', '0.1');
    const fifth = parseMoney('CNY', 0.2);
    if (!tenth.ok || !fifth.ok) throw new Error('unreadable');
    expect(addMoney(tenth.value, fifth.value)).toEqual(money('CNY', 300_000));
  });

  it('P164 refuses to add two currencies', () => {
    expect(() => addMoney(money('USD', 1), money('CNY', 1))).toThrow('cannot add USD and CNY');
  });

  it('rounds halves to even, once, for either sign', () => {
    expect(priceOf('USD', 1, 5, 10).micros).toBe(0);
    expect(priceOf('USD', 3, 5, 10).micros).toBe(2);
    expect(convertMoney(money('USD', -5), 'CNY', 500_000).micros).toBe(-2);
    expect(formatMicros(1_234_050, 4)).toBe('1.2340');
    expect(formatMicros(1_234_150, 4)).toBe('1.2342');
  });

  it('reads exponents and refuses words, NaN and sums beyond the exact range', () => {
    expect(parseMoney('CNY', 1e-7)).toEqual({ ok: true, value: { currency: 'CNY', micros: 0 } });
    expect(parseMoney('CNY', '8.125e2')).toEqual({ ok: true, value: { currency: 'CNY', micros: 812_500_000 } });
    for (const bad of ['¥0.35', 'NaN', '', '.', 'Infinity', '1e99', '9999999999999'])
      expect(parseMoney('CNY', bad).ok).toBe(false);
  });

  it('never leaves the exact range silently', () => {
    expect(() => money('CNY', 0.5)).toThrow('not an exact sum');
    expect(() => priceOf('CNY', Number.MAX_SAFE_INTEGER, 1000)).toThrow('not an exact sum');
  });
});
