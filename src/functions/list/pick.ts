import { z } from 'zod';
import type { NodeFunction } from '../../engine/ports/index.ts';
import { fail, type Json, ok } from '../../kernel/index.ts';
import { defineFunction, jsonSchema } from '../define.ts';

const input = z.strictObject({
  items: z.array(jsonSchema),
  /** Numbers from 1, in the order wanted; numbers that do not exist are a bad output of whoever chose. */
  numbers: z.array(z.int()),
});

/** `list.pick {items, numbers}` → `{items}`: the chosen ones, each once. */
export const pickItems: NodeFunction = defineFunction('list.pick', input, ({ items, numbers }) => {
  const absent = numbers.filter((number) => items[number - 1] === undefined);
  if (absent.length > 0 || numbers.length === 0) {
    const message = numbers.length === 0 ? 'nothing was chosen' : `there is no item ${absent.join(', ')}`;
    return Promise.resolve(fail({ kind: 'output-invalid', code: 'pick-out-of-range', message }));
  }
  const picked = [...new Set(numbers)].map((number): Json => items[number - 1] ?? null);
  return Promise.resolve(ok({ items: picked, count: picked.length }));
});
