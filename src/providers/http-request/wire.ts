import { z } from 'zod';

/** The capability's input, parsed again from the stored request. */
export const requestSchema = z.object({
  url: z.string(),
  method: z.enum(['GET', 'POST', 'PUT', 'DELETE', 'PATCH']),
  headers: z.record(z.string(), z.string()),
  body: z.json().optional(),
});
