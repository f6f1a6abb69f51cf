import { z } from 'zod';
import type { NodeFunction } from '../../engine/ports/index.ts';
import { type Json, ok } from '../../kernel/index.ts';
import { defineFunction, jsonSchema, refuseInput } from '../define.ts';

const list = z.array(jsonSchema);
/** A list, or one value that stands for a list of one; absent is empty. */
const loose = z.union([list, jsonSchema]).nullish();

function asList(value: z.infer<typeof loose>): readonly Json[] {
  if (value === null || value === undefined) return [];
  return isList(value) ? value : [value];
}

function isList(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

/** `list.take {items, from?, count?}` → `{items, count}`. */
export const takeItems: NodeFunction = defineFunction(
  'list.take',
  z.strictObject({ items: loose, from: z.int().min(0).optional(), count: z.int().min(0).optional() }),
  ({ items, from, count }) => {
    const start = from ?? 0;
    const taken = asList(items).slice(start, count === undefined ? undefined : start + count);
    return Promise.resolve(ok({ items: taken, count: taken.length }));
  },
);

/** `list.concat {lists, max?}` → `{items, count}`: lists and single values in order, at most `max`. */
export const concatLists: NodeFunction = defineFunction(
  'list.concat',
  z.strictObject({ lists: z.array(loose), max: z.int().min(1).optional() }),
  ({ lists, max }) => {
    const items = lists.flatMap(asList).slice(0, max);
    return Promise.resolve(ok({ items, count: items.length }));
  },
);

/** `list.repeat {value, count}` → `{items}`: numbered copies for a map: `[{number, value}, …]`. */
export const repeatValue: NodeFunction = defineFunction(
  'list.repeat',
  z.strictObject({ value: jsonSchema.optional(), count: z.int().min(1).max(200) }),
  ({ value, count }) => {
    const items = Array.from({ length: count }, (_, index) => ({ number: index + 1, value: value ?? null }));
    return Promise.resolve(ok({ items, count }));
  },
);

/** `list.require {items, min, max, advice}` → `{items, count}`: ends the run for free when there are too few or too many. */
export const requireItems: NodeFunction = defineFunction(
  'list.require',
  z.strictObject({ items: loose, min: z.int().min(0), max: z.int().min(1), advice: z.string() }),
  ({ items, min, max, advice }) => {
    const given = asList(items);
    const fits = given.length >= min && given.length <= max;
    return Promise.resolve(
      fits
        ? ok({ items: given, count: given.length })
        : refuseInput('list-length', `${given.length} items, wanted ${min} to ${max}`, advice),
    );
  },
);
