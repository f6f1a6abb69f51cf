import sharp, { type OverlayOptions, type Sharp } from 'sharp';
import { film } from './film.ts';
import { fit } from './fit.ts';
import { looksLikePicture, type Painter, type PictureOrder } from './painter.ts';
import { type Canvas, figure, garmentMask, landscape, simulatedMark, studio, svg, torso } from './shapes.ts';

/**
 * The painter that people see: pictures composed from the inputs with sharp, marked as simulated. A pure function of its
 * order; no font, no file, no network.
 */
export function createSharpPainter(): Painter {
  return {
    paint: async (order) => {
      const picture = sharp(await compose(order));
      return bytesOf(order.format === 'jpeg' ? picture.jpeg({ quality: 86 }) : picture.png({ compressionLevel: 6 }));
    },
    film: (order) => film(order),
    draw: (drawing, widthPx) => bytesOf(sharp(Buffer.from(drawing)).resize({ width: widthPx }).png()),
    isPicture: looksLikePicture,
  };
}

async function bytesOf(picture: Sharp): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await picture.toBuffer());
}

async function compose(order: PictureOrder): Promise<Buffer> {
  const layers = await layersOf(order);
  const mark = { input: Buffer.from(svg(order, simulatedMark(order))), left: 0, top: 0 };
  const ground = order.scene === 'scene' ? landscape(order, order.seed) : studio(order, order.seed);
  return sharp(Buffer.from(svg(order, ground)))
    .composite([...layers, mark])
    .flatten({ background: '#ffffff' })
    .png({ compressionLevel: 1 })
    .toBuffer();
}

async function layersOf(order: PictureOrder): Promise<OverlayOptions[]> {
  switch (order.scene) {
    case 'wear':
      return wearLayers(order);
    case 'shot':
      return shotLayers(order);
    case 'grid':
      return gridLayers(order);
    case 'element':
      return elementLayers(order);
    case 'retouch':
      return retouchLayers(order);
    case 'scene':
      return [];
  }
}

/** The person, and the product picture cut to a garment's outline over the body. */
async function wearLayers(order: PictureOrder): Promise<OverlayOptions[]> {
  const { widthPx: w, heightPx: h } = order;
  const place = { widthPx: Math.round(w * torso.width), heightPx: Math.round(h * torso.height) };
  const body = { input: Buffer.from(svg(order, figure(order, order.seed))), left: 0, top: 0 };
  const product = await fit(
    order.inputs[0],
    { widthPx: place.widthPx * 1.16, heightPx: place.heightPx * 1.16 },
    'inside',
  );
  if (product === undefined) return [body];
  const cut = (await cutOut(product)) ?? (await cutToGarment(product, place));
  const trimmed = sharp(cut).resize(place.widthPx, place.heightPx, {
    fit: 'contain',
    position: 'top',
    background: '#0000',
  });
  const input = await trimmed.png().toBuffer();
  return [body, { input, left: Math.round(w * torso.left), top: Math.round(h * torso.top) }];
}

const nearEnough = 30;

/** The product without its plain background, trimmed; undefined when the background is not plain. */
async function cutOut(picture: Buffer): Promise<Buffer | undefined> {
  const { data, info } = await sharp(picture).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  const corner = [data[0] ?? 0, data[1] ?? 0, data[2] ?? 0] as const;
  let gone = 0;
  for (let at = 0; at < data.length; at += 4) {
    const far =
      Math.abs((data[at] ?? 0) - corner[0]) +
      Math.abs((data[at + 1] ?? 0) - corner[1]) +
      Math.abs((data[at + 2] ?? 0) - corner[2]);
    if (far >= nearEnough) continue;
    data[at + 3] = 0;
    gone += 1;
  }
  const goneRatio = gone / (data.length / 4);
  if (goneRatio < 0.1 || goneRatio > 0.95) return undefined;
  const raw = { width: info.width, height: info.height, channels: 4 } as const;
  return sharp(data, { raw }).trim({ threshold: 1 }).png().toBuffer();
}

function cutToGarment(picture: Buffer, place: Canvas): Promise<Buffer> {
  return sharp(picture)
    .resize(place.widthPx, place.heightPx, { fit: 'cover' })
    .ensureAlpha()
    .composite([{ input: Buffer.from(garmentMask(place)), blend: 'dest-in' }])
    .png()
    .toBuffer();
}

