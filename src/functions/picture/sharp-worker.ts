import type { PictureWorker } from './port.ts';

/**
 * The picture worker on sharp, which does its work in threads of its own. Each kind of work is loaded at its first use:
 * most installations' workers, and every command, never need it.
 */
export function createSharpPictureWorker(): PictureWorker {
  return {
    measure: async (bytes) => await (await import('./measure.ts')).measurePicture(bytes),
    contactSheet: async (pictures, options) => await (await import('./sheet.ts')).drawContactSheet(pictures, options),
    cutOut: async (bytes, tolerance) => await (await import('./cut-out.ts')).cutOutPicture(bytes, tolerance),
    printSize: async (bytes, longSidePx, dpi) => {
      const { decode } = await import('./decode.ts');
      return await decode(bytes)
        .resize({ width: longSidePx, height: longSidePx, fit: 'inside', kernel: 'lanczos3' })
        .withMetadata({ density: dpi })
        .png()
        .toBuffer();
    },
    label: async (bytes, mode, producer) => await (await import('./label.ts')).labelPicture(bytes, mode, producer),
  };
}
