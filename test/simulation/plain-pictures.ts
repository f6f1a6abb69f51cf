import type { PictureWorker } from '../../src/functions/index.ts';
import { createPlainPainter } from '../../src/sandbox/index.ts';

/** Picture work without pictures: real file signatures, plausible measures, no thread, the same bytes for the same input. */
export function createPlainPictures(): PictureWorker {
  const painter = createPlainPainter();
  const drawn = async (what: string, parts: readonly Uint8Array[]): Promise<Uint8Array> =>
    await painter.draw(`${what} ${parts.map((part) => `${part.length}:${part.slice(-24).join()}`).join(' ')}`, 16);
  return {
    measure: async () =>
      await Promise.resolve({
        widthPx: 2_048,
        heightPx: 2_048,
        format: 'png',
        sharpness: 20,
        groundRatio: 0.99,
        ground: 'plain' as const,
        groundColor: '#ffffff',
      }),
    contactSheet: async (pictures) => await drawn('sheet', pictures),
    cutOut: async (bytes) => ({ bytes: await drawn('cut', [bytes]), keptRatio: 0.5 }),
    printSize: async (bytes) => await drawn('print', [bytes]),
    label: async (bytes) => await Promise.resolve(bytes),
  };
}
