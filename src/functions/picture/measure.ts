import sharp from 'sharp';
import { decode } from './decode.ts';
import type { PictureFacts } from './port.ts';

const sharpnessSidePx = 1024;
const groundSidePx = 256;
/** Colours within this distance (in RGB space, 0–441) are one ground: compression noise stays below it. */
const sameColorDistance = 30;

export async function measurePicture(bytes: Uint8Array): Promise<PictureFacts> {
  const { width, height, format } = await decode(bytes).metadata();
  const [sharpness, ground] = await Promise.all([measureSharpness(bytes), measureGround(bytes)]);
  return { widthPx: width, heightPx: height, format, sharpness, ...ground };
}

/** Edge energy: the Laplacian around a middle grey, so that both signs survive in eight bits. */
async function measureSharpness(bytes: Uint8Array): Promise<number> {
  const edges = await decode(bytes)
    .resize({ width: sharpnessSidePx, height: sharpnessSidePx, fit: 'inside', withoutEnlargement: true })
    .flatten({ background: '#ffffff' })
    .greyscale()
    .convolve({ width: 3, height: 3, kernel: [0, 1, 0, 1, -4, 1, 0, 1, 0], scale: 1, offset: 128 })
    .png()
    .toBuffer();
  const { channels } = await sharp(edges).stats();
  return channels[0]?.stdev ?? 0;
}

type Ground = Pick<PictureFacts, 'ground' | 'groundRatio' | 'groundColor'>;

/** Looks at a ring along the border, 4 % of the side wide. */
async function measureGround(bytes: Uint8Array): Promise<Ground> {
  const { data, info } = await decode(bytes)
    .resize({ width: groundSidePx, height: groundSidePx, fit: 'fill' })
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const ring = Math.max(2, Math.round(groundSidePx * 0.04));
  const pixels: (readonly [number, number, number, number])[] = [];
  for (let y = 0; y < info.height; y += 1) {
    for (let x = 0; x < info.width; x += 1) {
      const isInside = x >= ring && y >= ring && x < info.width - ring && y < info.height - ring;
      if (isInside) continue;
      const at = (y * info.width + x) * 4;
      pixels.push([data[at] ?? 0, data[at + 1] ?? 0, data[at + 2] ?? 0, data[at + 3] ?? 0]);
    }
  }
  const clearRatio = pixels.filter((pixel) => pixel[3] < 16).length / pixels.length;
  const color = [0, 1, 2].map((channel) => median(pixels.map((pixel) => pixel[channel] ?? 0)));
  const plainRatio = pixels.filter((pixel) => distance(pixel, color) <= sameColorDistance).length / pixels.length;
  const groundColor = `#${color.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
  if (clearRatio >= 0.9) return { ground: 'transparent', groundRatio: clearRatio, groundColor };
  return { ground: plainRatio >= 0.9 ? 'plain' : 'busy', groundRatio: plainRatio, groundColor };
}

function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}

function distance(pixel: readonly number[], color: readonly number[]): number {
  return Math.hypot(...[0, 1, 2].map((channel) => (pixel[channel] ?? 0) - (color[channel] ?? 0)));
}
