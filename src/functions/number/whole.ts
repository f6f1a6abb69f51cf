import { z } from 'zod';
import type { NodeFunction } from '../../engine/ports/index.ts';
import { ok } from '../../kernel/index.ts';
import { defineFunction, refuseInput } from '../define.ts';

const input = z.strictObject({
  value: z.union([z.number(), z.string()]).nullish(),
  preset: z.int(),
  min: z.int(),
  max: z.int(),
  /** How the number is called in the row. */
  name: z.string(),
});

/** `number.whole {value, preset, min, max, name}` → `{value}`: what staff typed, or the preset; out of range is refused. */
export const wholeNumber: NodeFunction = defineFunction('number.whole', input, ({ value, preset, min, max, name }) => {
  const written = typeof value === 'string' ? value.trim() : value;
  const isEmpty = written === null || written === undefined || written === '';
  const number = isEmpty ? preset : Number(written);
  if (Number.isInteger(number) && number >= min && number <= max) return Promise.resolve(ok({ value: number }));
  const advice = `「${name}」请填 ${min} 到 ${max} 的整数（留空为 ${preset}），再选「提交」。`;
  return Promise.resolve(refuseInput('number-out-of-range', `${name}: ${String(value)}`, advice));
});
