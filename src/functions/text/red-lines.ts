import { z } from 'zod';
import type { NodeFunction } from '../../engine/ports/index.ts';
import { ok } from '../../kernel/index.ts';
import { defineFunction } from '../define.ts';

/** The studio's red lines: rules as people read them, and one English phrase a rule for picture and film models. */
export interface RedLineTexts {
  readonly rules: readonly string[];
  readonly avoid: readonly string[];
}

const input = z.strictObject({ text: z.string().trim().min(1), language: z.enum(['en', 'zh']) });

/**
 * `text.red-lines {text, language}` → `{text}`: the text with the red lines behind it, whatever stood before. Code, not a
 * model, appends them, so that they hold even when a model forgot its rules or staff edited the text. Once is enough:
 * a text that already ends with them stays as it is.
 */
export function createRedLines(lines: RedLineTexts): NodeFunction {
  const suffixes = {
    en: `Must not appear: ${lines.avoid.join('; ')}.`,
    zh: `红线（必须遵守）：${lines.rules.join('')}`,
  };
  return defineFunction('text.red-lines', input, ({ text, language }) => {
    const suffix = suffixes[language];
    return Promise.resolve(ok({ text: text.endsWith(suffix) ? text : `${text}\n${suffix}` }));
  });
}
