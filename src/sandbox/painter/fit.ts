import sharp from 'sharp';
import { looksLikePicture } from './painter.ts';
import type { Canvas } from './shapes.ts';

/** Decodes an input into a plain PNG of the given size; undefined when it is no picture. */
export async function fit(
  input: Uint8Array | undefined,
  canvas: Canvas,
  how: 'cover' | 'inside',
): Promise<Buffer | undefined> {
  if (input === undefined || !looksLikePicture(input)) return undefined;
  return sharp(input)
    .rotate()
    .resize(Math.round(canvas.widthPx), Math.round(canvas.heightPx), { fit: how, background: '#ffffff' })
    .flatten({ background: '#ffffff' })
    .png()
    .toBuffer()
    .catch(() => undefined);
}
