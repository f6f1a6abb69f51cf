import { z } from 'zod';
import type { NodeFunction } from '../../engine/ports/index.ts';
import { ok } from '../../kernel/index.ts';
import { defineFunction, jsonSchema } from '../define.ts';

/** The studio's red lines: rules as people read them, and one English phrase a rule for picture and film models. */
export interface RedLineTexts {
  readonly rules: readonly string[];
  readonly avoid: readonly string[];
}

const language = z.enum(['en', 'zh']);
const input = z.union([
  z.strictObject({ text: z.string().trim().min(1), language }),
  z.strictObject({ items: z.array(z.record(z.string(), jsonSchema)).min(1), member: z.string(), language }),
]);

/**
 * `text.red-lines {text, language}` → `{text}`, or `{items, member, language}` → `{items}` with that member of each item:
 * the text with the red lines behind it, whatever stood before. Code, not a model, appends them, so that they hold even
 * when a model forgot its rules or staff edited the text. Once is enough: a text that ends with them stays as it is.
 */
export function createRedLines(lines: RedLineTexts): NodeFunction {
  const suffixes = {
    en: `Must not appear: ${lines.avoid.join('; ')}.`,
    zh: `红线（必须遵守）：${lines.rules.join('')}`,
  };
  const guard = (text: string, suffix: string): string => (text.endsWith(suffix) ? text : `${text}\n${suffix}`);
  return defineFunction('text.red-lines', input, (given) => {
    const suffix = suffixes[given.language];
    if ('text' in given) return Promise.resolve(ok({ text: guard(given.text, suffix) }));
    const items = given.items.map((item) => {
      const text = item[given.member];
      return typeof text === 'string' ? { ...item, [given.member]: guard(text, suffix) } : item;
    });
    return Promise.resolve(ok({ items }));
  });
}
