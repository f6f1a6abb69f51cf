import { z } from 'zod';

/** Only what we read; everything else may change. Texts come under `msg` or `message`. */
export const envelopeSchema = z.object({
  code: z.union([z.number(), z.string().regex(/^\d+$/).transform(Number)]),
  msg: z.string().nullish(),
  message: z.string().nullish(),
  data: z.unknown().optional(),
});
export type Envelope = z.infer<typeof envelopeSchema>;

const idSchema = z.union([z.string().min(1), z.number().transform(String)]);
export const createdSchema = z.object({ taskId: idSchema });

const amountSchema = z.union([z.number(), z.string()]).nullish().catch(undefined);
const textSchema = z
  .union([z.string(), z.number().transform(String)])
  .nullish()
  .catch(undefined);

/** `recordInfo` of the market API. `resultJson` is a JSON string. */
export const recordSchema = z.object({
  taskId: idSchema.nullish().catch(undefined),
  state: z.string(),
  resultJson: z.unknown().optional(),
  failCode: textSchema,
  failMsg: textSchema,
  progress: z.number().nullish().catch(undefined),
  /** Seen by clients, missing from the vendor's own pages; only on success. */
  creditsConsumed: amountSchema,
  /** Epoch ms. */
  completeTime: z.number().nullish().catch(undefined),
});

export const resultSchema = z.object({ resultUrls: z.array(z.unknown()).nullish().catch(undefined) });

/** `record-info` of the Veo API: 0 running, 1 success, 2 failed, 3 generation failed. */
export const veoRecordSchema = z.object({
  taskId: idSchema.nullish().catch(undefined),
  successFlag: z.union([z.number(), z.string().transform(Number)]),
  response: z
    .object({ resultUrls: z.unknown().optional(), originUrls: z.unknown().optional() })
    .nullish()
    .catch(undefined),
  errorCode: textSchema,
  errorMessage: textSchema,
  creditsConsumed: amountSchema,
});

/** Uploads answer 200 with `success: false` when refused. */
export const uploadSchema = z.object({
  success: z.boolean().nullish(),
  data: z
    .object({ downloadUrl: z.string().nullish(), fileUrl: z.string().nullish(), url: z.string().nullish() })
    .nullish()
    .catch(undefined),
});

/** The whole answer of the balance: a bare number, which may have decimals. */
export const creditSchema = z.union([z.number(), z.string()]);
