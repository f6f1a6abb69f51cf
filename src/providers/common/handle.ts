import { z } from 'zod';
import type { JsonObject } from '../../kernel/index.ts';

/** Parsed when read back. A person's word (`resolve --accepted ID`) gives `taskId` alone, so the rest is optional. */
const handleSchema = z.object({
  taskId: z.union([z.string().min(1), z.number().transform(String)]),
  account: z.string().optional(),
  version: z.number().optional(),
  model: z.string().optional(),
  key: z.string().optional(),
  media: z.enum(['image', 'video']).optional(),
  acceptedAt: z.number().optional(),
  seconds: z.number().optional(),
});
export type TaskHandle = z.infer<typeof handleSchema>;

export function parseHandle(handle: JsonObject): TaskHandle {
  return handleSchema.parse(handle);
}

/** What is read of a stored request to make a handle. */
const requestSchema = z.object({
  model: z.string(),
  key: z.string(),
  capability: z.string(),
  body: z.object({ seconds: z.number().optional(), preparedAt: z.number().optional() }),
});

/**
 * A check that is answered with another task's record (a proxy that mixes up or repeats answers) says nothing about ours:
 * taken for ours, its pictures would go into the wrong row and its price onto the wrong bill.
 */
export function isAboutAnother(taskId: string | null | undefined, handle: TaskHandle): boolean {
  return typeof taskId === 'string' && taskId !== handle.taskId;
}

/** The handle of a task that a request became, whoever told its id: the vendor's answer, a look-up, or a person. */
export function handleOf(
  taskId: string,
  request: unknown,
  facts: { readonly account: string; readonly version: number; readonly acceptedAt?: number },
): JsonObject {
  const stored = requestSchema.safeParse(request).data;
  const acceptedAt = facts.acceptedAt ?? stored?.body.preparedAt;
  const seconds = stored?.body.seconds;
  return {
    taskId,
    account: facts.account,
    version: facts.version,
    ...(acceptedAt === undefined ? {} : { acceptedAt }),
    ...(stored === undefined
      ? {}
      : { model: stored.model, key: stored.key, media: stored.capability === 'video.generate' ? 'video' : 'image' }),
    ...(seconds === undefined ? {} : { seconds }),
  };
}
