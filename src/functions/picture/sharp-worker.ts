import sharp from 'sharp';
import { cutOutPicture } from './cut-out.ts';
import { labelPicture } from './label.ts';
import { measurePicture } from './measure.ts';
import type { PictureWorker } from './port.ts';
import { drawContactSheet } from './sheet.ts';

/** The picture worker on sharp, which does its work in threads of its own. */
export function createSharpPictureWorker(): PictureWorker {
  return {
    measure: measurePicture,
    contactSheet: drawContactSheet,
    cutOut: cutOutPicture,
    printSize: async (bytes, longSidePx, dpi) =>
      await sharp(bytes)
        .resize({ width: longSidePx, height: longSidePx, fit: 'inside', kernel: 'lanczos3' })
        .withMetadata({ density: dpi })
        .png()
        .toBuffer(),
    label: labelPicture,
  };
}
