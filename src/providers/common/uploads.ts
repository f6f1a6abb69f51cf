import type { Artifact, Failure, MediaSource } from '../../contract/index.ts';
import { fail, ok, type Result } from '../../kernel/index.ts';
import type { MappedInput } from '../mapping/index.ts';

export type Upload = (artifact: Artifact, bytes: Uint8Array, signal: AbortSignal) => Promise<Result<string, Failure>>;

/** Uploads each file of a mapped input once, right before the submit: vendors' links are short-lived. Free of charge. */
export async function uploadMedia(
  mapped: MappedInput,
  media: MediaSource,
  upload: Upload,
  signal: AbortSignal,
): Promise<Result<ReadonlyMap<string, string>, Failure>> {
  const urls = new Map<string, string>();
  for (const artifact of mapped.media.flatMap((slot) => slot.artifacts)) {
    if (urls.has(artifact.hash)) continue;
    const bytes = await media.read(artifact, signal);
    if (!bytes.ok) return fail(bytes.failure);
    const url = await upload(artifact, bytes.value, signal);
    if (!url.ok) return fail(url.failure);
    urls.set(artifact.hash, url.value);
  }
  return ok(urls);
}

/** A file name that no earlier upload has: vendors overwrite equal names and may serve the old file from a cache. */
export function uniqueFileName(artifact: Artifact, uuid: string): string {
  const extension = /\.[a-z0-9]{1,5}$/i.exec(artifact.name)?.[0] ?? '';
  return `${artifact.hash.slice(0, 12)}-${uuid}${extension.toLowerCase()}`;
}
