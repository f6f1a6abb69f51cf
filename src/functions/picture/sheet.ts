import sharp from 'sharp';
import { decode } from './decode.ts';
import type { SheetOptions } from './port.ts';

/** Room below each picture for its number, drawn as dots: no fonts are needed anywhere. */
const stripPx = 24;

export async function drawContactSheet(pictures: readonly Uint8Array[], options: SheetOptions): Promise<Uint8Array> {
  const columns = Math.min(options.columns, pictures.length);
  const rows = Math.ceil(pictures.length / columns);
  const cellHeightPx = await cellHeight(pictures, options.cellWidthPx);
  const stepX = options.cellWidthPx + options.gapPx;
  const stepY = cellHeightPx + stripPx + options.gapPx;
  const cells = await Promise.all(
    pictures.map(async (bytes, index) => {
      const left = options.gapPx + (index % columns) * stepX;
      const top = options.gapPx + Math.floor(index / columns) * stepY;
      const input = await decode(bytes)
        .rotate()
        .resize({ width: options.cellWidthPx, height: cellHeightPx, fit: 'contain', background: '#ffffff' })
        .flatten({ background: '#ffffff' })
        .png()
        .toBuffer();
      return [
        { input, left, top },
        { input: numberStrip(index + 1, options.cellWidthPx), left, top: top + cellHeightPx },
      ];
    }),
  );
  const width = options.gapPx + columns * stepX;
  const height = options.gapPx + rows * stepY;
  return await sharp({ create: { width, height, channels: 3, background: '#ffffff' } })
    .composite(cells.flat())
    .png()
    .toBuffer();
}

/** All cells are as high as the first picture's shape asks for. */
async function cellHeight(pictures: readonly Uint8Array[], cellWidthPx: number): Promise<number> {
  const first = pictures[0];
  if (first === undefined) throw new Error('a contact sheet needs at least one picture');
  const { autoOrient } = await decode(first).metadata();
  return Math.max(1, Math.round((cellWidthPx * autoOrient.height) / autoOrient.width));
}

function numberStrip(number: number, widthPx: number): Buffer {
  const dots = Array.from(
    { length: number },
    (_, index) => `<circle cx="${10 + index * 14}" cy="12" r="4.5" fill="#333333"/>`,
  );
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${widthPx}" height="${stripPx}">${dots.join('')}</svg>`,
  );
}
