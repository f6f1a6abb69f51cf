import sharp from 'sharp';
import { decode } from './decode.ts';
import { measurePicture } from './measure.ts';

/** Masks are made at this size at most: enough for an edge, and quick. */
const maskSidePx = 1024;

/**
 * Lifts a motif off its plain ground. What differs from the border's colour is the motif; ground that the motif encloses
 * stays (white eyes are not holes). The mask is made small and grown back smoothly.
 */
export async function cutOutPicture(
  bytes: Uint8Array,
  tolerance: number,
): Promise<{ bytes: Uint8Array; keptRatio: number }> {
  const facts = await measurePicture(bytes);
  if (facts.ground === 'transparent') return { bytes: await decode(bytes).png().toBuffer(), keptRatio: 1 };
  const { data, info } = await decode(bytes)
    .resize({ width: maskSidePx, height: maskSidePx, fit: 'inside', withoutEnlargement: true })
    .flatten({ background: facts.groundColor })
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { Mask } = await import('image-js');
  const mask = new Mask(info.width, info.height, { data: differing(data, facts.groundColor, tolerance) });
  const { alpha, keptRatio } = asAlpha(mask.solidFill());
  const grown = await sharp(alpha, { raw: { width: info.width, height: info.height, channels: 1 } })
    .blur(0.7)
    .resize({ width: facts.widthPx, height: facts.heightPx, fit: 'fill', kernel: 'cubic' })
    .toColourspace('b-w')
    .raw()
    .toBuffer();
  const lifted = await decode(bytes)
    .flatten({ background: facts.groundColor })
    .toColourspace('srgb')
    .joinChannel(grown, { raw: { width: facts.widthPx, height: facts.heightPx, channels: 1 } })
    .png()
    .toBuffer();
  return { bytes: lifted, keptRatio };
}

/** One byte a pixel: 1 where the colour is farther from the ground than the tolerance. */
function differing(data: Uint8Array, groundColor: string, tolerance: number): Uint8Array {
  const ground = [1, 3, 5].map((at) => Number.parseInt(groundColor.slice(at, at + 2), 16));
  const limit = tolerance * tolerance;
  const mask = new Uint8Array(data.length / 3);
  for (let at = 0; at < mask.length; at += 1) {
    let sum = 0;
    for (let channel = 0; channel < 3; channel += 1) {
      const difference = (data[at * 3 + channel] ?? 0) - (ground[channel] ?? 0);
      sum += difference * difference;
    }
    mask[at] = sum > limit ? 1 : 0;
  }
  return mask;
}

function asAlpha(mask: { readonly size: number; getBitByIndex(index: number): unknown }): {
  alpha: Uint8Array;
  keptRatio: number;
} {
  const alpha = new Uint8Array(mask.size);
  let kept = 0;
  for (let at = 0; at < alpha.length; at += 1) {
    if (Number(mask.getBitByIndex(at)) !== 1) continue;
    alpha[at] = 255;
    kept += 1;
  }
  return { alpha, keptRatio: kept / Math.max(1, alpha.length) };
}
