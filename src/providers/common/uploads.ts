import type { Artifact, Failure, FittedPicture, MediaSource, PictureLimits } from '../../contract/index.ts';
import { fail, ok, type Result } from '../../kernel/index.ts';
import type { MappedInput } from '../mapping/index.ts';

/** Brings one file to the vendor and gives its address there. */
export type Upload = (artifact: Artifact, file: FittedPicture, signal: AbortSignal) => Promise<Result<string, Failure>>;

/** Uploads each file of a mapped input once, right before the submit: vendors' links are short-lived. Free of charge. */
export async function uploadMedia(
  mapped: MappedInput,
  media: MediaSource,
  vendor: { readonly upload: Upload; readonly limits: PictureLimits },
  signal: AbortSignal,
): Promise<Result<ReadonlyMap<string, string>, Failure>> {
  const urls = new Map<string, string>();
  for (const artifact of mapped.media.flatMap((slot) => slot.artifacts)) {
    if (urls.has(artifact.hash)) continue;
    const file = await readFitting(artifact, media, vendor.limits, signal);
    if (!file.ok) return fail(file.failure);
    const url = await vendor.upload(artifact, file.value, signal);
    if (!url.ok) return fail(url.failure);
    urls.set(artifact.hash, url.value);
  }
  return ok(urls);
}

/** The file within limits where it can be made so, else as it is: the vendor may know better than we do. */
export async function readFitting(
  artifact: Artifact,
  media: MediaSource,
  limits: PictureLimits,
  signal: AbortSignal,
): Promise<Result<FittedPicture, Failure>> {
  const fitted = artifact.mime.startsWith('image/') ? await media.fitPicture?.(artifact, limits, signal) : undefined;
  if (fitted?.ok === true) return fitted;
  const bytes = await media.read(artifact, signal);
  return bytes.ok ? ok({ bytes: bytes.value, mime: artifact.mime }) : bytes;
}

const extensions: Readonly<Record<string, string>> = {
  'image/jpeg': '.jpg',
  'image/png': '.png',
  'image/webp': '.webp',
  'image/gif': '.gif',
};

/** A file name that no earlier upload has: vendors overwrite equal names and may serve the old file from a cache. */
export function uniqueFileName(artifact: Artifact, mime: string, uuid: string): string {
  const extension = extensions[mime] ?? /\.[a-z0-9]{1,5}$/i.exec(artifact.name)?.[0] ?? '';
  return `${artifact.hash.slice(0, 12)}-${uuid}${extension.toLowerCase()}`;
}
