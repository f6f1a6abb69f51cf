import { z } from 'zod';
import type { NodeFunction } from '../../engine/ports/index.ts';
import { ok } from '../../kernel/index.ts';
import { defineFunction, refuseInput } from '../define.ts';

const joinInput = z.strictObject({
  parts: z.array(z.string().nullish()),
  separator: z.string().optional(),
  /** Put before each part, `{n}` being its number. */
  prefix: z.string().optional(),
});

/** `text.join {parts, separator?, prefix?}` → `{text}`: empty parts are left out. */
export const joinTexts: NodeFunction = defineFunction('text.join', joinInput, ({ parts, separator, prefix }) => {
  const kept = parts.flatMap((part) =>
    part === null || part === undefined || part.trim() === '' ? [] : [part.trim()],
  );
  const lines = kept.map((part, index) => `${(prefix ?? '').replaceAll('{n}', String(index + 1))}${part}`);
  return Promise.resolve(ok({ text: lines.join(separator ?? '\n'), count: lines.length }));
});

const requireInput = z.strictObject({
  text: z.string().nullish(),
  min_chars: z.int().min(1).optional(),
  /** Words for staff: what to write where. */
  advice: z.string(),
});

/**
 * `text.require {text, advice}` → `{text}`: ends the run for free when the text is empty or only blanks, punctuation and
 * symbols; a model would otherwise be paid to answer "please paste the text".
 */
export const requireText: NodeFunction = defineFunction('text.require', requireInput, ({ text, min_chars, advice }) => {
  const meaning = (text ?? '').match(/[\p{L}\p{N}]/gu)?.length ?? 0;
  return Promise.resolve(
    meaning >= (min_chars ?? 1)
      ? ok({ text: (text ?? '').trim() })
      : refuseInput('text-missing', `too little text (${meaning} letters)`, advice),
  );
});

const refuseSchema = z.strictObject({ reason: z.string().trim().min(1) });

/** `flow.refuse {reason}`: ends the run as invalid input; the reason (a question, say) is what staff read in 报错. */
export const refuseRun: NodeFunction = defineFunction('flow.refuse', refuseSchema, ({ reason }) =>
  Promise.resolve(refuseInput('refused-by-workflow', reason, reason)),
);
