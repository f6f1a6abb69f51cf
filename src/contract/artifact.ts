import { z } from 'zod';

/**
 * A file that we hold: its bytes lie in the spool under `hash` (SHA-256, hex). `mime` was sniffed from the bytes, never
 * taken from a header. `name` carries the right extension.
 */
export const artifactSchema = z.object({
  kind: z.literal('artifact'),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  sizeBytes: z.int().positive(),
  mime: z.string(),
  name: z.string(),
  /** What a collected film's own header says, as far as it could be read. Checks of a skill may look at it. */
  film: z.object({ durationMs: z.int().positive().optional(), hasSound: z.boolean() }).optional(),
});
export type Artifact = z.infer<typeof artifactSchema>;

/** A result that still lies at a vendor's address, which expires; it becomes an Artifact by being collected. */
export const remoteMediaSchema = z.object({
  kind: z.literal('remote'),
  url: z.url({ protocol: /^https?$/ }),
  media: z.enum(['image', 'video', 'file']),
  expiresAt: z.number().optional(),
});
export type RemoteMedia = z.infer<typeof remoteMediaSchema>;

/** Bytes that came inside an answer (base64): already in the spool when an adapter returns them. */
export type MediaValue = Artifact | RemoteMedia;

export function isArtifact(value: unknown): value is Artifact {
  return artifactSchema.safeParse(value).success;
}

export function isRemoteMedia(value: unknown): value is RemoteMedia {
  return remoteMediaSchema.safeParse(value).success;
}
