import { z } from 'zod';

/** Sums are texts. `is_available` is the vendor's own verdict. */
export const balanceSchema = z.object({
  is_available: z.boolean(),
  balance_infos: z.array(z.object({ currency: z.string(), total_balance: z.union([z.string(), z.number()]) })),
});
