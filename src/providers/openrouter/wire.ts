import { z } from 'zod';

const amountSchema = z.union([z.number(), z.string()]).nullish().catch(undefined);

/** What is left to this key; null: the key has no limit of its own. */
export const keySchema = z.object({ data: z.object({ limit_remaining: amountSchema }) });

/** The account; asks for a management key. */
export const creditsSchema = z.object({
  data: z.object({ total_credits: z.union([z.number(), z.string()]), total_usage: z.union([z.number(), z.string()]) }),
});
