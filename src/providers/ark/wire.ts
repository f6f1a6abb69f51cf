import { z } from 'zod';

const idSchema = z.union([z.string().min(1), z.number().transform(String)]);
const countSchema = z.number().nullish().catch(undefined);

export const createdSchema = z.object({ id: idSchema });

/** A video task: `GET …/tasks/{id}`, and an item of the list. */
export const taskSchema = z.object({
  id: idSchema,
  status: z.string(),
  content: z.object({ video_url: z.unknown().optional() }).nullish().catch(undefined),
  usage: z.object({ completion_tokens: countSchema }).nullish().catch(undefined),
  /** Echoes what the submit carried: our purchase key. */
  safety_identifier: z.string().nullish().catch(undefined),
  /** Epoch seconds. */
  updated_at: countSchema,
});

export const listSchema = z.object({ items: z.array(z.unknown()), total: countSchema });

/** Pictures come at once: addresses for 24 hours, or errors per picture. */
export const imagesSchema = z.object({
  data: z.array(z.object({ url: z.unknown().optional(), error: z.unknown().optional() })),
  usage: z.object({ generated_images: countSchema, output_tokens: countSchema }).nullish().catch(undefined),
});
