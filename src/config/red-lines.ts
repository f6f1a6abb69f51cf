import { z } from 'zod';

/**
 * What must never appear in a picture, a film or a text of the studio. One source with three uses: the rules given to
 * language models, the avoid part of picture and film templates, and the words that code appends to every prompt.
 */
export const redLinesSchema = z.strictObject({
  red_lines: z
    .array(
      z.strictObject({
        /** The rule as a language model and staff read it. */
        rule: z.string().min(4),
        /** The same for a picture or film model: English words, no commas inside. */
        avoid: z.string().regex(/^[^,，;；]+$/, 'one phrase; write a second line for a second phrase'),
      }),
    )
    .min(1),
});

export interface RedLines {
  readonly rules: readonly string[];
  readonly avoid: readonly string[];
}

/** The texts that prompts include as `{{> red-lines.rules}}` and `{{> red-lines.avoid}}`. */
export function redLinePartials(lines: RedLines): ReadonlyMap<string, string> {
  return new Map([
    ['red-lines.rules', lines.rules.map((rule, index) => `${index + 1}. ${rule}`).join('\n')],
    ['red-lines.avoid', lines.avoid.join(', ')],
  ]);
}
