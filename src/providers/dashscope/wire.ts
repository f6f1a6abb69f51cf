import { z } from 'zod';

const idSchema = z.union([z.string().min(1), z.number().transform(String)]);
const numberSchema = z.number().nullish().catch(undefined);
const textSchema = z.string().nullish().catch(undefined);

const partSchema = z.object({ url: z.unknown().optional(), code: textSchema, message: textSchema });

/** A task, as submit, query and cancel give it. */
export const taskSchema = z.object({
  request_id: textSchema,
  output: z.object({
    task_id: idSchema.nullish().catch(undefined),
    task_status: textSchema,
    video_url: z.unknown().optional(),
    results: z.array(partSchema).nullish().catch(undefined),
    orig_prompt: textSchema,
    code: textSchema,
    message: textSchema,
  }),
  usage: z
    .object({
      video_duration: numberSchema,
      duration: numberSchema,
      image_count: numberSchema,
      video_count: numberSchema,
    })
    .nullish()
    .catch(undefined),
});

/** One row of the task list. */
export const listSchema = z.object({
  data: z.array(z.object({ task_id: idSchema, model_name: textSchema })),
  total: numberSchema,
});
