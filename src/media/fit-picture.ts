import type { Failure, FittedPicture, PictureLimits } from '../contract/index.ts';
import { fail, ok, type Result } from '../kernel/index.ts';

/** Brings a picture within limits; fails (never throws) for bytes that no decoder reads. */
export type PictureFitter = (
  bytes: Uint8Array,
  mime: string,
  limits: PictureLimits,
) => Promise<Result<FittedPicture, Failure>>;

/** Larger pictures are refused before they are decoded: a small file can hold a picture of gigabytes. */
const maxInputPixels = 120_000_000;
/** Tried in turn until the bytes fit. */
const steps = [
  { scale: 1, quality: 90 },
  { scale: 1, quality: 80 },
  { scale: 0.75, quality: 80 },
  { scale: 0.5, quality: 75 },
  { scale: 0.25, quality: 70 },
] as const;

/** The fitter on sharp, which works in threads of its own, off the event loop; loaded with the first picture. */
export function createSharpFitter(): PictureFitter {
  return async (bytes, mime, limits) => {
    try {
      const { default: sharp } = await import('sharp');
      const { width, height } = await sharp(bytes, { limitInputPixels: maxInputPixels }).metadata();
      const longSidePx = Math.max(width, height);
      const fits = bytes.byteLength <= limits.maxBytes && limits.mimes.includes(mime) && longSidePx <= limits.maxSidePx;
      if (fits) return ok({ bytes, mime });
      for (const { scale, quality } of steps) {
        const sidePx = Math.max(1, Math.floor(Math.min(longSidePx, limits.maxSidePx) * scale));
        const made = await toJpeg(bytes, sidePx, quality);
        if (made.byteLength <= limits.maxBytes) return ok({ bytes: made, mime: 'image/jpeg' });
      }
      return fail(unfit(`cannot be made smaller than ${limits.maxBytes} bytes`));
    } catch (error) {
      return fail(unfit(error instanceof Error ? error.message : String(error)));
    }
  };
}

/** Turned as its EXIF says, transparent parts on white, inside a square of `sidePx`. */
async function toJpeg(bytes: Uint8Array, sidePx: number, quality: number): Promise<Uint8Array> {
  const { default: sharp } = await import('sharp');
  return await sharp(bytes, { limitInputPixels: maxInputPixels, failOn: 'none' })
    .autoOrient()
    .resize({ width: sidePx, height: sidePx, fit: 'inside', withoutEnlargement: true })
    .flatten({ background: '#ffffff' })
    .jpeg({ quality, mozjpeg: false })
    .toBuffer();
}

function unfit(message: string): Failure {
  return { kind: 'invalid-input', code: 'picture.unreadable', message };
}