/** Nine panels: the first input seen nearer and nearer, from different sides. */
async function gridLayers(order: PictureOrder): Promise<OverlayOptions[]> {
  const gap = Math.max(4, Math.round(order.widthPx / 90));
  const cell = {
    widthPx: Math.floor((order.widthPx - gap * 4) / 3),
    heightPx: Math.floor((order.heightPx - gap * 4) / 3),
  };
  const source = await fit(order.inputs[0], { widthPx: cell.widthPx * 2, heightPx: cell.heightPx * 2 }, 'cover');
  const white = {
    input: Buffer.from(svg(order, `<rect width="100%" height="100%" fill="#fdfdfd"/>`)),
    left: 0,
    top: 0,
  };
  const panels = await Promise.all(
    Array.from({ length: 9 }, async (_unused, index) => ({
      input: await panel(source, cell, { index, seed: order.seed }),
      left: gap + (index % 3) * (cell.widthPx + gap),
      top: gap + Math.floor(index / 3) * (cell.heightPx + gap),
    })),
  );
  return [white, ...panels];
}

/** One frame of a film: the first input from nearer or from another side. */
async function shotLayers(order: PictureOrder): Promise<OverlayOptions[]> {
  const { widthPx, heightPx, seed } = order;
  const source = await fit(order.inputs[0], { widthPx: widthPx * 2, heightPx: heightPx * 2 }, 'cover');
  return [{ input: await panel(source, { widthPx, heightPx }, { index: seed % 9, seed }), left: 0, top: 0 }];
}

async function panel(source: Buffer | undefined, cell: Canvas, view: { index: number; seed: number }): Promise<Buffer> {
  if (source === undefined) return Buffer.from(svg(cell, landscape(cell, view.seed + view.index * 37)));
  const zoom = [1, 0.8, 0.6, 0.9, 0.5, 0.7, 1, 0.55, 0.85][view.index] ?? 1;
  const width = Math.round(cell.widthPx * 2 * zoom);
  const height = Math.round(cell.heightPx * 2 * zoom);
  const left = Math.round((cell.widthPx * 2 - width) * (((view.index * 3) % 5) / 4));
  const top = Math.round((cell.heightPx * 2 - height) * (((view.index * 2) % 3) / 4));
  return sharp(source)
    .extract({ left, top, width, height })
    .resize(cell.widthPx, cell.heightPx, { fit: 'cover' })
    .flop(view.index % 4 === 2)
    .modulate({ brightness: 0.94 + (view.index % 3) * 0.05 })
    .png()
    .toBuffer();
}

/** The middle of the input alone on white, with its colours as swatches. */
async function elementLayers(order: PictureOrder): Promise<OverlayOptions[]> {
  const side = Math.round(Math.min(order.widthPx, order.heightPx) * 0.7);
  const white = {
    input: Buffer.from(svg(order, `<rect width="100%" height="100%" fill="#ffffff"/>`)),
    left: 0,
    top: 0,
  };
  const whole = await fit(order.inputs[0], { widthPx: side * 2, heightPx: side * 2 }, 'cover');
  if (whole === undefined) return [white];
  const cut = await sharp(whole)
    .extract({ left: Math.round(side * 0.5), top: Math.round(side * 0.5), width: side, height: side })
    .png()
    .toBuffer();
  const left = Math.round((order.widthPx - side) / 2);
  const top = Math.round((order.heightPx - side) * 0.4);
  const { dominant } = await sharp(cut).stats();
  const swatches = [1, 0.8, 0.6, 1.25]
    .map((factor, index) => {
      const part = (value: number): number => Math.min(255, Math.round(value * factor));
      const size = Math.round(side * 0.11);
      return `<rect x="${left + index * size * 1.3}" y="${top + side + size * 0.6}" width="${size}" height="${size}" rx="${size / 5}" fill="rgb(${part(dominant.r)} ${part(dominant.g)} ${part(dominant.b)})"/>`;
    })
    .join('');
  return [white, { input: cut, left, top }, { input: Buffer.from(svg(order, swatches)), left: 0, top: 0 }];
}

/** The inputs side by side (or one, whole), brighter and in a soft frame. */
async function retouchLayers(order: PictureOrder): Promise<OverlayOptions[]> {
  const shown = order.inputs.slice(0, 4);
  const columns = shown.length > 1 ? 2 : 1;
  const rows = Math.ceil(Math.max(1, shown.length) / columns);
  const cell = { widthPx: Math.floor(order.widthPx / columns), heightPx: Math.floor(order.heightPx / rows) };
  const layers = await Promise.all(
    shown.map(async (input, index): Promise<OverlayOptions[]> => {
      const fitted = await fit(input, cell, 'cover');
      if (fitted === undefined) return [];
      const better = await sharp(fitted).modulate({ brightness: 1.06, saturation: 1.15 }).sharpen().png().toBuffer();
      return [
        { input: better, left: (index % columns) * cell.widthPx, top: Math.floor(index / columns) * cell.heightPx },
      ];
    }),
  );
  return layers.flat();
}
