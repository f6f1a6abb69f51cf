import { z } from 'zod';

const countSchema = z.number().nullish().catch(undefined);

/** Usage as OpenAI-compatible vendors give it; `cost` is OpenRouter's, in US dollars. */
const usageSchema = z.object({
  prompt_tokens: countSchema,
  completion_tokens: countSchema,
  prompt_tokens_details: z.object({ cached_tokens: countSchema }).nullish().catch(undefined),
  /** DeepSeek's own name. */
  prompt_cache_hit_tokens: countSchema,
  cost: z.union([z.number(), z.string()]).nullish().catch(undefined),
});
export type Usage = z.infer<typeof usageSchema>;

const textPartSchema = z.object({ type: z.string().nullish(), text: z.string().nullish() });

/** Content is a text, null, or a list of parts. */
const contentSchema = z
  .union([z.string(), z.array(textPartSchema)])
  .nullish()
  .catch(undefined);

export const completionSchema = z.object({
  choices: z
    .array(
      z.object({
        message: z
          .object({ content: contentSchema, refusal: z.string().nullish().catch(undefined) })
          .nullish()
          .catch(undefined),
        finish_reason: z.string().nullish().catch(undefined),
      }),
    )
    .nullish()
    .catch(undefined),
  usage: usageSchema.nullish().catch(undefined),
});

/** One event of a streamed answer. */
export const chunkSchema = z.object({
  choices: z
    .array(
      z.object({
        delta: z
          .object({ content: contentSchema, refusal: z.string().nullish().catch(undefined) })
          .nullish()
          .catch(undefined),
        finish_reason: z.string().nullish().catch(undefined),
      }),
    )
    .nullish()
    .catch(undefined),
  usage: usageSchema.nullish().catch(undefined),
});

export function textOf(content: z.infer<typeof contentSchema>): string {
  if (content === undefined || content === null) return '';
  return typeof content === 'string' ? content : content.map((part) => part.text ?? '').join('');
}
