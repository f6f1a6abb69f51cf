import { z } from 'zod';

const text = z.string().nullish().catch(undefined);

/** A page as far as it is read; whatever else stands there is not ours. */
const pageSchema = z.object({
  name: text,
  url: z.string().min(1),
  snippet: text,
  /** Only where `summary: true` was asked for. */
  summary: text,
  siteName: text,
  /** ISO 8601 with its zone. `dateLastCrawled` beside it says UTC and means Peking time, so it is not read. */
  datePublished: text,
});
export type Page = z.infer<typeof pageSchema>;

/** A page that cannot be read is left out; an answer without `data` is none. */
export const answerSchema = z.object({
  data: z.object({
    webPages: z
      .object({
        value: z
          .array(z.unknown())
          .nullish()
          .transform((list) =>
            (list ?? []).flatMap((each): readonly Page[] => {
              const page = pageSchema.safeParse(each);
              return page.success ? [page.data] : [];
            }),
          ),
      })
      .nullish(),
  }),
});

/** Errors come as `{code: "403", message, log_id}` with that status; good answers carry `code: 200` and `msg`. */
export const envelopeSchema = z.object({
  code: z.union([z.string(), z.number()]).transform(Number),
  message: text,
  msg: text,
  log_id: text,
});

export const balanceSchema = z.object({ data: z.object({ remaining: z.union([z.number(), z.string()]) }) });
