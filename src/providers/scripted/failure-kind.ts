import { z } from 'zod';
import { type FailureKind, isFailureKind } from '../../contract/index.ts';

export const failureKindSchema = z.string().transform((text, context): FailureKind => {
  if (isFailureKind(text)) return text;
  context.addIssue({ code: 'custom', message: `"${text}" is not a failure kind` });
  return z.NEVER;
});
