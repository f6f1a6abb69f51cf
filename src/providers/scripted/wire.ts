import { z } from 'zod';
import { failureKindSchema } from './failure-kind.ts';

/** The file of answers: the first whose `when` fits is given. */
export const answersSchema = z.strictObject({
  answers: z
    .array(
      z
        .strictObject({
          /** A text that must occur in the prompt; absent: always. */
          when: z.string().optional(),
          model: z.string().optional(),
          text: z.string().optional(),
          /** Files, relative to the answers file. */
          images: z.array(z.string()).min(1).optional(),
          videos: z.array(z.string()).min(1).optional(),
          fail: z.strictObject({ kind: failureKindSchema, message: z.string() }).optional(),
        })
        .refine(
          (answer) =>
            [answer.text, answer.images, answer.videos, answer.fail].filter((each) => each !== undefined).length === 1,
          {
            error: 'an answer has exactly one of text, images, videos, fail',
          },
        ),
    )
    .min(1),
});
export type Answer = z.infer<typeof answersSchema>['answers'][number];
