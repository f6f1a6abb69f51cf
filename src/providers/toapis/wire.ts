import { z } from 'zod';

const idSchema = z.union([z.string().min(1), z.number().transform(String)]);
const amountSchema = z.union([z.number(), z.string()]).nullish().catch(undefined);

/** A task as submit and query give it. Older pages have the address at the top, newer ones under `result.data`. */
export const taskSchema = z.object({
  id: idSchema.nullish().catch(undefined),
  status: z.string().nullish().catch(undefined),
  progress: z.number().nullish().catch(undefined),
  url: z.unknown().optional(),
  result: z
    .object({
      data: z
        .array(z.object({ url: z.unknown().optional() }))
        .nullish()
        .catch(undefined),
    })
    .nullish()
    .catch(undefined),
  fail_reason: z.unknown().optional(),
  /** Epoch seconds or ISO. */
  completed_at: z.union([z.number(), z.string()]).nullish().catch(undefined),
  expires_at: z.union([z.number(), z.string()]).nullish().catch(undefined),
  /** Strings; seen by clients, missing from the vendor's own pages. */
  billing: z.object({ status: z.string().nullish(), credits: amountSchema }).nullish().catch(undefined),
});
export type ToapisTask = z.infer<typeof taskSchema>;

export const uploadSchema = z.object({ data: z.object({ url: z.string() }) });

/** `remain_credits` is the stable one (200 credits a dollar); `remain_balance` follows a display setting. */
export const balanceSchema = z.object({
  success: z.boolean().nullish(),
  remain_credits: amountSchema,
  unlimited_quota: z.boolean().nullish().catch(undefined),
});
